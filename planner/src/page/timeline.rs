//! The timeline: a part of a run's time as a picture, as a sentence and as lines of a table.
//!
//! However many stretches there are, the picture has few elements: the widest are drawn one by one, with their names,
//! and all others of a charge in one path.

use std::fmt::Write;

use crate::words::Language;
use crate::words::escape;
use engine::host::plan::outcome::SpanOutcome;
use engine::job::phase::Charge;
use engine::unit::sort;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::page::lanes::Lane;
use crate::page::lanes::Lanes;
use crate::page::lanes::within;
use crate::page::whose;
use crate::page::whose::Whose;

const HEAD: i64 = 22;
const NAME: i64 = 20;
const LANE: i64 = 18;
const BAR: i64 = 14;
/// What a tick with its words takes at least.
const TICK: i64 = 90;
/// Stretches that are drawn one by one.
const BARS_MAX: usize = 300;
/// Stretches that are lines of the table.
const ROWS_TOLD: usize = 100;
/// The columns of the table.
pub const SPAN_COLUMNS: [&str; 6] = ["Job", "Draws on", "GPUs", "From", "For", "Then"];
/// The distances of ticks, in minutes.
const STEPS: [i64; 14] = [1, 5, 10, 30, 60, 120, 240, 480, 1_440, 2_880, 10_080, 20_160, 43_200, 86_400];

/// What of a run is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Whose jobs; nothing: those of all quotas and offers.
    pub whose: Option<Whose>,
    /// From when.
    pub from: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// How wide the picture is, in CSS pixels.
    pub width: i64,
}

/// What is seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// The picture, as SVG. Its classes get their colours from the page.
    pub picture: String,
    /// What it shows, for who does not see it.
    pub sentence: String,
    /// The first stretches, by beginning.
    pub rows: Vec<[String; 6]>,
}

/// What is seen in a frame.
#[must_use]
pub fn view(lanes: &Lanes, frame: &Frame) -> View {
    let shown = lanes.shown(frame.whose.as_ref());
    View {
        picture: Picture::of(lanes.from, frame).draw(&shown),
        sentence: sentence(lanes, &shown, frame),
        rows: rows(lanes, frame),
    }
}

/// A time after the beginning, in the shortest way that names it: `the start`, `+1:30`, `+3 d 4:00`.
#[must_use]
pub fn after(period: Millis) -> String {
    let minutes = period.0 / Millis::MINUTE.0;
    let (days, hours, rest) = (minutes / 1_440, minutes / 60, minutes % 60);
    match minutes {
        ..=0 => "the start".to_owned(),
        2_880.. if minutes % 1_440 == 0 => format!("+{days} d"),
        2_880.. => format!("+{days} d {}:{rest:02}", hours % 24),
        _ => format!("+{hours}:{rest:02}"),
    }
}

fn sentence(lanes: &Lanes, shown: &[(&Whose, &[Lane])], frame: &Frame) -> String {
    let count = |lanes: &[Lane]| lanes.iter().map(|lane| within(lane, frame.from, frame.until).len()).sum::<usize>();
    let drawn: usize = shown.iter().map(|(_, lanes)| count(lanes)).sum();
    let all: usize = lanes.of_party(frame.whose.as_ref()).map(|(_, lanes)| count(lanes)).sum();
    let spans = lanes.of_party(frame.whose.as_ref()).flat_map(|(_, lanes)| lanes);
    let is_seen = |span: &&SpanOutcome| span.evicted.is_some() && span.until <= frame.until;
    let evicted: usize = spans.map(|lane| within(lane, frame.from, frame.until).iter().filter(is_seen).count()).sum();
    let mut text = format!(
        "From {} to {}: {all} stretches of running, {evicted} of them ended by an eviction.",
        after(frame.from - lanes.from),
        after(frame.until - lanes.from),
    );
    if all > drawn {
        let _ = write!(text, " {} of them run beside too many others to be drawn.", all - drawn);
    }
    if let Some(cut) = lanes.cut.filter(|cut| *cut < frame.until) {
        let _ = write!(
            text,
            " The picture ends at {}: {} later stretches are counted in the figures only.",
            after(cut - lanes.from),
            lanes.left_out,
        );
    }
    text
}

fn rows(lanes: &Lanes, frame: &Frame) -> Vec<[String; 6]> {
    let all = lanes.of_party(frame.whose.as_ref()).flat_map(|(_, lanes)| lanes);
    let mut spans: Vec<&SpanOutcome> = all.flat_map(|lane| within(lane, frame.from, frame.until)).collect();
    // Stable: those that begin together stay in the order of what they draw on.
    sort::by_key(&mut spans, |span| span.from);
    spans.truncate(ROWS_TOLD);
    spans.into_iter().map(|span| row(span, lanes.from)).collect()
}

/// A stretch of a run that began at a time.
#[must_use]
pub fn row(span: &SpanOutcome, from: Timestamp) -> [String; 6] {
    [
        span.job.to_string(),
        whose::label(&span.party, span.is_offer),
        Language::En.gpus(span.gpus),
        after(span.from - from),
        Language::En.period(span.until - span.from),
        match &span.evicted {
            Some(cause) => format!("evicted: {}", Language::En.rule(cause)),
            None if span.is_open => "goes on".to_owned(),
            None => "ends, or changes".to_owned(),
        },
    ]
}

/// How a frame is drawn.
struct Picture {
    /// When the run began.
    begin: Timestamp,
    from: Timestamp,
    length: i64,
    width: i64,
}

/// A stretch with its place.
struct Bar<'a> {
    span: &'a SpanOutcome,
    x: i64,
    end: i64,
    y: i64,
    /// Whether its end is in the picture.
    ends: bool,
}

impl Picture {
    fn of(begin: Timestamp, frame: &Frame) -> Self {
        let (from, length) = (frame.from, (frame.until - frame.from).0.max(1));
        Self { begin, from, length, width: frame.width.clamp(200, 4_000) }
    }

    fn place(&self, at: Timestamp) -> i64 {
        let after = i128::from((at - self.from).0.clamp(0, self.length));
        i64::try_from(i128::from(self.width) * after / i128::from(self.length)).unwrap_or(0)
    }

    fn draw(&self, shown: &[(&Whose, &[Lane])]) -> String {
        let until = self.from + Millis(self.length);
        let (mut names, mut bars, mut y) = (String::new(), Vec::new(), HEAD);
        for (whose, lanes) in shown {
            let _ = write!(
                names,
                r#"<line class="rule" x1="0" x2="{}" y1="{y}" y2="{y}"/><text class="party" x="2" y="{}">{}</text>"#,
                self.width,
                y + 15,
                escape(&whose.label()),
            );
            y += NAME;
            for lane in *lanes {
                bars.extend(within(lane, self.from, until).iter().map(|span| Bar {
                    span,
                    x: self.place(span.from),
                    end: self.place(span.until),
                    y: y + 2,
                    ends: span.until <= until,
                }));
                y += LANE;
            }
        }
        let (width, height) = (self.width, y + 4);
        let mut text =
            format!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="12">"#);
        self.ticks(&mut text, height);
        text.push_str(&names);
        draw_bars(&mut text, &bars);
        text.push_str("</svg>");
        text
    }

    fn ticks(&self, text: &mut String, height: i64) {
        let most = self.width / TICK;
        let step = STEPS.map(|minutes| minutes * Millis::MINUTE.0).into_iter().find(|step| self.length / step <= most);
        let step = step.unwrap_or(self.length);
        let first = (self.from - self.begin).0;
        let mut at = (first + step - 1).div_euclid(step) * step;
        loop {
            let x = self.place(self.begin + Millis(at));
            // A last tick at the very edge would have no room for its words.
            if x + TICK > self.width + 10 {
                return;
            }
            let words = after(Millis(at));
            let _ = write!(
                text,
                r#"<line class="tick" x1="{x}" x2="{x}" y1="{HEAD}" y2="{height}"/><text class="when" x="{}" y="14">{words}</text>"#,
                x + 2,
            );
            at += step;
        }
    }
}

/// The widest bars one by one, so that they can be pointed at; the others together.
fn draw_bars(text: &mut String, bars: &[Bar<'_>]) {
    let mut widths: Vec<i64> = bars.iter().map(|bar| bar.end - bar.x).collect();
    sort::by_key(&mut widths, |width| std::cmp::Reverse(*width));
    let too_narrow = widths.get(BARS_MAX).copied().unwrap_or(0).max(2);
    let mut thin = Thin::default();
    for bar in bars {
        if bar.end - bar.x > too_narrow { wide(text, bar) } else { thin.add(bar) }
    }
    thin.draw(text);
}

fn class(charge: Charge) -> &'static str {
    match charge {
        Charge::InQuota => "in-quota",
        Charge::Idle => "idle",
        Charge::Spot => "spot",
    }
}

fn wide(text: &mut String, bar: &Bar<'_>) {
    let Bar { span, x, end, y, ends } = bar;
    // One that follows at once is told from this one.
    let (width, name, class) = (end - x - 1, escape(span.job.as_str()), class(span.charge));
    let gpus = Language::En.gpus(span.gpus);
    let _ = write!(
        text,
        r#"<g class="{class}"><title>{name}: {gpus}</title><rect x="{x}" y="{y}" width="{width}" height="{BAR}" rx="2"/>"#,
    );
    if i64::try_from(span.job.as_str().chars().count()).unwrap_or(i64::MAX).saturating_mul(7) < width - 8 {
        let _ = write!(text, r#"<text x="{}" y="{}">{name}</text>"#, x + 4, y + 11);
    }
    text.push_str("</g>");
    if span.evicted.is_some() && *ends {
        let _ = write!(text, r#"<path class="evicted" d="{}"/>"#, cross(*end, *y));
    }
}

/// A cross, so that an eviction can be told without its colour.
fn cross(x: i64, y: i64) -> String {
    format!("M{} {}l8 8m0-8l-8 8", x - 4, y + 3)
}

/// Where a block begins and ends, and how high its lane is.
type Block = (i64, i64, i64);

/// Bars that are drawn together: those of one charge that touch each other are one block.
#[derive(Default)]
struct Thin {
    /// Of each charge: its path, and its last block, which may grow.
    paths: [(String, Option<Block>); 3],
    crosses: String,
    /// The last cross, and its lane.
    last: Option<(i64, i64)>,
}

const CHARGES: [Charge; 3] = [Charge::InQuota, Charge::Idle, Charge::Spot];

impl Thin {
    fn add(&mut self, bar: &Bar<'_>) {
        let at = CHARGES.iter().position(|charge| *charge == bar.span.charge).unwrap_or(0);
        let (path, block) = &mut self.paths[at];
        let end = bar.end.max(bar.x + 1);
        *block = match *block {
            Some((x, last, y)) if y == bar.y && bar.x <= last + 1 => Some((x, last.max(end), y)),
            other => {
                close(path, other);
                Some((bar.x, end, bar.y))
            }
        };
        let is_seen = bar.span.evicted.is_some() && bar.ends;
        if is_seen && self.last.is_none_or(|(x, y)| y != bar.y || x + 4 <= bar.end) {
            self.crosses.push_str(&cross(bar.end, bar.y));
            self.last = Some((bar.end, bar.y));
        }
    }

    fn draw(self, text: &mut String) {
        for ((mut path, block), charge) in self.paths.into_iter().zip(CHARGES) {
            close(&mut path, block);
            if !path.is_empty() {
                let _ = write!(text, r#"<path class="{}" d="{path}"/>"#, class(charge));
            }
        }
        if !self.crosses.is_empty() {
            let _ = write!(text, r#"<path class="evicted" d="{}"/>"#, self.crosses);
        }
    }
}

fn close(path: &mut String, block: Option<Block>) {
    if let Some((x, end, y)) = block {
        let width = end - x;
        let _ = write!(path, "M{x} {y}h{width}v{BAR}h-{width}z");
    }
}
