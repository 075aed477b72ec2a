//! A statement: bills added up by day, by job or by workspace.

use std::fmt::Write;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

use crate::market::bill::Bill;
use crate::market::bill::Charges;
use crate::market::bill::PAY_TYPE;
use crate::market::bill::date;
use crate::unit::id::JobId;
use crate::unit::id::OfferId;
use crate::unit::id::WorkspaceId;
use crate::unit::ordered::Map;
use crate::unit::quantity::price;
use crate::unit::time::Timestamp;

/// What the lines of a statement are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Each job on each day.
    #[default]
    JobAndDay,
    /// Each day.
    Day,
    /// Each job.
    Job,
    /// Each workspace.
    Workspace,
}

impl FromStr for By {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "job_and_day" => Ok(Self::JobAndDay),
            "day" => Ok(Self::Day),
            "job" => Ok(Self::Job),
            "workspace" => Ok(Self::Workspace),
            _ => Err(()),
        }
    }
}

/// What a line is for; what it does not tell apart is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The day, such as `2026-11-21`, in universal time.
    pub day: Option<String>,
    /// The workspace that pays.
    pub workspace: Option<WorkspaceId>,
    /// The job.
    pub job: Option<JobId>,
    /// What it ran on.
    pub offer: Option<OfferId>,
}

/// A line of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What it is for.
    pub item: Item,
    /// All of it.
    pub charges: Charges,
    /// What of it belongs to grants that go on, and is not billed yet.
    pub open: Charges,
}

/// Where a statement breaks off, because its reader did not look further back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// Bills written before this time are not among them.
    pub at: Timestamp,
    /// The revision up to which those were written: a statement of what came before it has them.
    pub before: u64,
}

/// What has been billed, and what is owed and not billed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Nothing if there are no earlier bills.
    pub earlier: Option<Earlier>,
    /// The tag of every bill.
    pub tag: Map<String, String>,
    /// The lines.
    pub lines: Vec<Line>,
    /// All together.
    pub total: Charges,
}

impl Statement {
    /// Adds up what has been billed, and what is owed.
    #[must_use]
    pub fn of(earlier: Option<Earlier>, by: By, billed: &[Bill], owed: &[Bill]) -> Self {
        Self::from_lines(earlier, lines(by, billed, owed))
    }

    fn from_lines(earlier: Option<Earlier>, lines: Vec<Line>) -> Self {
        Self {
            earlier,
            tag: Map::from([(PAY_TYPE.0.to_owned(), PAY_TYPE.1.to_owned())]),
            total: lines.iter().fold(Charges::default(), |sum, line| sum.plus(line.charges)),
            lines,
        }
    }

    /// Both together; `before` is the statement of what came before this one.
    #[must_use]
    pub fn with(self, before: Self) -> Self {
        let mut sums: Map<Item, (Charges, Charges)> = Map::new();
        for Line { item, charges, open } in self.lines.into_iter().chain(before.lines) {
            let sum = sums.or_default(item);
            *sum = (sum.0.plus(charges), sum.1.plus(open));
        }
        let lines = sums.into_iter().map(|(item, (charges, open))| Line { item, charges, open }).collect();
        Self::from_lines(before.earlier, lines)
    }
}

/// Adds up what has been billed, and what is owed and not billed yet.
fn lines(by: By, billed: &[Bill], owed: &[Bill]) -> Vec<Line> {
    let mut sums: Map<Item, (Charges, Charges)> = Map::new();
    let bills = billed.iter().map(|bill| (bill, false)).chain(owed.iter().map(|bill| (bill, true)));
    for (bill, is_open) in bills {
        let (charges, open) = sums.or_default(item(by, bill));
        *charges = charges.plus(bill.charges);
        if is_open {
            *open = open.plus(bill.charges);
        }
    }
    sums.into_iter().map(|(item, (charges, open))| Line { item, charges, open }).collect()
}

fn item(by: By, bill: &Bill) -> Item {
    let Bill { job, workspace, offer, day, .. } = bill;
    let (day, job, workspace) = (Some(date(*day)), Some(job.clone()), workspace.clone());
    match by {
        By::JobAndDay => Item { day, job, workspace, offer: Some(offer.clone()) },
        By::Day => Item { day, ..Item::default() },
        By::Job => Item { job, workspace, offer: Some(offer.clone()), day: None },
        By::Workspace => Item { workspace, ..Item::default() },
    }
}

/// A statement for a spreadsheet. Costs are in units of currency.
#[must_use]
pub fn csv(lines: &[Line]) -> String {
    let mut text = "day,workspace,job,offer,minutes,cost,not_billed_yet,tag\r\n".to_owned();
    let (key, value) = PAY_TYPE;
    for Line { item: Item { day, workspace, job, offer }, charges, open } in lines {
        let names = [
            day.as_deref(),
            workspace.as_ref().map(WorkspaceId::as_str),
            job.as_ref().map(JobId::as_str),
            offer.as_ref().map(OfferId::as_str),
        ];
        for name in names {
            text.push_str(&cell(name.unwrap_or_default()));
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{},{},{key}={value}\r\n", charges.minutes, price(charges.micros), price(open.micros));
    }
    text
}

/// A name that no spreadsheet takes for a formula or for two cells.
fn cell(name: &str) -> String {
    let guard = if name.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !name.contains([',', '"', '\n', '\r']) {
        return name.to_owned();
    }
    format!("\"{guard}{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill(job: &str, workspace: Option<&str>, day: i64, micros: i64) -> Bill {
        Bill {
            job: JobId::new(job).expect("a good name"),
            workspace: workspace.map(|name| WorkspaceId::new(name).expect("a good name")),
            offer: OfferId::new("gn7").expect("a good name"),
            instances: 1,
            day,
            charges: Charges { minutes: 1, micros },
        }
    }

    fn costs(by: By, billed: &[Bill], owed: &[Bill]) -> Vec<(i64, i64)> {
        lines(by, billed, owed).iter().map(|line| (line.charges.micros, line.open.micros)).collect()
    }

    #[test]
    fn every_view_adds_up_to_the_same() {
        let billed = [
            bill("a", Some("w"), 1, 10),
            bill("a", Some("w"), 1, 20),
            bill("a", Some("w"), 2, 40),
            bill("b", None, 1, 80),
        ];
        let owed = [bill("b", None, 2, 160)];
        assert_eq!(costs(By::JobAndDay, &billed, &owed), [(80, 0), (30, 0), (160, 160), (40, 0)]);
        assert_eq!(costs(By::Day, &billed, &owed), [(110, 0), (200, 160)]);
        assert_eq!(costs(By::Job, &billed, &owed), [(240, 160), (70, 0)]);
        assert_eq!(costs(By::Workspace, &billed, &owed), [(240, 160), (70, 0)]);
    }

    #[test]
    fn two_statements_add_up_to_the_one_of_all() {
        let [old, new, owed] = [bill("a", None, 1, 10), bill("a", None, 1, 20), bill("b", None, 2, 40)];
        let earlier = Earlier { at: Timestamp(7), before: 3 };
        let newest =
            Statement::of(Some(earlier), By::JobAndDay, std::slice::from_ref(&new), std::slice::from_ref(&owed));
        let oldest = Statement::of(None, By::JobAndDay, std::slice::from_ref(&old), &[]);
        assert_eq!(newest.with(oldest), Statement::of(None, By::JobAndDay, &[old, new], &[owed]));
    }

    #[test]
    fn a_spreadsheet_gets_money_and_no_formulas() {
        let text = csv(&lines(By::Job, &[bill("=1+1,2", None, 0, 1_500_000)], &[]));
        let line = text.lines().nth(1).unwrap_or_default();
        assert_eq!(line, ",,\"'=1+1,2\",gn7,1,1.5,0,acs:pai:dlc:payType=spot");
    }
}
