//! The timeline as a picture: a line for each stretch of time in which a job held GPUs, grouped by what it draws on.

use std::fmt::Write;

use engine::host::plan::outcome::SpanOutcome;
use engine::host::plan::outcome::Timeline;
use engine::job::phase::Charge;
use engine::unit::sort;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use planner::words::Language;
use planner::words::escape;

const WIDTH: i64 = 1000;
const LABEL: i64 = 160;
const LANE: i64 = 18;
const BAR: i64 = 14;
const HEAD: i64 = 22;
/// Lanes that are drawn; beyond, each quota has only its first ones. The table has all stretches.
const LANES_MAX: usize = 48;
/// Lanes of a quota where there are too many.
const LANES_EACH: usize = 6;

/// The picture, as SVG. Its classes get their colours from the page.
#[must_use]
pub fn svg(timeline: &Timeline, from: Timestamp, until: Timestamp) -> String {
    // Of a long run only the first stretches are told: the picture ends with them.
    let told = timeline.spans.iter().map(|span| span.from).max().filter(|_| timeline.left_out > 0);
    let until = told.map_or(until, |told| told.max(from + Millis::MINUTE));
    let shown = fewer(lanes(&timeline.spans));
    let rows = i64::try_from(shown.len()).unwrap_or(0);
    let height = HEAD + rows * LANE + 6;
    let length = (until - from).0.max(1);
    let place = |at: Timestamp| LABEL + (WIDTH - LABEL - 4) * (at - from).0.clamp(0, length) / length;
    let mut text = format!(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-size="12">"#);
    ticks(&mut text, length, height);
    let mut party = "";
    for (row, lane) in (0i64..).zip(&shown) {
        let y = HEAD + row * LANE;
        if let Some(span) = lane.first().filter(|span| span.party != party) {
            party = &span.party;
            let _ = write!(
                text,
                r#"<line class="rule" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}"/><text class="party" x="2" y="{}">{}</text>"#,
                y + 13,
                escape(party),
            );
        }
        for span in lane {
            bar(&mut text, span, y + 2, place(span.from), place(span.until));
        }
    }
    text.push_str("</svg>");
    text
}

/// Stretches in as few lines as possible: each takes the first line of its quota that is free by then.
fn lanes(spans: &[SpanOutcome]) -> Vec<Vec<&SpanOutcome>> {
    let mut order: Vec<&SpanOutcome> = spans.iter().filter(|span| span.until > span.from).collect();
    sort::by(&mut order, |a, b| a.party.cmp(&b.party).then(a.from.cmp(&b.from)));
    let mut lanes: Vec<Vec<&SpanOutcome>> = Vec::new();
    let mut first_of_party = 0;
    for span in order {
        if lanes.last().and_then(|lane| lane.first()).is_some_and(|first| first.party != span.party) {
            first_of_party = lanes.len();
        }
        let is_free = |lane: &Vec<&SpanOutcome>| lane.last().is_none_or(|last| last.until <= span.from);
        match lanes[first_of_party..].iter_mut().find(|lane| is_free(lane)) {
            Some(lane) => lane.push(span),
            None => lanes.push(vec![span]),
        }
    }
    lanes
}

/// At most so many lanes, and something of each quota.
fn fewer(mut lanes: Vec<Vec<&SpanOutcome>>) -> Vec<Vec<&SpanOutcome>> {
    if lanes.len() > LANES_MAX {
        let (mut party, mut count) = ("", 0);
        lanes.retain(|lane| {
            let own = lane.first().map_or("", |span| span.party.as_str());
            count = if own == party { count + 1 } else { 1 };
            party = own;
            count <= LANES_EACH
        });
    }
    lanes.truncate(2 * LANES_MAX);
    lanes
}

fn ticks(text: &mut String, length: i64, height: i64) {
    let step = [60_000, 600_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000, 604_800_000]
        .into_iter()
        .find(|step| length / step <= 10)
        .unwrap_or(30 * 86_400_000);
    let mut at = 0;
    // A last tick at the very edge would have no room for its words.
    while at <= length - step / 2 {
        let x = LABEL + (WIDTH - LABEL - 4) * at / length;
        let words = if at == 0 { "start".to_owned() } else { format!("+{}", Language::En.period(Millis(at))) };
        let _ = write!(
            text,
            r#"<line class="tick" x1="{x}" x2="{x}" y1="{HEAD}" y2="{height}"/><text class="when" x="{x}" y="14">{words}</text>"#,
        );
        at += step;
    }
}

fn bar(text: &mut String, span: &SpanOutcome, y: i64, x: i64, end: i64) {
    let class = match span.charge {
        Charge::InQuota => "in-quota",
        Charge::Idle => "idle",
        Charge::Spot => "spot",
    };
    let (width, name) = ((end - x).max(2), escape(span.job.as_str()));
    let _ = write!(
        text,
        r#"<g class="{class}"><title>{name}: {}</title><rect x="{x}" y="{y}" width="{width}" height="{BAR}" rx="2"/>"#,
        Language::En.gpus(span.gpus),
    );
    if i64::try_from(span.job.as_str().chars().count()).unwrap_or(i64::MAX).saturating_mul(7) < width - 8 {
        let _ = write!(text, r#"<text x="{}" y="{}">{name}</text>"#, x + 4, y + 11);
    }
    if span.evicted.is_some() {
        // A cross, so that it can be told without its colour.
        let (left, right, top, bottom) = (end - 4, end + 4, y + 3, y + 11);
        let _ =
            write!(text, r#"<path class="evicted" d="M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}"/>"#);
    }
    text.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::svg;
    use engine::host::plan::outcome::SpanOutcome;
    use engine::host::plan::outcome::Timeline;
    use engine::job::phase::Charge;
    use engine::unit::id::JobId;
    use engine::unit::time::Timestamp;

    /// So many jobs side by side in each of two quotas, one begun a minute after the other.
    fn timeline(each: i64, left_out: u64) -> Timeline {
        let span = |party: &str, at: i64| SpanOutcome {
            job: JobId::new(&format!("{party}-{at}")).unwrap(),
            party: party.to_owned(),
            gpus: 8_000,
            charge: Charge::InQuota,
            from: Timestamp(at * 60_000),
            until: Timestamp(100_000_000),
            is_open: false,
            evicted: None,
        };
        let spans = ["a", "b"].into_iter().flat_map(|party| (0..each).map(move |at| span(party, at)));
        Timeline { spans: spans.collect(), left_out }
    }

    #[test]
    fn each_quota_is_seen_where_there_are_many_lanes() {
        let picture = svg(&timeline(100, 0), Timestamp(0), Timestamp(100_000_000));
        assert_eq!((picture.matches("<rect").count(), picture.matches("class=\"party\"").count()), (12, 2));
        let picture = svg(&timeline(3, 0), Timestamp(0), Timestamp(100_000_000));
        assert_eq!((picture.matches("<rect").count(), picture.matches("class=\"party\"").count()), (6, 2));
    }

    #[test]
    fn a_picture_ends_where_its_stretches_end() {
        let whole = svg(&timeline(3, 0), Timestamp(0), Timestamp(36_000_000));
        let cut = svg(&timeline(3, 1), Timestamp(0), Timestamp(36_000_000));
        assert!(whole.contains("+4 h") && !cut.contains("+4 h") && cut.contains("+1 min"), "{cut}");
    }
}
