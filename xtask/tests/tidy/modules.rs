//! Which file uses which: the paths that a file names, followed to where their items are made.
//!
//! What a module gives on from another one is looked up there, so a parent that only declares its children and gives
//! their items on uses none of them, and who takes an item from the parent uses the child.
use std::collections::BTreeMap;

use crate::source::Source;
use crate::uses::{Path, Uses, uses};

/// For each file the files that it uses, with the first line that does.
pub(crate) type Graph = BTreeMap<String, BTreeMap<String, usize>>;

/// How often an import may lead to another one: `use a::a` leads to itself.
const IMPORTS_MAX: usize = 16;

/// A module's crate, and the steps from there: `engine/src`, `quota`, `tree`.
type Module = Vec<String>;

struct File {
    path: String,
    uses: Uses,
}

/// What a path leads to.
enum Target {
    Module,
    ItemOf(Module),
    OtherCrate,
}

pub(crate) fn graph(sources: &[Source]) -> Graph {
    let is_there = |path: &str| sources.iter().any(|source| source.path == path);
    let file = |source: &Source| {
        let file = File { path: source.path.clone(), uses: uses(source) };
        (module_of(&source.path, is_there), file)
    };
    let files: BTreeMap<Module, File> = sources.iter().map(file).collect();
    assert_eq!(files.len(), sources.len(), "each file is a module of its own");
    files.iter().map(|(module, file)| (file.path.clone(), used(&files, module, file))).collect()
}

/// A main file beside a library is a crate of its own.
fn module_of(path: &str, is_there: impl Fn(&str) -> bool) -> Module {
    let (folder, inside) = path.split_once("/src/").expect("the file lies in src/");
    let inside = inside.strip_suffix(".rs").expect("it is a Rust file");
    if inside == "main" && is_there(&format!("{folder}/src/lib.rs")) {
        return vec![path.to_owned()];
    }
    let steps = inside.split('/').filter(|step| !matches!(*step, "lib" | "main" | "mod"));
    [format!("{folder}/src")].into_iter().chain(steps.map(str::to_owned)).collect()
}

fn used(files: &BTreeMap<Module, File>, module: &Module, file: &File) -> BTreeMap<String, usize> {
    let imports =
        file.uses.imports.iter().filter(|import| !import.is_exported).map(|import| (import.line, &import.path));
    // A single name says something new only if it was to be given on.
    let is_exported = |path: &Path| file.uses.imports.iter().any(|import| import.is_exported && import.name == path[0]);
    let named = file.uses.named.iter().map(|(line, path)| (*line, path));
    let named = named.filter(|(_, path)| path.len() > 1 || is_exported(path));
    let mut used = BTreeMap::new();
    for (line, path) in imports.chain(named) {
        match resolve(files, module, path, IMPORTS_MAX) {
            Target::ItemOf(other) if other != *module => {
                let first = used.entry(files[&other].path.clone()).or_insert(line);
                *first = line.min(*first);
            }
            Target::ItemOf(_) | Target::Module | Target::OtherCrate => {}
        }
    }
    used
}

/// A path as it is written in a module.
fn resolve(files: &BTreeMap<Module, File>, module: &Module, path: &[String], imports_max: usize) -> Target {
    let is_known = |name: &String| {
        child(files, module, name).is_some() || files[module].uses.imports.iter().any(|import| import.name == *name)
    };
    match path.split_first() {
        Some((first, rest)) if first == "crate" => follow(files, &module[..1].to_vec(), rest, imports_max),
        Some((first, _)) if matches!(first.as_str(), "self" | "super") || is_known(first) => {
            follow(files, module, path, imports_max)
        }
        Some(_) | None => Target::OtherCrate,
    }
}

/// A path that begins in a module.
fn follow(files: &BTreeMap<Module, File>, module: &Module, path: &[String], imports_max: usize) -> Target {
    let Some((first, rest)) = path.split_first() else {
        return Target::Module;
    };
    if first == "self" {
        return follow(files, module, rest, imports_max);
    }
    if first == "super" {
        return follow(files, &module[..module.len().max(2) - 1].to_vec(), rest, imports_max);
    }
    let import = files[module].uses.imports.iter().find(|import| import.name == *first);
    match (child(files, module, first), import) {
        // A module and an item may have the same name; only a module has something inside.
        (Some(child), _) if !rest.is_empty() => follow(files, &child, rest, imports_max),
        (_, Some(import)) if imports_max > 0 => {
            let path: Path = import.path.iter().chain(rest).cloned().collect();
            resolve(files, module, &path, imports_max - 1)
        }
        (Some(_), _) => Target::Module,
        (None, Some(_)) => Target::OtherCrate,
        (None, None) => Target::ItemOf(module.clone()),
    }
}

fn child(files: &BTreeMap<Module, File>, module: &Module, name: &str) -> Option<Module> {
    let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
    files.contains_key(&child).then_some(child)
}

#[cfg(test)]
mod tests {
    use super::graph;
    use crate::source::Source;

    /// The arrows between files of one crate, each as `from:line to`.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source { path: format!("x/src/{path}"), text: (*text).to_owned() };
        let sources: Vec<Source> = files.iter().map(source).collect();
        let short = |path: &str| path.trim_start_matches("x/src/").to_owned();
        let arrows_of = |(from, used): (&String, &std::collections::BTreeMap<String, usize>)| -> Vec<String> {
            used.iter().map(|(to, line)| format!("{}:{line} {}", short(from), short(to))).collect()
        };
        graph(&sources).iter().flat_map(arrows_of).collect()
    }

    #[test]
    fn paths_from_the_root_the_module_and_its_parent_are_followed() {
        let files = [
            ("lib.rs", ""),
            ("a/mod.rs", "self::b::x();"),
            ("a/b.rs", "use super::A;\nuse crate::c::C;"),
            ("c.rs", ""),
        ];
        assert_eq!(arrows(&files), ["a/b.rs:1 a/mod.rs", "a/b.rs:2 c.rs", "a/mod.rs:1 a/b.rs"]);
    }

    #[test]
    fn a_parent_that_declares_its_children_and_gives_their_items_on_uses_none() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub(crate) use b::B;"),
            ("a.rs", ""),
            ("b.rs", "use crate::A;"),
        ];
        assert_eq!(arrows(&files), ["b.rs:1 a.rs"]);
    }

    #[test]
    fn a_parent_that_names_what_it_gives_on_uses_it() {
        assert_eq!(arrows(&[("lib.rs", "pub use a::A;\nfn f(a: A) {}"), ("a.rs", "")]), ["lib.rs:2 a.rs"]);
        assert_eq!(arrows(&[("lib.rs", "pub use a::A;\nlet f = A::new;"), ("a.rs", "")]), ["lib.rs:2 a.rs"]);
    }

    #[test]
    fn an_imported_module_is_used_where_its_items_are_named() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b;\nb::C::f();\nb::d::e();"),
            ("b/mod.rs", "pub use c::C;"),
            ("b/c.rs", ""),
            ("b/d.rs", ""),
        ];
        assert_eq!(arrows(&files), ["a.rs:2 b/c.rs", "a.rs:3 b/d.rs"]);
    }

    #[test]
    fn other_crates_are_not_mistaken_for_modules() {
        let files = [
            ("lib.rs", "use serde::A;"),
            ("a.rs", "use serde::B;\nuse leptos::leptos;\nleptos::view();"),
            ("serde.rs", ""),
        ];
        assert_eq!(arrows(&files), ["lib.rs:1 serde.rs"]);
    }

    #[test]
    fn an_item_with_the_name_of_its_module_is_its_item() {
        let files = [("lib.rs", "pub use a::a;\npub use b::B;"), ("a.rs", ""), ("b.rs", "use crate::a;\na();")];
        assert_eq!(arrows(&files), ["b.rs:1 a.rs"]);
    }

    #[test]
    fn a_main_file_beside_a_library_is_another_crate() {
        assert_eq!(arrows(&[("lib.rs", ""), ("main.rs", "use x::A;"), ("a.rs", "use crate::A;")]), ["a.rs:1 lib.rs"]);
    }
}
