//! The record beside the tests against the SDKs' own models, where the companion folder has them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use pai::operation::sent::Sent;
use pai::operation::table::ROWS;
use serde_json::Value;

use crate::fields;
use crate::fields::Field;
use crate::fields::Record;
use crate::recorded::version;

/// The SDKs' word for a type, without what may be left out.
fn type_of(text: &str) -> String {
    let text = text.trim_end_matches(" (required)");
    if let Some(one) = text.strip_prefix("List[").and_then(|rest| rest.strip_suffix(']')) {
        return format!("{}[]", type_of(one));
    }
    match text {
        _ if text.starts_with("Dict[") => "map".to_owned(),
        "Any" => "any".to_owned(),
        _ => text.to_owned(),
    }
}

/// The SDKs' fields of what is served, of all versions together.
fn of_sdks(products: &[Value]) -> Record {
    let mut sent: BTreeMap<[String; 3], BTreeMap<String, String>> = BTreeMap::new();
    let mut models: BTreeMap<[String; 2], BTreeMap<String, String>> = BTreeMap::new();
    for product in products {
        let operations = product["operations"].as_array().unwrap();
        let version = operations[0]["version"].as_str().unwrap();
        for (name, fields) in product["models"].as_object().unwrap() {
            let model = models.entry([version.to_owned(), name.clone()]).or_default();
            model.extend(
                fields.as_object().unwrap().iter().map(|(name, of)| (name.clone(), type_of(of.as_str().unwrap()))),
            );
        }
        for operation in operations {
            let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
            let model = models.get(&[version.to_owned(), text("request_model")]).cloned().unwrap_or_default();
            for place in ["query", "body"] {
                let names =
                    operation[place].as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned());
                let of = |name: String| (name.clone(), model.get(&name).cloned().unwrap_or_else(|| "str".to_owned()));
                let key = [version.to_owned(), text("action"), place.to_owned()];
                sent.entry(key).or_default().extend(names.map(of));
            }
        }
    }
    let sorted = |fields: BTreeMap<String, String>| fields.into_iter().collect::<Vec<Field>>();
    let mut record = Record::default();
    for row in ROWS {
        for (place, has) in [("query", row.query), ("body", row.body)] {
            let key = [version(row.product), row.action, place].map(str::to_owned);
            if let (Sent::Fields(_), Some(fields)) = (has, sent.remove(&key).filter(|fields| !fields.is_empty())) {
                record.sent.insert(key, sorted(fields));
            }
        }
    }
    // The objects in these, and those in them.
    let mut wanted: BTreeSet<[String; 2]> = BTreeSet::new();
    let of = |version: &String, fields: &[Field]| {
        let names = fields.iter().map(|(_, of)| of.trim_end_matches("[]").to_owned());
        names.map(|name| [version.clone(), name]).collect::<Vec<_>>()
    };
    for (head, fields) in &record.sent {
        wanted.extend(of(&head[0], fields));
    }
    while let Some(key) = wanted.pop_first() {
        if let Some(fields) = models.remove(&key).map(sorted) {
            wanted.extend(of(&key[0], &fields));
            record.objects.insert(key, fields);
        }
    }
    record
}

/// As it stands beside the tests.
fn written(record: &Record) -> String {
    let line = |head: String, fields: &[Field]| {
        let fields: Vec<String> = fields.iter().map(|(name, of)| format!("{name}:{of}")).collect();
        format!("{head}: {}\n", fields.join(" "))
    };
    let sent = record.sent.iter().map(|(head, fields)| line(head.join(" "), fields));
    sent.chain(record.objects.iter().map(|(head, fields)| line(head.join(" "), fields))).collect()
}

#[test]
fn the_record_is_that_of_the_sdks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/pai/operations.json");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("{} is not there: the record of fields is not checked against it", path.display());
        return;
    };
    let products: Value = serde_json::from_str(&text).unwrap();
    let found = of_sdks(products.as_array().unwrap());
    // Other tests read the same file at the same time.
    if env::var_os("UPDATE_EXPECT").is_some() && Record::of(&fields::file()) != found {
        fs::write(fields::file(), written(&found)).unwrap();
    }
    assert_eq!(written(&Record::of(&fields::file())), written(&found), "run once with UPDATE_EXPECT=1");
}
