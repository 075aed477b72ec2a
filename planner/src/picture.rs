//! The cluster as a picture: a bar for each quota and each offer, its jobs in it. It is the same before any engine is there, in print,
//! and while a reader drags.

use std::fmt::Write;

use engine::job::phase::Charge;
use engine::state::jobs::Job;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::id::OfferNo;
use engine::unit::id::QuotaNo;
use engine::unit::limit;
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
    let places = places(state);
    let left_out = places.len().saturating_sub(ROWS_MAX);
    let held = Held::of(state);
    let shown: Vec<Row> = places.into_iter().take(ROWS_MAX).map(|place| held.row(state, place, language)).collect();
    let longest = shown.iter().map(Row::extent).max().unwrap_or(0).max(1);
    let lines = i64::try_from(shown.len() + usize::from(left_out > 0)).unwrap_or(1).max(1);
    let height = lines * ROW + 8;
    let title = language.pick("Quotas and the jobs that run in them", "配额及其运行的作业");
    let mut text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}" font-family="system-ui, sans-serif" font-size="12">"#
    );
    let mut y = 4;
    for row in &shown {
        row.draw(&mut text, y, longest, language);
        y += ROW;
    }
    if left_out > 0 {
        let more = language.say("and $ more", "另有 $ 项", &[&left_out.to_string()]);
        let _ = write!(text, r##"<text x="4" y="{}" fill="#767c85">{more}</text>"##, y + 18);
    }
    text.push_str("</svg>");
    text
}

/// What has a row.
#[derive(Clone, Copy)]
enum Place {
    /// A quota, with its depth.
    Quota(QuotaNo, i64),
    Offer(OfferNo),
}

/// Quotas, parents before their children, and behind them offers.
fn places(state: &State) -> Vec<Place> {
    fn visit(state: &State, no: QuotaNo, depth: i64, list: &mut Vec<Place>) {
        list.push(Place::Quota(no, depth));
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
    list.extend(state.market.live_offers().map(|(no, _)| Place::Offer(no)));
    list
}

/// What one look at all jobs tells of the quotas, by number.
struct Held<'a> {
    /// What jobs of the quotas below it hold.
    below: Vec<i64>,
    /// Who waits; the first of them.
    waiting: Vec<Vec<&'a str>>,
}

impl<'a> Held<'a> {
    fn of(state: &'a State) -> Self {
        let mut held = Self { below: vec![0; state.quotas.len()], waiting: vec![Vec::new(); state.quotas.len()] };
        for (no, job) in state.jobs.iter().filter(|(_, job)| !job.bids()) {
            let quota = job.spec.quota;
            if job.is_queued() {
                let waiting = &mut held.waiting[quota.at()];
                if waiting.len() < WAITING_MAX {
                    waiting.push(job.spec.id.as_str());
                }
            } else if job.placed().is_some() {
                let gpus = state.cluster.gpus(&state.held_by(no));
                let mut above = state.quotas[quota.at()].parent;
                while let Some(parent) = above {
                    held.below[parent.at()] += gpus;
                    above = state.quotas[parent.at()].parent;
                }
            }
        }
        held
    }

    fn row(&self, state: &'a State, place: Place, language: Language) -> Row<'a> {
        match place {
            Place::Quota(no, depth) => {
                let quota = &state.quotas[no.at()];
                let gpus = state.cluster.gpus(&quota.min.amount);
                Row {
                    depth,
                    name: quota.id.as_str(),
                    note: language.gpus(gpus),
                    gpus,
                    jobs: holding(state, state.running[no.at()].iter().rev().map(|(_, job)| *job)),
                    below: self.below[no.at()],
                    waiting: self.waiting[no.at()].clone(),
                }
            }
            Place::Offer(no) => offer(state, no, language),
        }
    }
}

fn offer(state: &State, no: OfferNo, language: Language) -> Row<'_> {
    let (offer, desk) = (&state.market.offers[no.at()], &state.market.desks[no.at()]);
    let waiting = desk.waiting.iter().filter_map(|(.., no)| Some(state.jobs.get(*no)?.spec.id.as_str()));
    let price = quantity::price(offer.course.price());
    // As many instances as anybody asks for have no bar of their own.
    let inventory = if offer.inventory < limit::INVENTORY_MAX { offer.inventory } else { 0 };
    Row {
        depth: 0,
        name: offer.id.as_str(),
        note: language.say("$ a minute", "每分钟 $", &[&price]),
        gpus: state.cluster.gpus(&offer.instance).saturating_mul(inventory),
        jobs: holding(state, desk.holders()),
        below: 0,
        waiting: waiting.take(WAITING_MAX).collect(),
    }
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
    /// What jobs of the quotas below it hold; who they are is drawn in their own rows.
    below: i64,
    /// Who waits; the first of them.
    waiting: Vec<&'a str>,
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

impl Row<'_> {
    fn extent(&self) -> i64 {
        self.gpus.max(self.below + self.jobs.iter().map(|(_, gpus, _)| gpus).sum::<i64>())
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
        self.blocks(text, y, &scale, language);
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

    /// The jobs one by one, those that are too many as one block for each charge, and what is held below.
    fn blocks(&self, text: &mut String, y: i64, scale: &dyn Fn(i64) -> i64, language: Language) {
        let mut at = 0;
        let mut draw = |name: &str, gpus: i64, charge: Option<Charge>| {
            let (from, to) = (LABEL + scale(at), LABEL + scale(at + gpus));
            block(text, (from, y, to - from), name, charge, &language.gpus(gpus));
            at += gpus;
        };
        let (shown, others) = self.jobs.split_at(self.jobs.len().min(BLOCKS_MAX));
        for (job, gpus, charge) in shown {
            draw(&escape(job.spec.id.as_str()), *gpus, Some(*charge));
        }
        for charge in [Charge::InQuota, Charge::Idle, Charge::Spot] {
            let of_charge = others.iter().filter(|(.., of)| *of == charge);
            let (count, gpus) = of_charge.fold((0, 0), |(count, sum), (_, gpus, _)| (count + 1, sum + gpus));
            if count > 0 {
                let name = language.say("$ more jobs", "另有 $ 个作业", &[&count.to_string()]);
                draw(&name, gpus, Some(charge));
            }
        }
        if self.below > 0 {
            draw(language.pick("quotas below", "下级配额"), self.below, None);
        }
    }
}

/// A block in a bar; what is held below has no charge.
fn block(text: &mut String, (x, y, width): (i64, i64, i64), name: &str, charge: Option<Charge>, gpus: &str) {
    // What is not in quota has a broken edge, and what is below has one all around, so that nobody needs to see colours.
    let (class, fill, edge) = match charge {
        Some(Charge::InQuota) => ("in-quota", "#2f6fb3", ""),
        Some(Charge::Idle) => ("idle", "#9a6a12", r##" stroke="#fff" stroke-dasharray="4 3""##),
        Some(Charge::Spot) => ("spot", "#6b5b95", r##" stroke="#fff" stroke-dasharray="1 3""##),
        None => ("below", "#a9c4e4", r##" stroke="#2f6fb3""##),
    };
    let _ = write!(
        text,
        r#"<g class="{class}"><title>{name}: {gpus}</title><rect x="{x}" y="{y}" width="{}" height="{BAR}" rx="3" fill="{fill}"{edge}/>"#,
        (width - 1).max(1),
    );
    // A name that does not fit is in the title; so is what is drawn elsewhere.
    if charge.is_some() && i64::try_from(name.chars().count()).unwrap_or(i64::MAX).saturating_mul(7) < width - 6 {
        let _ = write!(text, r##"<text x="{}" y="{}" fill="#fff">{name}</text>"##, x + 5, y + 17);
    }
    text.push_str("</g>");
}
