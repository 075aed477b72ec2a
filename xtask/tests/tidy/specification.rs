//! The specification: each section names what shows its rule.
use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Fault, Source};

/// A section of the specification.
#[derive(Debug)]
struct Section<'a> {
    line: usize,
    /// Its number, such as `3.5`.
    number: &'a str,
    /// Files of scenarios that it names, with their lines.
    scenarios: Vec<(usize, &'a str)>,
    /// Tests that it names, with their lines.
    proofs: Vec<(usize, &'a str)>,
}

/// Sections that nothing shows, names of nothing, and scenarios that no section names.
pub(crate) fn shown(rules: &Source, scenarios: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<Fault> {
    let sections = sections(&rules.text);
    let mut faults = Vec::new();
    let mut named = BTreeSet::new();
    for (at, section) in sections.iter().enumerate() {
        let is_divided =
            sections.get(at + 1).is_some_and(|next| next.number.starts_with(&format!("{}.", section.number)));
        if !is_divided && section.scenarios.is_empty() && section.proofs.is_empty() {
            let what = format!("section {} names neither scenarios nor a proof", section.number);
            faults.push(rules.fault(section.line, what));
        }
        for (line, name) in &section.scenarios {
            named.insert(*name);
            if !scenarios.contains(*name) {
                faults.push(rules.fault(*line, format!("there is no scenario {name}")));
            }
        }
        let unknown = section.proofs.iter().filter(|(_, name)| !tests.contains(*name));
        faults.extend(unknown.map(|(line, name)| rules.fault(*line, format!("there is no test {name}"))));
    }
    let unnamed = scenarios.iter().filter(|name| !named.contains(name.as_str()));
    faults.extend(unnamed.map(|name| rules.fault(1, format!("no section names the scenario {name}"))));
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for section in &sections {
        if let Some(first) = numbers.insert(section.number, section.line) {
            faults
                .push(rules.fault(section.line, format!("section {} stands in line {first} already", section.number)));
        }
    }
    faults
}

/// The names of all functions without arguments, which tests are.
pub(crate) fn tests(sources: &[Source]) -> BTreeSet<String> {
    let lines = sources.iter().flat_map(|source| source.text.lines());
    lines
        .filter_map(|line| line.trim().strip_prefix("fn ")?.split_once("()").map(|(name, _)| name.to_owned()))
        .collect()
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            let number = title.split(' ').next().unwrap_or_default().trim_end_matches('.');
            sections.push(Section { line: at + 1, number, scenarios: Vec::new(), proofs: Vec::new() });
        }
        let Some(section) = sections.last_mut() else { continue };
        if let Some(names) = line.strip_prefix("Scenarios: ") {
            section.scenarios.extend(names.split(", ").map(|name| (at + 1, name)));
        }
        if let Some(names) = line.strip_prefix("Proof: ") {
            section.proofs.extend(names.split(", ").map(|name| (at + 1, name)));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::{shown, tests};
    use crate::source::Source;
    use std::collections::BTreeSet;

    const RULES: &str = "# Rules\n\n## 1. Amounts\n\n### 1.1 Units\n\nText.\n\nScenarios: units.md\n\n## 2. Time\n\nProof: it_is_late\n";

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn shown_by(text: &str, scenarios: &[&str]) -> Vec<String> {
        let faults = shown(&source("rules.md", text), &names(scenarios), &names(&["it_is_late"]));
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_specification_that_is_shown_is_free() {
        assert!(shown_by(RULES, &["units.md"]).is_empty());
    }

    #[test]
    fn a_section_that_nothing_shows_fires() {
        let faults = shown_by(&RULES.replace("Proof: it_is_late", ""), &["units.md"]);
        assert_eq!(faults, ["rules.md:11: section 2 names neither scenarios nor a proof"]);
    }

    #[test]
    fn names_of_nothing_fire() {
        assert_eq!(shown_by(RULES, &[]), ["rules.md:9: there is no scenario units.md"]);
        let faults = shown_by(&RULES.replace("it_is_late", "it_is_early"), &["units.md"]);
        assert_eq!(faults, ["rules.md:13: there is no test it_is_early"]);
    }

    #[test]
    fn a_scenario_that_no_section_names_fires() {
        assert_eq!(shown_by(RULES, &["other.md", "units.md"]), ["rules.md:1: no section names the scenario other.md"]);
    }

    #[test]
    fn a_number_that_stands_twice_fires() {
        let faults = shown_by(&RULES.replace("## 2.", "## 1."), &["units.md"]);
        assert_eq!(faults, ["rules.md:11: section 1 stands in line 3 already"]);
    }

    #[test]
    fn tests_are_known_by_their_names() {
        assert_eq!(tests(&[source("a.rs", "    fn it_holds() {\nfn helper(a: u8) {")]), names(&["it_holds"]));
    }
}
