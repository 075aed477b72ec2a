//! The cluster as a picture: a bar for each quota, its jobs in it. It is the same before any engine is there, in print,
//! and while a reader drags.

use std::fmt::Write;

use engine::job::phase::Charge;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::QuotaNo;

use crate::words::Language;
use crate::words::escape;

const WIDTH: i64 = 640;
const LABEL: i64 = 150;
const ROW: i64 = 44;
const BAR: i64 = 26;
/// Quotas that are drawn; the others are counted in a last line.
const ROWS_MAX: usize = 24;
/// Jobs that are drawn one by one in a bar; the others are one block.
const BLOCKS_MAX: usize = 40;

/// The picture of a state, as SVG. Its colours are attributes, so that it needs no stylesheet; its classes are there
/// for whoever has one.
#[must_use]
pub fn svg(state: &State, language: Language) -> String {
    let quotas = order(state);
    let longest = quotas.iter().map(|(no, _)| extent(state, *no)).max().unwrap_or(0).max(1);
    let shown = &quotas[..quotas.len().min(ROWS_MAX)];
    let left_out = quotas.len() - shown.len();
    let rows = i64::try_from(shown.len() + usize::from(left_out > 0)).unwrap_or(1).max(1);
    let height = rows * ROW + 8;
    let title = language.pick("Quotas and the jobs that run in them", "配额及其运行的作业");
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">"#
    );
    let mut y = 4;
    for (no, depth) in shown {
        row(&mut text, state, *no, *depth, y, longest, language);
        y += ROW;
    }
    if left_out > 0 {
        let more = match language {
            Language::En => format!("and {left_out} more quotas"),
            Language::Zh => format!("另有 {left_out} 个配额"),
        };
        let _ = write!(text, r##"<text x="4" y="{}" fill="#767c85">{more}</text>"##, y + 18);
    }
    text.push_str("</svg>");
    text
}

/// Quotas with their depth, parents before their children.
fn order(state: &State) -> Vec<(QuotaNo, i64)> {
    fn visit(state: &State, no: QuotaNo, depth: i64, list: &mut Vec<(QuotaNo, i64)>) {
        list.push((no, depth));
        for (child, _) in state.children(no) {
            visit(state, child, depth + 1, list);
        }
    }
    let mut list = Vec::new();
    for (no, quota) in state.live_quotas() {
        if quota.parent.is_none() {
            visit(state, no, 0, &mut list);
        }
    }
    list
}

/// The jobs of a quota that hold GPUs, with what they hold.
fn jobs(state: &State, quota: QuotaNo) -> impl Iterator<Item = (&Job, i64, Charge)> {
    let held = move |no: &JobNo| {
        let job = &state.jobs[*no];
        let charge = job.placed()?.charge;
        Some((job, state.cluster.gpus(&state.held_by(*no)), charge))
    };
    state.running[quota.at()].iter().rev().filter_map(move |(_, no)| held(no))
}

fn guaranteed(state: &State, no: QuotaNo) -> i64 {
    state.cluster.gpus(&state.quotas[no.at()].min.amount)
}

fn extent(state: &State, no: QuotaNo) -> i64 {
    guaranteed(state, no).max(jobs(state, no).map(|(_, gpus, _)| gpus).sum())
}

fn row(text: &mut String, state: &State, no: QuotaNo, depth: i64, y: i64, longest: i64, language: Language) {
    let quota = &state.quotas[no.at()];
    let min = guaranteed(state, no);
    let scale = |gpus: i64| (WIDTH - LABEL - 8) * gpus / longest;
    let indent = 4 + 12 * depth.min(6);
    let _ = write!(
        text,
        r##"<text x="{indent}" y="{}" class="name" fill="#767c85">{}</text><text x="{indent}" y="{}" class="amount" fill="#767c85">{}</text><rect x="{LABEL}" y="{y}" width="{}" height="{BAR}" rx="3" class="guaranteed" fill="#8a93a0" fill-opacity="0.18"/>"##,
        y + 12,
        escape(quota.id.as_str()),
        y + 27,
        language.gpus(min),
        scale(min),
    );
    // What children have of it is drawn in their own rows.
    let (mut at, mut rest) = (0, (0, 0));
    for (index, (job, gpus, charge)) in jobs(state, no).enumerate() {
        if index >= BLOCKS_MAX {
            rest = (rest.0 + 1, rest.1 + gpus);
            continue;
        }
        let name = escape(job.spec.id.as_str());
        block(text, LABEL + scale(at), y, scale(at + gpus) - scale(at), &name, charge, &language.gpus(gpus));
        at += gpus;
    }
    if rest.0 > 0 {
        let name = match language {
            Language::En => format!("{} more jobs", rest.0),
            Language::Zh => format!("另有 {} 个作业", rest.0),
        };
        block(
            text,
            LABEL + scale(at),
            y,
            scale(at + rest.1) - scale(at),
            &name,
            Charge::InQuota,
            &language.gpus(rest.1),
        );
    }
    let waiting: Vec<&str> = waiting(state, no).take(4).collect();
    if !waiting.is_empty() {
        let label = language.pick("waits: ", "等待：");
        let _ = write!(
            text,
            r##"<text x="{LABEL}" y="{}" class="waits" fill="#767c85" font-size="11">{label}{}</text>"##,
            y + BAR + 12,
            escape(&waiting.join(", ")),
        );
    }
}

fn waiting(state: &State, quota: QuotaNo) -> impl Iterator<Item = &str> {
    let waits = move |(_, job): (JobNo, &'_ Job)| job.is_queued() && !job.bids() && job.spec.quota == quota;
    state.jobs.iter().filter(move |pair| waits(*pair)).map(|(_, job)| job.spec.id.as_str())
}

fn block(text: &mut String, x: i64, y: i64, width: i64, name: &str, charge: Charge, gpus: &str) {
    let (class, fill) = match charge {
        Charge::InQuota => ("in-quota", "#2f6fb3"),
        Charge::Idle => ("idle", "#9a6a12"),
        Charge::Spot => ("spot", "#6b5b95"),
    };
    let _ = write!(
        text,
        r#"<g class="{class}"><title>{name}: {gpus}</title><rect x="{x}" y="{y}" width="{}" height="{BAR}" rx="3" fill="{fill}"/>"#,
        (width - 1).max(1),
    );
    // A name that does not fit is in the title.
    if i64::try_from(name.chars().count()).unwrap_or(i64::MAX).saturating_mul(7) < width - 6 {
        let _ = write!(text, r##"<text x="{}" y="{}" fill="#fff">{name}</text>"##, x + 5, y + 17);
    }
    text.push_str("</g>");
}
