//! Reading fields out of an object: what is missing or wrong is named by its path.
//!
//! In a query everything is text, so a text that says a number or `True` is one. A null and an empty list are as good
//! as nothing: the SDKs send lists that nobody has set.

use engine::unit::priority::Priority;
use engine::unit::time::Timestamp;
use serde_json::Map;
use serde_json::Value;

use crate::calendar;
use crate::operation::misfit::Misfit;

/// How much of a wrong value is repeated in a refusal.
const SHOWN_CHARS: usize = 60;

/// The fields of an object, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    place: String,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(place: &str, object: &'a Map<String, Value>) -> Self {
        Self { place: place.to_owned(), object }
    }

    /// The object itself.
    pub(crate) fn object(&self) -> &'a Map<String, Value> {
        self.object
    }

    /// A text; an empty one counts.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, Misfit> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.invalid(name, other, "a text")),
        }
    }

    /// A text that says something; an empty one is as good as none.
    pub(crate) fn name(&self, name: &str) -> Result<Option<String>, Misfit> {
        Ok(self.text(name)?.filter(|text| !text.is_empty()).map(str::to_owned))
    }

    /// A text that must say something.
    pub(crate) fn need(&self, name: &str) -> Result<String, Misfit> {
        self.name(name)?.ok_or_else(|| self.missing(name))
    }

    /// A priority.
    pub(crate) fn priority(&self, name: &str) -> Result<Option<Priority>, Misfit> {
        let number = self.number(name, Priority::LOWEST.into(), Priority::HIGHEST.into())?;
        Ok(number.and_then(|number| Priority::new(number).ok()))
    }

    /// A switch.
    pub(crate) fn switch(&self, name: &str) -> Result<Option<bool>, Misfit> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(is_on)) => Ok(Some(*is_on)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(other) => Err(self.invalid(name, other, "true or false")),
        }
    }

    /// A whole number in a range.
    pub(crate) fn number(&self, name: &str, min: i64, max: i64) -> Result<Option<i64>, Misfit> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = value.as_str().map_or_else(|| value.as_i64(), |text| text.parse().ok());
        match number.filter(|number| (min..=max).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.invalid(name, value, &format!("a whole number from {min} to {max}"))),
        }
    }

    /// A time.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, Misfit> {
        let Some(text) = self.name(name)? else { return Ok(None) };
        let wrong = || self.invalid_text(name, &text, "UTC like 2026-01-02T03:04:05Z");
        calendar::read(&text).ok_or_else(wrong).map(Some)
    }

    /// One of several words, whatever their case.
    pub(crate) fn one_of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Misfit> {
        let Some(text) = self.name(name)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&text));
        let all = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found
            .map(|(_, meaning)| Some(*meaning))
            .ok_or_else(|| self.invalid_text(name, &text, &format!("one of {}", all())))
    }

    /// Any number of several words, whatever their case.
    pub(crate) fn several_of<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Vec<T>, Misfit> {
        let meaning = |text: &String| {
            let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
            let all = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
            let wrong = || self.invalid_text(name, text, &format!("one or several of {}", all()));
            found.map(|(_, meaning)| *meaning).ok_or_else(wrong)
        };
        self.names(name)?.iter().map(meaning).collect()
    }

    /// Names with values: an object, as JSON where everything is text, or `name=value` with commas between them.
    pub(crate) fn labels(&self, name: &str) -> Result<Vec<(String, String)>, Misfit> {
        const EXPECTED: &str = "names with their values, as {\"name\":\"value\"} or name=value,name=value";
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        let wrong = || self.invalid(name, value, EXPECTED);
        match value {
            Value::Object(object) => pairs(object).ok_or_else(wrong),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Object(object)) => pairs(&object).ok_or_else(wrong),
                Ok(Value::Array(list)) => labelled(&list).ok_or_else(wrong),
                Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => {
                    let pair = |part: &str| part.split_once('=').map(|(of, is)| (of.to_owned(), is.to_owned()));
                    text.split(',').filter(|part| !part.is_empty()).map(pair).collect::<Option<_>>().ok_or_else(wrong)
                }
            },
            Value::Array(list) => labelled(list).ok_or_else(wrong),
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(wrong()),
        }
    }

    /// Texts: a list, or one text with commas between them.
    pub(crate) fn names(&self, name: &str) -> Result<Vec<String>, Misfit> {
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => {
                Ok(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect())
            }
            Some(value @ Value::Array(list)) => {
                let texts: Option<Vec<String>> = list.iter().map(|one| one.as_str().map(str::to_owned)).collect();
                texts.ok_or_else(|| self.invalid(name, value, "a list of texts"))
            }
            Some(other) => Err(self.invalid(name, other, "a list of texts")),
        }
    }

    /// Whole numbers in a range.
    pub(crate) fn numbers(&self, name: &str, min: i64, max: i64) -> Result<Vec<i64>, Misfit> {
        let expected = format!("a list of whole numbers from {min} to {max}");
        match self.value(name) {
            None => Ok(Vec::new()),
            Some(value @ Value::Array(list)) => {
                let read = |one: &Value| one.as_i64().filter(|number| (min..=max).contains(number));
                let numbers: Option<Vec<i64>> = list.iter().map(read).collect();
                numbers.ok_or_else(|| self.invalid(name, value, &expected))
            }
            Some(other) => Err(self.invalid(name, other, &expected)),
        }
    }

    /// The fields of an object.
    pub(crate) fn inside(&self, name: &str) -> Result<Option<Fields<'a>>, Misfit> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(Fields { place: self.place(name), object })),
            Some(other) => Err(self.invalid(name, other, "an object")),
        }
    }

    /// The fields of each object of a list.
    pub(crate) fn each(&self, name: &str) -> Result<Vec<Fields<'a>>, Misfit> {
        let list = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(self.invalid(name, other, "a list of objects")),
        };
        let one = |(at, value): (usize, &'a Value)| {
            let object = value.as_object().ok_or_else(|| self.invalid(name, value, "a list of objects"))?;
            Ok(Fields { place: format!("{}[{at}]", self.place(name)), object })
        };
        list.iter().enumerate().map(one).collect()
    }

    /// A value of any kind.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
    }

    pub(crate) fn missing(&self, name: &str) -> Misfit {
        Misfit::Missing { field: self.place(name) }
    }

    pub(crate) fn invalid(&self, name: &str, value: &Value, expected: &str) -> Misfit {
        let value = value.to_string().chars().take(SHOWN_CHARS).collect();
        Misfit::Invalid { field: self.place(name), value, expected: expected.to_owned() }
    }

    pub(crate) fn invalid_text(&self, name: &str, value: &str, expected: &str) -> Misfit {
        self.invalid(name, &Value::from(value), expected)
    }

    fn place(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) }
    }
}

fn pairs(object: &Map<String, Value>) -> Option<Vec<(String, String)>> {
    object.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}

/// The same as a list of objects with `Key` and `Value`.
pub(crate) fn labelled(list: &[Value]) -> Option<Vec<(String, String)>> {
    let text = |one: &Value, field: &str| Some(one.get(field)?.as_str()?.to_owned());
    list.iter().map(|one| text(one, "Key").zip(text(one, "Value"))).collect()
}
