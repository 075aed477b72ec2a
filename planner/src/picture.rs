//! The cluster as a picture: a bar for each quota and each offer, its jobs in it. It is the same before any engine is there, in print,
//! and while a reader drags.

use std::fmt::Write;

use engine::job::phase::Charge;
use engine::market::offer::SpotOffer;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::OfferNo;
use engine::unit::id::QuotaNo;
use engine::unit::quantity;

use crate::words::Language;
use crate::words::escape;

const WIDTH: i64 = 640;
const LABEL: i64 = 150;
const ROW: i64 = 44;
const BAR: i64 = 26;
/// Quotas and offers that are drawn; the others are counted in a last line.
const ROWS_MAX: usize = 24;
/// Jobs that are drawn one by one in a bar; the others are one block.
const BLOCKS_MAX: usize = 40;
/// Waiting jobs that are named.
const WAITING_MAX: usize = 4;

/// The picture of a state, as SVG. Its colours are attributes, so that it needs no stylesheet; its classes are there
/// for whoever has one.
#[must_use]
pub fn svg(state: &State, language: Language) -> String {
    let rows: Vec<Row> = quotas(state, language).into_iter().chain(offers(state, language)).collect();
    let longest = rows.iter().map(Row::extent).max().unwrap_or(0).max(1);
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    let left_out = rows.len() - shown.len();
    let lines = i64::try_from(shown.len() + usize::from(left_out > 0)).unwrap_or(1).max(1);
    let height = lines * ROW + 8;
    let title = language.pick("Quotas and the jobs that run in them", "配额及其运行的作业");
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">"#
    );
    let mut y = 4;
    for row in shown {
        row.draw(&mut text, y, longest, language);
        y += ROW;
    }
    if left_out > 0 {
        let more = match language {
            Language::En => format!("and {left_out} more"),
            Language::Zh => format!("另有 {left_out} 项"),
        };
        let _ = write!(text, r##"<text x="4" y="{}" fill="#767c85">{more}</text>"##, y + 18);
    }
    text.push_str("</svg>");
    text
}

/// A quota or an offer.
struct Row<'a> {
    depth: i64,
    name: &'a str,
    /// What is said below the name.
    note: String,
    /// What it is guaranteed, or has.
    gpus: i64,
    jobs: Vec<(&'a Job, i64, Charge)>,
    /// Who waits; the first of them.
    waiting: Vec<&'a str>,
}

fn quotas(state: &State, language: Language) -> Vec<Row<'_>> {
    let row = |(no, depth): (QuotaNo, i64)| {
        let quota = &state.quotas[no.at()];
        let gpus = state.cluster.gpus(&quota.min.amount);
        let running = state.running[no.at()].iter().rev().map(|(_, job)| *job);
        let waits = move |(_, job): &(JobNo, &Job)| job.is_queued() && !job.bids() && job.spec.quota == no;
        let waiting = state.jobs.iter().filter(waits).map(|(_, job)| job.spec.id.as_str());
        Row {
            depth,
            name: quota.id.as_str(),
            note: language.gpus(gpus),
            gpus,
            jobs: holding(state, running),
            waiting: waiting.take(WAITING_MAX).collect(),
        }
    };
    order(state).into_iter().map(row).collect()
}

fn offers(state: &State, language: Language) -> Vec<Row<'_>> {
    let row = |(no, offer): (OfferNo, &'_ SpotOffer)| {
        let desk = &state.market.desks[no.at()];
        let waiting = desk.waiting.iter().filter_map(|(.., no)| Some(state.jobs.get(*no)?.spec.id.as_str()));
        let price = quantity::price(offer.course.price());
        Row {
            depth: 0,
            name: state.market.offers[no.at()].id.as_str(),
            note: match language {
                Language::En => format!("{price} a minute"),
                Language::Zh => format!("每分钟 {price}"),
            },
            gpus: state.cluster.gpus(&offer.instance).saturating_mul(offer.inventory),
            jobs: holding(state, desk.holders()),
            waiting: waiting.take(WAITING_MAX).collect(),
        }
    };
    state.market.live_offers().map(row).collect()
}

/// Jobs with what they hold.
fn holding(state: &State, jobs: impl Iterator<Item = JobNo>) -> Vec<(&Job, i64, Charge)> {
    let held = |no: JobNo| {
        let job = &state.jobs[no];
        let charge = job.placed()?.charge;
        Some((job, state.cluster.gpus(&state.held_by(no)), charge))
    };
    jobs.filter_map(held).collect()
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

impl Row<'_> {
    fn extent(&self) -> i64 {
        self.gpus.max(self.jobs.iter().map(|(_, gpus, _)| gpus).sum())
    }

    fn draw(&self, text: &mut String, y: i64, longest: i64, language: Language) {
        let scale = |gpus: i64| (WIDTH - LABEL - 8) * gpus / longest;
        let indent = 4 + 12 * self.depth.min(6);
        let _ = write!(
            text,
            r##"<text x="{indent}" y="{}" class="name" fill="#767c85">{}</text><text x="{indent}" y="{}" class="amount" fill="#767c85">{}</text><rect x="{LABEL}" y="{y}" width="{}" height="{BAR}" rx="3" class="guaranteed" fill="#8a93a0" fill-opacity="0.18"/>"##,
            y + 12,
            escape(self.name),
            y + 27,
            self.note,
            scale(self.gpus),
        );
        // What children have of a quota is drawn in their own rows.
        let (mut at, mut rest) = (0, (0, 0));
        for (index, (job, gpus, charge)) in self.jobs.iter().enumerate() {
            if index >= BLOCKS_MAX {
                rest = (rest.0 + 1, rest.1 + gpus);
                continue;
            }
            let name = escape(job.spec.id.as_str());
            let (from, to) = (LABEL + scale(at), LABEL + scale(at + gpus));
            block(text, (from, y, to - from), &name, *charge, &language.gpus(*gpus));
            at += gpus;
        }
        if rest.0 > 0 {
            let name = match language {
                Language::En => format!("{} more jobs", rest.0),
                Language::Zh => format!("另有 {} 个作业", rest.0),
            };
            let (from, to) = (LABEL + scale(at), LABEL + scale(at + rest.1));
            block(text, (from, y, to - from), &name, Charge::InQuota, &language.gpus(rest.1));
        }
        if !self.waiting.is_empty() {
            let label = language.pick("waits: ", "等待：");
            let _ = write!(
                text,
                r##"<text x="{LABEL}" y="{}" class="waits" fill="#767c85" font-size="11">{label}{}</text>"##,
                y + BAR + 12,
                escape(&self.waiting.join(", ")),
            );
        }
    }
}

fn block(text: &mut String, (x, y, width): (i64, i64, i64), name: &str, charge: Charge, gpus: &str) {
    // What is not in quota has a broken edge, so that nobody needs to see the colours.
    let (class, fill, edge) = match charge {
        Charge::InQuota => ("in-quota", "#2f6fb3", ""),
        Charge::Idle => ("idle", "#9a6a12", r##" stroke="#fff" stroke-dasharray="4 3""##),
        Charge::Spot => ("spot", "#6b5b95", r##" stroke="#fff" stroke-dasharray="1 3""##),
    };
    let _ = write!(
        text,
        r#"<g class="{class}"><title>{name}: {gpus}</title><rect x="{x}" y="{y}" width="{}" height="{BAR}" rx="3" fill="{fill}"{edge}/>"#,
        (width - 1).max(1),
    );
    // A name that does not fit is in the title.
    if i64::try_from(name.chars().count()).unwrap_or(i64::MAX).saturating_mul(7) < width - 6 {
        let _ = write!(text, r##"<text x="{}" y="{}" fill="#fff">{name}</text>"##, x + 5, y + 17);
    }
    text.push_str("</g>");
}
