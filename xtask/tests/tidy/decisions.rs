//! Decisions have one form, which `docs/decisions/README.md` states, and that file lists each of them once.
use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Fault, Source};

/// The form of one decision, as a fault tells it.
const HEAD: &str = "a title, an empty line, `Date: YYYY-MM-DD`, `Status: ...`, and an empty line";
const STATUS: &str = "`accepted`, `changed by NNNN` or `replaced by NNNN`, with commas between several numbers";

/// What is wrong with these decisions and with the list of them.
pub(crate) fn check(list: &Source, decisions: &[Source]) -> Vec<Fault> {
    let mut numbers: BTreeMap<&str, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    for decision in decisions {
        let (name, number) = (name(decision), number(decision));
        if number.len() != 4 || !number.bytes().all(|digit| digit.is_ascii_digit()) {
            faults.push(decision.fault(1, "the name of a decision is NNNN-title.md"));
        } else if let Some(other) = numbers.insert(number, name) {
            faults.push(decision.fault(1, format!("{other} has the number {number} already: take the next free one")));
        }
    }
    let numbers: BTreeSet<&str> = numbers.into_keys().collect();
    faults.extend(decisions.iter().flat_map(|decision| of_one(decision, &numbers)));
    faults.extend(listed(list, decisions));
    faults
}

/// What is wrong with the form of one decision.
fn of_one(decision: &Source, numbers: &BTreeSet<&str>) -> Vec<Fault> {
    let lines: Vec<&str> = decision.text.lines().collect();
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    let mut faults = Vec::new();
    if !line(0).starts_with("# ") || !line(1).is_empty() || !line(4).is_empty() {
        faults.push(decision.fault(1, format!("a decision begins with {HEAD}")));
    }
    match line(2).strip_prefix("Date: ") {
        None => faults.push(decision.fault(3, format!("its date is missing: the head is {HEAD}"))),
        Some(date) if !is_date(date) => faults.push(decision.fault(3, format!("{date} is no date: write 2026-11-21"))),
        Some(_) => {}
    }
    match line(3).strip_prefix("Status: ") {
        None => faults.push(decision.fault(4, format!("its status is missing: the head is {HEAD}"))),
        Some(status) => {
            let others: BTreeSet<&str> = numbers.iter().copied().filter(|no| *no != number(decision)).collect();
            faults.extend(wrong_status(status, &others).map(|what| decision.fault(4, what)));
        }
    }
    let rejected = lines.iter().position(|line| line.starts_with("Rejected:"));
    let is_last = |at: usize| !lines[at..].iter().any(|line| line.is_empty());
    faults.extend(
        rejected.filter(|at| !is_last(*at)).map(|at| decision.fault(at + 1, "`Rejected:` begins the last paragraph")),
    );
    faults
}

/// What is wrong with a status, where these are the other decisions.
fn wrong_status(status: &str, others: &BTreeSet<&str>) -> Option<String> {
    if status == "accepted" {
        return None;
    }
    let Some(named) = status.strip_prefix("changed by ").or_else(|| status.strip_prefix("replaced by ")) else {
        return Some(format!("the status {status} is none of {STATUS}"));
    };
    let unknown = named.split(", ").find(|number| !others.contains(number))?;
    Some(format!("the status names {unknown}, and there is no other decision of that number"))
}

/// Decisions that the list does not name once, and names in it of none.
fn listed(list: &Source, decisions: &[Source]) -> Vec<Fault> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in list.text.lines().enumerate() {
        let link = line.strip_prefix("- [").and_then(|rest| rest.split_once("]("));
        if let Some((_, rest)) = link {
            named.entry(rest.split(')').next().unwrap_or_default()).or_default().push(at + 1);
        }
    }
    let mut faults = Vec::new();
    for name in decisions.iter().map(name) {
        match named.remove(name).unwrap_or_default()[..] {
            [_] => {}
            [] => faults.push(list.fault(1, format!("{name} is not listed: give it a line under its subject"))),
            [first, again, ..] => {
                faults.push(list.fault(again, format!("{name} is listed in line {first} already")));
            }
        }
    }
    let gone = named.into_iter().map(|(name, at)| list.fault(at[0], format!("there is no decision {name}")));
    faults.extend(gone);
    faults
}

fn name(decision: &Source) -> &str {
    decision.path.rsplit('/').next().unwrap_or_default()
}

fn number(decision: &Source) -> &str {
    name(decision).split('-').next().unwrap_or_default()
}

/// Whether a day is written as `2026-11-21`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, length: usize| {
        let is_number = part.len() == length && part.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| part.parse::<u32>().ok()).flatten()
    };
    let [year, month, day] = parts[..] else { return false };
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
        && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    const LIST: &str = "# Decisions\n\n- [0001](0001-a.md): a\n- [0002](0002-b.md): b\n";
    const FIRST: &str = "# A\n\nDate: 2026-11-21\nStatus: changed by 0002\n\nText.\n\nRejected: c, which is slow.\n";
    const SECOND: &str = "# B\n\nDate: 2026-11-22\nStatus: accepted\n\nText.\n";

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    fn faults(list: &str, decisions: &[(&str, &str)]) -> Vec<String> {
        let decisions: Vec<Source> = decisions.iter().map(|(path, text)| source(path, text)).collect();
        check(&source("README.md", list), &decisions).iter().map(ToString::to_string).collect()
    }

    /// The faults of a first decision beside a good second one.
    fn of_first(text: &str) -> Vec<String> {
        faults(LIST, &[("d/0001-a.md", text), ("d/0002-b.md", SECOND)])
    }

    #[test]
    fn the_form_is_free() {
        assert!(of_first(FIRST).is_empty());
    }

    #[test]
    fn the_form_of_before_fires() {
        let head = "a title, an empty line, `Date: YYYY-MM-DD`, `Status: ...`, and an empty line";
        assert_eq!(
            of_first("# A\n\nText.\n"),
            [
                format!("d/0001-a.md:3: its date is missing: the head is {head}"),
                format!("d/0001-a.md:4: its status is missing: the head is {head}"),
            ]
        );
        let begins = format!("d/0001-a.md:1: a decision begins with {head}");
        assert_eq!(of_first(&FIRST.replace("# A", "A")), [begins.as_str()]);
        assert_eq!(of_first(&FIRST.replace("0002\n\nText", "0002\nText")), [begins]);
    }

    #[test]
    fn a_day_that_is_none_fires() {
        for (wrong, shown) in [("2026-13-21", "2026-13-21"), ("21.11.2026", "21.11.2026"), ("2026-11-2", "2026-11-2")] {
            let faults = of_first(&FIRST.replace("2026-11-21", wrong));
            assert_eq!(faults, [format!("d/0001-a.md:3: {shown} is no date: write 2026-11-21")]);
        }
    }

    #[test]
    fn a_status_that_is_none_fires() {
        let faults = of_first(&FIRST.replace("changed by 0002", "maybe"));
        assert_eq!(
            faults,
            [
                "d/0001-a.md:4: the status maybe is none of `accepted`, `changed by NNNN` or `replaced by NNNN`, with commas \
              between several numbers"
            ]
        );
    }

    #[test]
    fn a_status_with_a_number_of_nothing_fires() {
        for (wrong, number) in [("replaced by 0003", "0003"), ("changed by 0002, 9", "9"), ("changed by 0001", "0001")]
        {
            let faults = of_first(&FIRST.replace("changed by 0002", wrong));
            let what = format!("the status names {number}, and there is no other decision of that number");
            assert_eq!(faults, [format!("d/0001-a.md:4: {what}")]);
        }
    }

    #[test]
    fn what_was_rejected_before_the_end_fires() {
        let faults = of_first(&format!("{FIRST}\nMore.\n"));
        assert_eq!(faults, ["d/0001-a.md:8: `Rejected:` begins the last paragraph"]);
    }

    #[test]
    fn a_number_that_is_shared_or_none_fires() {
        let list = format!("{LIST}- [0002](0002-c.md): c\n- [c](c.md): c\n");
        let decisions = [("0001-a.md", FIRST), ("0002-b.md", SECOND), ("0002-c.md", SECOND), ("c.md", SECOND)];
        assert_eq!(
            faults(&list, &decisions),
            [
                "0002-c.md:1: 0002-b.md has the number 0002 already: take the next free one",
                "c.md:1: the name of a decision is NNNN-title.md",
            ]
        );
    }

    #[test]
    fn a_list_that_is_not_complete_fires() {
        let decisions = [("0001-a.md", FIRST), ("0002-b.md", SECOND)];
        let without = LIST.replace("- [0001](0001-a.md): a\n", "");
        assert_eq!(
            faults(&without, &decisions),
            ["README.md:1: 0001-a.md is not listed: give it a line under its subject"]
        );
        let twice = format!("{LIST}- [0001](0001-a.md): again\n");
        assert_eq!(faults(&twice, &decisions), ["README.md:5: 0001-a.md is listed in line 3 already"]);
        let more = format!("{LIST}- [0003](0003-c.md): c\n");
        assert_eq!(faults(&more, &decisions), ["README.md:5: there is no decision 0003-c.md"]);
    }
}
