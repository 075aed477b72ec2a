//! A module of the engine uses its own row and the rows above it, never a row below.
use crate::source::{Fault, Source};

/// The engine's modules, lowest layer first.
const LAYERS: [&[&str]; 9] = [
    &["unit"],
    &["quota", "job", "market", "workspace"],
    &["state", "ledger", "placement"],
    &["schedule"],
    &["message"],
    &["transition"],
    &["host"],
    &["check"],
    &["explain"],
];

pub(crate) fn check(source: &Source) -> Vec<Fault> {
    let Some(module) = module_of(&source.path) else {
        return Vec::new();
    };
    let Some(own) = row_of(module) else {
        return vec![source.fault(1, format!("module {module} has no row: give it one in LAYERS"))];
    };
    source
        .code()
        .flat_map(|(line, code)| used_modules(code).map(move |used| (line, used)))
        .filter_map(|(line, used)| {
            let what = match row_of(used) {
                Some(row) if row <= own => return None,
                Some(_) => format!("{module} may not use {used}, which is built on top of it"),
                None if used.is_empty() => "name one module for each `use crate::`".to_owned(),
                None => format!("module {used} has no row: give it one in LAYERS"),
            };
            Some(source.fault(line, what))
        })
        .collect()
}

/// The top module that a file of the engine belongs to; none for the façade.
fn module_of(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("engine/src/")?;
    let module = inside.split('/').next()?.trim_end_matches(".rs");
    (module != "lib").then_some(module)
}

fn row_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

/// What follows each `crate::` of a line: a module, or nothing before a brace.
fn used_modules(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    fn faults(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        check(&source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_use_of_a_higher_layer_fires() {
        assert_eq!(
            faults("engine/src/quota/tree.rs", "use crate::unit::Id;\nuse crate::host::Plan;\n"),
            ["engine/src/quota/tree.rs:2: quota may not use host, which is built on top of it"],
        );
    }

    #[test]
    fn a_path_without_use_fires() {
        assert_eq!(faults("engine/src/unit.rs", "let a = crate::state::State::new();").len(), 1);
    }

    #[test]
    fn a_group_of_modules_fires() {
        assert_eq!(faults("engine/src/host/mod.rs", "use crate::{unit, quota};").len(), 1);
    }

    #[test]
    fn an_unknown_module_fires_whether_it_uses_or_is_used() {
        assert_eq!(faults("engine/src/utils.rs", "").len(), 1);
        assert_eq!(faults("engine/src/host/mod.rs", "use crate::utils::x;").len(), 1);
    }

    #[test]
    fn lower_layers_the_own_row_comments_and_tests_are_free() {
        let text = "use crate::unit::Id;\nuse crate::ledger::Use;\n// crate::host\n#[cfg(test)]\nmod tests {\nuse crate::host::Plan;\n}";
        assert!(faults("engine/src/state/mod.rs", text).is_empty());
    }

    #[test]
    fn code_after_a_test_module_in_another_file_is_not_free() {
        let text = "#[cfg(test)]\nmod tests;\nuse crate::host::Plan;";
        assert_eq!(faults("engine/src/state/mod.rs", text).len(), 1);
    }

    #[test]
    fn the_facade_may_name_every_layer() {
        assert!(faults("engine/src/lib.rs", "pub use crate::host::Plan;").is_empty());
    }
}
