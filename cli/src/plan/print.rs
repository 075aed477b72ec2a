//! The figures of a plan as lines for people.

use std::fmt::Write;

use planner::page::range;
use planner::page::range::Range;
use planner::page::range::Verdict;
use planner::page::table::Change;
use planner::page::table::Figure;

use crate::plan::figures::Column;
use crate::plan::figures::Figures;
use crate::shell::table::Side;
use crate::shell::table::Tone;
use crate::shell::table::lined_up;

/// A line for each figure, with a column for each run; what is better or worse than without changes says so.
#[must_use]
pub fn text(figures: &Figures) -> String {
    let Figures { title, remarks, columns, .. } = figures;
    let mut text = title.clone();
    for remark in remarks {
        let _ = write!(text, "\nnote: {remark}");
    }
    let Some(base) = columns.first() else { return text };
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(columns.iter().map(|column| column.name.clone()));
    for (at, was) in base.ended.figures.iter().enumerate() {
        let told = |column: &Column| match column.ranges.get(at) {
            Some(range) => ranged(range),
            None => column.ended.figures.get(at).map_or_else(String::new, |is| cell(is, was)),
        };
        rows.push([was.label.clone()].into_iter().chain(columns.iter().map(told)).collect());
    }
    let jobs = columns.iter().skip(1).map(|column| {
        let (better, worse) = column.ended.fortunes.unwrap_or_default();
        format!("{better} better, {worse} worse off")
    });
    if columns.len() > 1 {
        rows.push(["Jobs".to_owned(), String::new()].into_iter().chain(jobs).collect());
    }
    let rows: Vec<Vec<(&str, Tone)>> =
        rows.iter().map(|row| row.iter().map(|cell| (cell.as_str(), Tone::Plain)).collect()).collect();
    let _ = write!(text, "\n{}", lined_up(&rows, &vec![Side::Left; columns.len() + 1]).trim_end());
    if columns.iter().any(|column| !column.ranges.is_empty()) {
        let _ = write!(text, "\n{}", range::words());
    }
    for column in columns {
        for refusal in &column.ended.refusals {
            let _ = write!(text, "\n{}: {refusal}", column.name);
        }
    }
    text
}

fn cell(is: &Figure, was: &Figure) -> String {
    let sign = match is.against(was) {
        Change::Same => "",
        Change::Better => " (better)",
        Change::Worse => " (worse)",
    };
    format!("{}{sign}", is.text)
}

/// Of several runs: nothing is said that some of them deny.
fn ranged(range: &Range) -> String {
    let words = match range.verdict {
        Verdict::Same => "",
        Verdict::Better => " better",
        Verdict::Worse => " worse",
        Verdict::Unclear => " no clear difference",
    };
    format!("{}{words}", range.text())
}
