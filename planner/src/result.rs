//! What people read of a run, as HTML: no styles and no scripts in it, so that any page may show it.

use std::fmt::Write;

use engine::host::plan::difference::Difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Run;
use engine::message::event::Event;
use engine::state::world::State;

use crate::document::Control;
use crate::document::Document;
use crate::words::Language;
use crate::words::escape;

/// Consequences that are told one by one.
const LINES_MAX: usize = 8;

/// The controls of a document. Each input carries its number, and speaks of its value.
#[must_use]
pub fn controls(document: &Document, state: &State, language: Language) -> String {
    let mut text = String::new();
    for (at, control) in document.controls.iter().enumerate() {
        let value = document.value(at, state);
        let _ = match control {
            Control::Move { takes, gives, least, most, step, .. } => {
                let (takes, gives) = (escape(takes.as_str()), escape(gives.as_str()));
                let label = match language {
                    Language::En => format!("{takes}, the rest of {gives}"),
                    Language::Zh => format!("{takes}（其余归 {gives}）"),
                };
                range(&mut text, at, &label, (*least, *most, *step), value, language)
            }
            Control::Size { job, most, step, .. } => {
                let name = escape(job.job.as_str());
                let label = match language {
                    Language::En => format!("{name} asks for"),
                    Language::Zh => format!("{name} 申请"),
                };
                range(&mut text, at, &label, (0, *most, *step), value, language)
            }
            Control::Switch { label, .. } => write!(
                text,
                r#"<label class="switch"><input type="checkbox" data-control="{at}"{}> {}</label>"#,
                if value > 0 { " checked" } else { "" },
                escape(language.of(label)),
            ),
        };
    }
    text
}

fn range(
    text: &mut String,
    at: usize,
    label: &str,
    (least, most, step): (i64, i64, i64),
    value: i64,
    language: Language,
) -> std::fmt::Result {
    write!(
        text,
        r#"<label class="range">{label} <output>{}</output><input type="range" data-control="{at}" min="{least}" max="{most}" step="{step}" value="{value}"></label>"#,
        language.gpus(value),
    )
}

/// What the changes come to at once.
#[must_use]
pub fn events(run: &Run, events: &[Event], language: Language) -> String {
    let mut lines: Vec<String> = run
        .refused
        .iter()
        .map(|refusal| format!("<li class=\"refused\">{}</li>", escape(&refusal.rejection.to_string())))
        .collect();
    lines.extend(events.iter().filter_map(|event| line(run.state(), event, language)));
    let left_out = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    if left_out > 0 {
        lines.push(match language {
            Language::En => format!("<li>and {left_out} more</li>"),
            Language::Zh => format!("<li>另有 {left_out} 项</li>"),
        });
    }
    if lines.is_empty() {
        return format!("<p>{}</p>", language.pick("Nothing changes at once.", "不会立即产生变化。"));
    }
    format!("<ul>{}</ul>", lines.concat())
}

fn line(state: &State, event: &Event, language: Language) -> Option<String> {
    let name = |job| Some(escape(state.jobs.get(job)?.spec.id.as_str()));
    if let Event::Started { job, .. } = event {
        let (name, gpus) = (name(*job)?, language.gpus(state.cluster.gpus(&state.held_by(*job))));
        return Some(match language {
            Language::En => format!("<li class=\"starts\"><b>{name}</b> starts on {gpus}</li>"),
            Language::Zh => format!("<li class=\"starts\"><b>{name}</b> 在 {gpus} 上启动</li>"),
        });
    }
    if let Event::Granted { job, .. } = event {
        let name = name(*job)?;
        return Some(match language {
            Language::En => {
                format!("<li class=\"starts\"><b>{name}</b> starts as soon as its victims have stopped</li>")
            }
            Language::Zh => format!("<li class=\"starts\"><b>{name}</b> 在被抢占作业停止后启动</li>"),
        });
    }
    if let Event::Evicted { job, cause, lost_gpu_ms, .. } = event {
        let (name, rule, lost) = (name(*job)?, language.rule(cause), language.work(*lost_gpu_ms));
        return Some(match language {
            Language::En => format!("<li class=\"evicted\"><b>{name}</b> is evicted: {rule}; {lost} lost</li>"),
            Language::Zh => format!("<li class=\"evicted\"><b>{name}</b> 被抢占：{rule}；损失 {lost}</li>"),
        });
    }
    None
}

/// The result: a sentence, and a table of quotas and offers.
#[must_use]
pub fn result(was: &Outcome, is: &Outcome, difference: &Difference, language: Language) -> String {
    let mut text = format!("<p class=\"verdict\">{}</p>", sentence(was, is, difference, language));
    let head: [(&str, &str); 6] = [
        ("Quota", "配额"),
        ("Wait, half of the jobs", "等待（中位数）"),
        ("Wait, 95 of 100", "等待（95 分位）"),
        ("Evictions", "抢占次数"),
        ("Work lost", "损失"),
        ("Verdict", "结论"),
    ];
    let caption = language.pick("Before and after the change", "变更前后");
    let _ = write!(text, "<table><caption>{caption}</caption><thead><tr>");
    for (en, zh) in head {
        let _ = write!(text, "<th scope=\"col\">{}</th>", language.pick(en, zh));
    }
    text.push_str("</tr></thead><tbody>");
    for party in &difference.parties {
        let of =
            |outcome: &Outcome| outcome.parties.iter().find(|known| known.name == party.name).map(|known| known.waits);
        let (before, after) = (of(was).unwrap_or_default(), of(is).unwrap_or_default());
        let _ = write!(text, "<tr class=\"{}\"><th scope=\"row\">{}</th>", class(party.verdict), escape(&party.name));
        cell(&mut text, &language.period(before.p50), &language.period(after.p50));
        cell(&mut text, &language.period(before.p95), &language.period(after.p95));
        cell(&mut text, &party.before.evictions.to_string(), &party.after.evictions.to_string());
        cell(&mut text, &language.work(party.before.lost_gpu_ms), &language.work(party.after.lost_gpu_ms));
        let _ = write!(text, "<td>{}</td></tr>", language.verdict(party.verdict));
    }
    text.push_str("</tbody></table>");
    text
}

fn cell(text: &mut String, before: &str, after: &str) {
    if before == after {
        let _ = write!(text, "<td>{before}</td>");
    } else {
        let _ = write!(text, "<td><del>{before}</del> <ins>{after}</ins></td>");
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Wins => "wins",
        Verdict::Loses => "loses",
        Verdict::Same | Verdict::New | Verdict::Gone => "same",
    }
}

fn sentence(was: &Outcome, is: &Outcome, difference: &Difference, language: Language) -> String {
    let Difference { winners, losers, .. } = difference;
    let used = |outcome: &Outcome| percent(outcome.all.used_gpu_ms, outcome.offered_gpu_ms);
    let (length, before, after) =
        (language.period(engine::unit::time::Millis((is.until - is.from).0)), used(was), used(is));
    match language {
        Language::En => format!(
            "In {length}: {winners} better off, {losers} worse off (jobs); GPU use {before} % → {after} %; {} → {} evictions.",
            was.all.evictions, is.all.evictions
        ),
        Language::Zh => format!(
            "{length}内：{winners} 个作业受益，{losers} 个受损；GPU 使用率 {before} % → {after} %；抢占 {} → {} 次。",
            was.all.evictions, is.all.evictions
        ),
    }
}

fn percent(part: i64, whole: i64) -> i64 {
    i64::try_from(i128::from(part) * 100 / i128::from(whole.max(1))).unwrap_or(0)
}
