//! The specification: code cites sections that are there, and each section names what shows its rule.
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

/// Citations of sections that are not there, and of documents that nobody can read.
pub(crate) fn citations(rules: &Source, sources: &[Source]) -> Vec<Fault> {
    let sections = sections(&rules.text);
    let is_there = |number: &str| sections.iter().any(|section| section.number == number);
    let mut faults = Vec::new();
    for source in sources {
        for (at, line) in source.text.lines().enumerate() {
            let unknown = cited(line).into_iter().filter(|number| !is_there(number));
            faults
                .extend(unknown.map(|number| source.fault(at + 1, format!("{} has no section {number}", rules.path))));
            if line.contains("semantics section") {
                faults.push(source.fault(at + 1, format!("cite a section of {}: rules 3.5", rules.path)));
            }
        }
    }
    faults
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

/// The sections that a line cites: `rules 3.5`, `rules 1.3, 4.4 and 7.1`.
fn cited(line: &str) -> Vec<&str> {
    let mut numbers = Vec::new();
    for (at, _) in line.match_indices("rules ") {
        let mut rest = &line[at + "rules ".len()..];
        while let Some(number) = number(rest) {
            numbers.push(number);
            rest = &rest[number.len()..];
            let Some(next) = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(" and ")) else { break };
            rest = next;
        }
    }
    numbers
}

/// The number that a text begins with, without a full stop behind it.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{citations, cited, shown, tests};
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
    fn citations_are_found_one_by_one_and_in_lists() {
        assert_eq!(cited("//! Loans (rules 4.2). See also rules 1.3, 4.4 and 7."), ["4.2", "1.3", "4.4", "7"]);
        assert!(cited("the rules of 3 quotas, and rules in general").is_empty());
    }

    #[test]
    fn a_citation_of_nothing_fires() {
        let code = [
            source("a.rs", "//! Units (rules 1.1).\n//! Time (rules 2 and 3.1)."),
            source("b.rs", "// semantics section 5"),
        ];
        let faults: Vec<String> =
            citations(&source("rules.md", RULES), &code).iter().map(ToString::to_string).collect();
        assert_eq!(faults, ["a.rs:2: rules.md has no section 3.1", "b.rs:1: cite a section of rules.md: rules 3.5"]);
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
