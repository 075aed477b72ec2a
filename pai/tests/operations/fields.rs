//! The fields that the SDKs can send, from a text beside the tests: one line for the query or the body of an operation,
//! and one for each object in them, with the types of its fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

/// A field's name and type: `str`, `int`, `float`, `bool`, `map`, `any`, the name of an object, or a list of any of
/// these with `[]` after it.
pub(crate) type Field = (String, String);

/// What is on record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// By version, action and place, which is `query` or `body`.
    pub(crate) sent: BTreeMap<[String; 3], Vec<Field>>,
    /// By version and name.
    pub(crate) objects: BTreeMap<[String; 2], Vec<Field>>,
}

pub(crate) fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fields.txt")
}

/// The operations of training jobs, which the companion folder does not have.
fn training_file() -> PathBuf {
    file().with_file_name("training.txt")
}

impl Record {
    /// All of it.
    pub(crate) fn read() -> Self {
        let (mut record, more) = (Self::of(&file()), Self::of(&training_file()));
        record.sent.extend(more.sent);
        record.objects.extend(more.objects);
        record
    }

    /// What stands in one file.
    pub(crate) fn of(file: &Path) -> Self {
        let mut record = Self::default();
        for line in fs::read_to_string(file).unwrap().lines() {
            let (head, fields) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            let field = |text: &str| {
                let (name, of) = text.split_once(':').unwrap_or_else(|| panic!("{text} of {line}"));
                (name.to_owned(), of.to_owned())
            };
            let fields = fields.split(' ').map(field).collect();
            let head: Vec<String> = head.split(' ').map(str::to_owned).collect();
            match head.as_slice() {
                [version, object] => {
                    record.objects.insert([version.clone(), object.clone()], fields);
                }
                [version, action, place] => {
                    record.sent.insert([version.clone(), action.clone(), place.clone()], fields);
                }
                other => panic!("{other:?}"),
            }
        }
        record
    }

    /// The fields of an object, whose type this is.
    pub(crate) fn object(&self, version: &str, of: &str) -> Option<&[Field]> {
        let name = of.trim_end_matches("[]").to_owned();
        self.objects.get(&[version.to_owned(), name]).map(Vec::as_slice)
    }

    /// A value of a type.
    pub(crate) fn sample(&self, version: &str, of: &str) -> Value {
        if let Some(one) = of.strip_suffix("[]") {
            return json!([self.sample(version, one)]);
        }
        match of {
            "str" => json!("text"),
            "int" => json!(3),
            "float" => json!(0.5),
            "bool" => json!(true),
            "map" => json!({ "key": "value" }),
            "any" => json!("anything"),
            object => {
                let fields = self.object(version, object).unwrap_or_else(|| panic!("{object} is not on record"));
                fields.iter().map(|(name, of)| (name.clone(), self.sample(version, of))).collect()
            }
        }
    }
}
