//! The documents of both surfaces: `cargo xtask openapi` writes them into `public/`.
//!
//! Routes are rows of the tables by which the Worker answers, and schemas follow from the types that it reads and
//! writes. What stands here is words for readers, an arm for each [`protocol::route::Call`].

mod example;
mod golden;
mod models;
mod native;
mod page;
mod pai;
mod parameter;
mod repository;
mod shape;

use std::fs;
use std::process::ExitCode;

use serde_json::Value;

use crate::repository::root;

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("openapi: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<(), String> {
    for (path, text) in documents()? {
        fs::write(root().join(&path), text).map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Every document with its path.
fn documents() -> Result<Vec<(String, String)>, String> {
    let mut documents = vec![("public/openapi.json".to_owned(), text(&native::document()?))];
    documents.extend(pai::documents()?.into_iter().map(|(path, document)| (path, text(&document))));
    Ok(documents)
}

/// As it is kept: people read what has changed in it.
fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::documents;
    use crate::repository::root;

    #[test]
    fn what_is_kept_is_what_is_made() {
        for (path, text) in documents().expect("they are made") {
            let kept = fs::read_to_string(root().join(&path)).unwrap_or_default();
            assert!(kept == text, "{path} is not what the tables and the types say: run `cargo xtask openapi`");
        }
    }
}
