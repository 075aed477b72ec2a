//! From the schemas of Rust types to components that generators of clients keep: everything that is an object has a name
//! and a title, and every choice is one between names.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// Where components are.
pub(crate) const PLACE: &str = "/components/schemas";

/// What the maps of the wire are called, which are no types of their own in Rust, and what is said of them.
const NAMES: [(&str, &str, &str); 5] = [
    ("int64Bystring", "AmountByName", "By dimension; GPUs and CPUs in thousandths, memory in MiB."),
    ("stringBystring", "TextByName", "Texts by their names."),
    ("AccessKeyByKeyId", "AccessKeyByKeyId", "Access keys by their names."),
    ("MemberByUserId", "MemberByUserId", "Members by their names."),
    ("WorkspaceByWorkspaceId", "WorkspaceByWorkspaceId", "Workspaces by their names."),
];

/// The components of a document.
#[derive(Debug, Default)]
pub(crate) struct Components(Map<String, Value>);

impl Components {
    /// Those of types that have been looked at.
    pub(crate) fn of(definitions: Map<String, Value>) -> Result<Self, String> {
        let mut components = Self::default();
        for (name, mut schema) in definitions {
            if name.ends_with(|last: char| last.is_ascii_digit()) {
                return Err(format!(
                    "two types are called {}: rename one of them for its schema",
                    &name[..name.len() - 1]
                ));
            }
            if let Some((.., told)) = NAMES.iter().find(|(from, ..)| *from == name) {
                schema["description"] = (*told).into();
            }
            components.add(&renamed(&name), schema)?;
        }
        Ok(components)
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.get_mut(name)
    }

    /// Adds a component, and those that its schema has inside.
    fn add(&mut self, name: &str, mut schema: Value) -> Result<(), String> {
        collapse(&mut schema);
        self.shape(name, &mut schema)?;
        let object = schema.as_object_mut().ok_or_else(|| format!("{name} may be anything: give it a schema"))?;
        object.insert("title".to_owned(), name.into());
        if self.0.insert(name.to_owned(), schema).is_some() {
            return Err(format!("there are two components {name}: rename one of them"));
        }
        Ok(())
    }

    /// Makes what is inside of a schema refer to components.
    fn shape(&mut self, name: &str, schema: &mut Value) -> Result<(), String> {
        let Some(object) = schema.as_object_mut() else { return Ok(()) };
        tidy(object);
        for word in ["oneOf", "anyOf"] {
            for choice in object.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten() {
                let own = format!("{name}{}", suffix(choice));
                self.place(&own, choice)?;
                // What is said of it stands with its component.
                if let Some(choice) = choice.as_object_mut().filter(|choice| choice.contains_key("$ref")) {
                    choice.remove("description");
                }
            }
        }
        let told = object.get("description").cloned();
        for (field, inside) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
            let own = if pascal(field).is_empty() || name.ends_with(&pascal(field)) {
                // What happened and what is known of it are two objects; the inner one has no words of its own.
                if let (Some(told), Some(inside)) = (&told, inside.as_object_mut()) {
                    inside.entry("description").or_insert_with(|| told.clone());
                }
                format!("{name}Facts")
            } else {
                format!("{name}{}", pascal(field))
            };
            self.place(&own, inside)?;
        }
        for word in ["items", "additionalProperties"] {
            if let Some(inside) = object.get_mut(word) {
                self.place(&format!("{name}Item"), inside)?;
            }
        }
        for inside in object.get_mut("prefixItems").and_then(Value::as_array_mut).into_iter().flatten() {
            self.place(&format!("{name}Item"), inside)?;
        }
        Ok(())
    }

    /// Gives a schema that is written out where it is used a name of its own, if it is an object or a choice of words.
    fn place(&mut self, name: &str, schema: &mut Value) -> Result<(), String> {
        collapse(schema);
        let is_object = schema.get("properties").is_some();
        if is_object || schema.get("enum").is_some() {
            self.add(name, schema.take())?;
            *schema = reference(name);
            return Ok(());
        }
        self.shape(name, schema)
    }
}

/// A schema that is another one by its name.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#{PLACE}/{name}") })
}

fn renamed(name: &str) -> String {
    NAMES.iter().find(|(from, ..)| *from == name).map_or(name, |(_, to, _)| to).to_owned()
}

/// What a choice is told apart by: the only field of its object.
fn suffix(choice: &Value) -> String {
    let field = choice.get("properties").and_then(Value::as_object).and_then(|properties| properties.keys().next());
    field.map_or_else(|| "Word".to_owned(), |field| pascal(field))
}

/// `submit_job` as `SubmitJob`.
fn pascal(words: &str) -> String {
    let one = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    words.split(|letter: char| !letter.is_ascii_alphanumeric()).map(one).collect()
}

/// Makes one list of words of a choice between single words.
fn collapse(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let Some(choices) = object.get_mut("oneOf").and_then(Value::as_array_mut) else { return };
    let (words, others): (Vec<Value>, Vec<Value>) = choices.drain(..).partition(|one| one.get("const").is_some());
    let told: Vec<String> = words.iter().map(told).collect();
    let list: Vec<Value> = words.iter().filter_map(|one| one.get("const").cloned()).collect();
    let lines = told.join("\n");
    if list.is_empty() {
        *choices = others;
    } else if others.is_empty() {
        object.remove("oneOf");
        let whole =
            object.get("description").and_then(Value::as_str).map(|text| format!("{}\n\n{lines}", unwrapped(text)));
        object.insert("description".to_owned(), whole.unwrap_or(lines).into());
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), list.into());
    } else {
        *choices = others;
        choices.insert(0, json!({ "type": "string", "enum": list, "description": lines }));
    }
}

/// A word of a list with what it means.
fn told(word: &Value) -> String {
    let text = |key: &str| word.get(key).and_then(Value::as_str).unwrap_or_default();
    format!("- `{}`: {}", text("const"), unwrapped(text("description")))
}

/// What is written for generators of clients differs: with a default, some of them demand the field, and a number of the
/// machine's own width is no format that they know.
fn tidy(object: &mut Map<String, Value>) {
    if object.get("format").is_some_and(|format| format == "uint") {
        object.remove("format");
    }
    let default = object.remove("default").filter(|default| !default.is_null());
    if let Some(Value::String(name)) = object.get_mut("$ref") {
        let last = name.rsplit('/').next().unwrap_or_default();
        *name = format!("#{PLACE}/{}", renamed(last));
    }
    let Some(text) = object.get("description").and_then(Value::as_str) else { return };
    let mut text = if object.contains_key("enum") { text.to_owned() } else { unwrapped(text) };
    if let Some(default) = default.filter(|default| !default.is_object()) {
        text = format!("{text} If left out: `{default}`.");
    }
    object.insert("description".to_owned(), text.into());
}

/// A comment of the code as a text: lines that are not paragraphs are one, and nothing refers into the code.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let is_list = paragraph.lines().skip(1).any(|line| line.starts_with("- "));
        if is_list { paragraph.to_owned() } else { paragraph.replace('\n', " ") }
    });
    let text = paragraphs.collect::<Vec<_>>().join("\n\n");
    let Some((before, rest)) = text.split_once(" ([`") else { return text };
    rest.split_once("`])").map_or_else(|| text.clone(), |(_, after)| format!("{before}{after}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Components;
    use super::unwrapped;

    fn shaped(schema: serde_json::Value) -> serde_json::Value {
        let definitions = [("Choice".to_owned(), schema)].into_iter().collect();
        Components::of(definitions).expect("it is shaped").into_value()
    }

    #[test]
    fn a_choice_of_words_is_one_list() {
        let words = json!({ "description": "How.", "oneOf": [
            { "const": "drain", "type": "string", "description": "They\nstay." },
            { "const": "evict", "type": "string", "description": "They go." },
        ] });
        let expected = json!({ "Choice": { "title": "Choice", "type": "string", "enum": ["drain", "evict"],
            "description": "How.\n\n- `drain`: They stay.\n- `evict`: They go." } });
        assert_eq!(shaped(words), expected);
    }

    #[test]
    fn every_object_of_a_choice_has_a_name() {
        let failed = json!({ "type": "object", "required": ["failed"], "properties": {
            "failed": { "type": "object", "properties": { "reason": { "type": "string" } } },
        } });
        let choice =
            json!({ "oneOf": [{ "const": "stopped", "type": "string", "description": "It stopped." }, failed] });
        let shaped = shaped(choice);
        let named = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        assert_eq!(shaped["Choice"]["oneOf"], json!([named("ChoiceWord"), named("ChoiceFailed")]));
        assert_eq!(shaped["ChoiceFailed"]["properties"]["failed"], named("ChoiceFailedFacts"));
        assert_eq!(shaped["ChoiceFailedFacts"]["properties"]["reason"], json!({ "type": "string" }));
        assert_eq!(shaped["ChoiceWord"]["enum"], json!(["stopped"]));
    }

    #[test]
    fn two_types_of_one_name_are_refused() {
        let definitions = [("Role2".to_owned(), json!({ "type": "object" }))].into_iter().collect();
        assert!(Components::of(definitions).is_err());
    }

    #[test]
    fn a_default_is_told_and_not_demanded() {
        let schema = json!({ "type": "object", "properties": {
            "priority": { "type": "integer", "description": "1 to 9.", "default": 1 },
            "user": { "type": "string", "description": "Who.", "default": null },
        } });
        let properties = shaped(schema)["Choice"]["properties"].clone();
        assert_eq!(properties["priority"], json!({ "type": "integer", "description": "1 to 9. If left out: `1`." }));
        assert_eq!(properties["user"], json!({ "type": "string", "description": "Who." }));
    }

    #[test]
    fn comments_of_the_code_become_texts() {
        assert_eq!(unwrapped("Ways into\nthe history ([`crate::past`])."), "Ways into the history.");
    }
}
