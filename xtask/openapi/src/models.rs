//! The types of PAI's fields, as the SDKs' models have them (`pai/tests/fixtures/fields.txt`), and the components that
//! are made of them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::repository::root;
use crate::shape::reference;

const RECORD: &str = "pai/tests/fixtures/fields.txt";

type Types = Vec<(String, String)>;

/// The models of a product.
pub(crate) struct Models {
    /// By what stands before the colon of a line, without the version: an object, or an operation and a place.
    record: BTreeMap<String, Types>,
    components: Map<String, Value>,
}

impl Models {
    pub(crate) fn read(version: &str) -> Result<Self, String> {
        let text = fs::read_to_string(root().join(RECORD)).map_err(|error| format!("{RECORD}: {error}"))?;
        let of_version = text.lines().filter_map(|line| line.strip_prefix(version)?.trim_start().split_once(": "));
        let types = |fields: &str| fields.split(' ').filter_map(|field| field.split_once(':')).map(owned).collect();
        let record = of_version.map(|(head, fields)| (head.to_owned(), types(fields))).collect();
        Ok(Self { record, components: Map::new() })
    }

    /// The types of what is sent with an operation.
    pub(crate) fn sent(&self, action: &str, place: &str) -> Types {
        self.record.get(&format!("{action} {place}")).cloned().unwrap_or_default()
    }

    /// The type of a field.
    pub(crate) fn field(&self, of: &[&str; 2], name: &str) -> &str {
        let types = self.record.get(&of.join(" "));
        types.into_iter().flatten().find(|(field, _)| field == name).map_or("str", |(_, of)| of)
    }

    /// The types of an object, or of the objects of a list.
    pub(crate) fn object(&self, of: &str) -> Types {
        self.record.get(of.trim_end_matches("[]")).cloned().unwrap_or_default()
    }

    /// The schema of a type that is neither an object nor a list.
    pub(crate) fn plain(of: &str) -> Option<Value> {
        match of {
            "str" => Some(json!({ "type": "string" })),
            "int" => Some(json!({ "type": "integer" })),
            "float" => Some(json!({ "type": "number" })),
            "bool" => Some(json!({ "type": "boolean" })),
            _ => None,
        }
    }

    /// The schema of a type; what it names becomes a component.
    pub(crate) fn schema(&mut self, of: &str) -> Result<Value, String> {
        if let Some(one) = of.strip_suffix("[]") {
            return Ok(json!({ "type": "array", "items": self.schema(one)? }));
        }
        if let Some(plain) = Self::plain(of) {
            return Ok(plain);
        }
        match of {
            "map" => return Ok(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            "any" => return Ok(json!({})),
            _ => {}
        }
        if !self.components.contains_key(of) {
            let types = self.record.get(of).cloned().ok_or_else(|| format!("{RECORD} has no {of}"))?;
            // First its name: an object may hold others of its kind.
            self.components.insert(of.to_owned(), Value::Null);
            let one = |(name, of): (String, String)| Ok((name, self.schema(&of)?));
            let properties = types.into_iter().map(one).collect::<Result<Map<_, _>, String>>()?;
            let component = json!({ "title": of, "type": "object", "properties": properties });
            self.components.insert(of.to_owned(), component);
        }
        Ok(reference(of))
    }

    pub(crate) fn add(&mut self, name: &str, component: Value) -> Result<(), String> {
        if self.components.insert(name.to_owned(), component).is_some() {
            return Err(format!("there are two components {name}"));
        }
        Ok(())
    }

    pub(crate) fn into_components(self) -> Map<String, Value> {
        self.components
    }
}

fn owned((name, of): (&str, &str)) -> (String, String) {
    (name.to_owned(), of.to_owned())
}
