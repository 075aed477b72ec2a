//! How use and waiting go over time, for charts and the tables beside them.

use crate::words::Language;
use console_model::chart::Chart;
use console_model::chart::Curve;
use console_model::chart::Ink;
use engine::host::plan::outcome::COURSES_MAX;
use engine::host::plan::outcome::CourseOutcome;
use engine::host::plan::outcome::Outcome;
use engine::unit::time::Millis;
use serde::Deserialize;
use serde::Serialize;

use crate::page::whose::Whose;

/// What of a course is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// GPUs that jobs held.
    Used,
    /// GPUs that jobs waited for.
    Waited,
}

impl Part {
    fn of(self, course: &CourseOutcome) -> &[i64] {
        match self {
            Self::Used => &course.used,
            Self::Waited => &course.waited,
        }
    }
}

/// The averages of a quota or an offer, or of all together where nobody is named.
#[must_use]
pub fn averages<'a>(outcome: &'a Outcome, whose: Option<&Whose>, part: Part) -> &'a [i64] {
    let is_of = |course: &&CourseOutcome, whose: &Whose| course.name == whose.name && course.is_offer == whose.is_offer;
    let course = match whose {
        None => Some(&outcome.course),
        Some(whose) => outcome.courses.iter().find(|course| is_of(course, whose)),
    };
    course.map(|course| part.of(course)).unwrap_or_default()
}

/// What is seen of them: two charts, and a table beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Courses {
    /// GPUs that jobs held.
    pub used: Chart,
    /// GPUs that jobs waited for.
    pub waited: Chart,
    /// The same numbers, in [`COLUMNS`].
    pub rows: Vec<[String; 5]>,
}

/// The courses of a quota or an offer, or of all together.
#[must_use]
pub fn courses(base: &Outcome, variant: &Outcome, whose: Option<&Whose>) -> Courses {
    let chart = |part: Part| chart(base, variant, whose, part);
    Courses { used: chart(Part::Used), waited: chart(Part::Waited), rows: rows(base, variant, whose) }
}

/// The base and a variant in one chart.
fn chart(base: &Outcome, variant: &Outcome, whose: Option<&Whose>, part: Part) -> Chart {
    let points = |outcome: &Outcome| -> Vec<(i64, i64)> {
        let times = (0..).map(|at: i64| outcome.from.0 + at * outcome.interval.0);
        times.zip(averages(outcome, whose, part).iter().copied()).collect()
    };
    let (was, is) = (points(base), points(variant));
    let highest = was.iter().chain(&is).map(|(_, gpus)| *gpus).max().unwrap_or(0);
    let curves = vec![Curve::steps(Ink::Base, &was, base.until.0), Curve::steps(Ink::Variant, &is, variant.until.0)];
    let (from, to) = (base.from.0, base.until.0.max(variant.until.0).max(base.from.0 + 1000));
    let top = (highest + highest / 10).max(1000);
    Chart { width: 720, height: 240, from, to, origin: (from, "start".to_owned()), top, unit: String::new(), curves }
}

/// The columns of the table beside the charts.
pub const COLUMNS: [&str; 5] =
    ["From", "GPUs used, base", "GPUs used, variant", "GPUs waited for, base", "GPUs waited for, variant"];

/// The same numbers as the charts have.
fn rows(base: &Outcome, variant: &Outcome, whose: Option<&Whose>) -> Vec<[String; 5]> {
    // A longer run has longer intervals; the table has those of the longer one.
    let interval = base.interval.max(variant.interval);
    let column = |outcome: &Outcome, part: Part| {
        let each = usize::try_from(interval.0 / outcome.interval.0.max(1)).unwrap_or(1).max(1);
        let averages = averages(outcome, whose, part);
        let told = averages.chunks(each).map(|chunk| {
            let count = i64::try_from(chunk.len()).unwrap_or(1);
            Language::En.gpus(chunk.iter().sum::<i64>() / count / 100 * 100)
        });
        told.collect::<Vec<String>>()
    };
    let columns = [
        column(base, Part::Used),
        column(variant, Part::Used),
        column(base, Part::Waited),
        column(variant, Part::Waited),
    ];
    let lines = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |column: &Vec<String>, at: usize| column.get(at).cloned().unwrap_or_else(|| "–".to_owned());
    let line = |at: usize| {
        let begins = Millis(i64::try_from(at).unwrap_or(0).saturating_mul(interval.0));
        let begins = if at == 0 { "the start".to_owned() } else { format!("+{}", Language::En.period(begins)) };
        let [a, b, c, d] = columns.each_ref().map(|column| cell(column, at));
        [begins, a, b, c, d]
    };
    (0..lines).map(line).collect()
}

/// Who has a course: those with the most work. Where not everybody has one, those who have one in both runs.
#[must_use]
pub fn parties(base: &Outcome, variant: &Outcome) -> Vec<Whose> {
    let all = |outcome: &Outcome| outcome.courses.iter().map(whose).collect::<Vec<Whose>>();
    let (was, is) = (all(base), all(variant));
    let has = |known: &[Whose], whose: &Whose| known.len() < COURSES_MAX || known.contains(whose);
    let mut parties: Vec<Whose> = Vec::new();
    for whose in was.iter().chain(&is) {
        if !parties.contains(whose) && has(&was, whose) && has(&is, whose) {
            parties.push(whose.clone());
        }
    }
    parties
}

fn whose(course: &CourseOutcome) -> Whose {
    Whose { name: course.name.clone(), is_offer: course.is_offer }
}
