//! What people read of a run, as HTML: no styles and no scripts in it, so that any page may show it.

use std::fmt::Write;

use engine::host::plan::difference::Difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::outcome::Outcome;
use engine::host::plan::run::Run;
use engine::host::plan::run::Step;
use engine::job::phase::Outcome as Ending;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::quantity;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::control::Control;
use crate::control::Kind;
use crate::scenario::Scenario;
use crate::words::Language;
use crate::words::escape;

/// What happens is told line by line up to here.
const LINES_MAX: usize = 12;

/// The controls of a scenario. Each input carries its number, and speaks of its value.
#[must_use]
pub fn controls(scenario: &Scenario, values: &[i64], language: Language) -> String {
    let mut text = String::new();
    for (at, control) in scenario.controls.iter().enumerate() {
        let act = &scenario.acts[control.act];
        let value = values.get(at).copied().unwrap_or(control.value).clamp(control.least, control.most);
        let after = language.after(act.at - scenario.base.from);
        let label = escape(&format!("{after}{}", label(&act.command, language)));
        let Control { kind, least, most, step, .. } = control;
        let _ = if *kind == Kind::Switch {
            let checked = if value > 0 { " checked" } else { "" };
            write!(
                text,
                r#"<label class="switch"><input type="checkbox" data-control="{at}"{checked}> {label}</label>"#
            )
        } else {
            let (per, shown) = (per(*kind), shown(*kind, value, language));
            write!(
                text,
                r#"<label class="range">{label} <b>{shown}</b><input type="range" aria-valuetext="{shown}" data-control="{at}" data-per="{per}" min="{least}" max="{most}" step="{step}" value="{value}"></label>"#
            )
        };
    }
    text
}

/// How many of a control's values are one of what people read.
fn per(kind: Kind) -> i64 {
    match kind {
        Kind::Size | Kind::Move => 1000,
        Kind::Limit | Kind::Price => 1_000_000,
        Kind::Discount | Kind::Inventory | Kind::Switch => 1,
    }
}

/// A control's value. The number comes first, so that a page can replace it while somebody drags.
fn shown(kind: Kind, value: i64, language: Language) -> String {
    match kind {
        Kind::Size | Kind::Move => language.gpus(value),
        Kind::Discount => format!("{value} %"),
        Kind::Limit | Kind::Price => quantity::price(value),
        Kind::Inventory | Kind::Switch => value.to_string(),
    }
}

/// What a command does, before its value.
fn label(command: &Command, language: Language) -> String {
    if let Command::SubmitJob(job) = command {
        let name = &job.job;
        if let Some(spot) = &job.spot {
            let offer = &spot.offer;
            return match language {
                Language::En => format!("{name} bids on {offer}"),
                Language::Zh => format!("{name} 竞价 {offer}"),
            };
        }
        let pods: u32 = job.pods.iter().map(|pods| pods.count).sum();
        return match (language, pods) {
            (Language::En, 1) => format!("{name} asks for"),
            (Language::En, _) => format!("{name} asks for {pods} pods of"),
            (Language::Zh, 1) => format!("{name} 申请"),
            (Language::Zh, _) => format!("{name} 申请 {pods} 个 Pod，每个"),
        };
    }
    if let Command::ScaleQuotas(scale) = command {
        let names: Vec<&str> = scale.targets.iter().map(|target| target.quota.as_str()).collect();
        return match (language, &names[..]) {
            (Language::En, [first, second]) => format!("{first}, the rest of {second}"),
            (Language::Zh, [first, second]) => format!("{first}（其余归 {second}）"),
            (Language::En, _) => format!("scale {}", names.join(", ")),
            (Language::Zh, _) => format!("缩放 {}", names.join("、")),
        };
    }
    let (en, zh, name) = if let Command::PublishPrice(price) = command {
        ("the price of", "价格：", price.offer.as_str())
    } else if let Command::SetInventory(set) = command {
        ("instances of", "实例数：", set.offer.as_str())
    } else if let Command::CancelJob(cancel) = command {
        ("cancel", "取消", cancel.job.as_str())
    } else if let Command::SetPriority(set) = command {
        ("another priority for", "调整优先级：", set.job.as_str())
    } else if let Command::UpdateQuota(update) = command {
        ("other settings for", "调整设置：", update.quota.as_str())
    } else {
        ("the next line", "下一行", "")
    };
    format!("{} {name}", language.pick(en, zh))
}

/// What happens while a scenario is played to its end.
#[derive(Clone, Debug)]
pub struct Story {
    language: Language,
    from: Timestamp,
    lines: Vec<String>,
    left_out: usize,
}

impl Story {
    /// Nothing has happened but what was refused of the scene.
    #[must_use]
    pub fn new(scenario: &Scenario, language: Language) -> Self {
        let mut story = Self { language, from: scenario.base.from, lines: Vec::new(), left_out: 0 };
        for reason in &scenario.refused {
            story.add("refused", &escape(reason));
        }
        story
    }

    /// Goes on for about so many events; whether it is over.
    pub fn play(&mut self, run: &mut Run, events: u64) -> bool {
        let enough = run.tally.events.saturating_add(events);
        while run.tally.events < enough {
            let Some(Step { at, answer, .. }) = run.step() else { return true };
            let after = self.language.after(at - self.from);
            for event in answer.iter().flatten() {
                if let Some((class, line)) = line(run.state(), event, self.language) {
                    self.add(class, &format!("{after}{line}"));
                }
            }
        }
        false
    }

    fn add(&mut self, class: &str, line: &str) {
        if self.lines.len() < LINES_MAX {
            self.lines.push(format!(r#"<li class="{class}">{line}</li>"#));
        } else {
            self.left_out += 1;
        }
    }

    /// What has happened.
    #[must_use]
    pub fn told(mut self, run: &Run) -> String {
        for refusal in &run.refused {
            self.add("refused", &escape(&refusal.rejection.to_string()));
        }
        if self.lines.is_empty() {
            return format!("<p>{}</p>", self.language.pick("Nothing happens.", "什么也不会发生。"));
        }
        let mut text = format!("<ul>{}", self.lines.concat());
        let left_out = self.left_out;
        let _ = match self.language {
            _ if left_out == 0 => Ok(()),
            Language::En => write!(text, "<li>and {left_out} more</li>"),
            Language::Zh => write!(text, "<li>另有 {left_out} 项</li>"),
        };
        text + "</ul>"
    }
}

/// What an event means to people, with its class; nothing for what they see in the picture or do not ask for.
fn line(state: &State, event: &Event, language: Language) -> Option<(&'static str, String)> {
    let name = |job| Some(format!("<b>{}</b>", escape(state.jobs.get(job)?.spec.id.as_str())));
    let told = |class, en: String, zh: String| Some((class, if language == Language::En { en } else { zh }));
    if let Event::Started { job, .. } = event {
        let (name, gpus) = (name(*job)?, language.gpus(state.cluster.gpus(&state.held_by(*job))));
        return told("starts", format!("{name} starts on {gpus}"), format!("{name} 在 {gpus} 上启动"));
    }
    if let Event::Granted { job, .. } = event {
        let name = name(*job)?;
        let en = format!("{name} starts as soon as its victims have stopped");
        return told("starts", en, format!("{name} 在被抢占作业停止后启动"));
    }
    if let Event::Evicted { job, cause, lost_gpu_ms, .. } = event {
        let (name, rule, lost) = (name(*job)?, language.rule(cause), language.work(*lost_gpu_ms));
        let en = format!("{name} is evicted: {rule}; {lost} lost");
        return told("evicted", en, format!("{name} 被抢占：{rule}；损失 {lost}"));
    }
    if let Event::Priced { no, price, .. } = event {
        let (offer, price) = (escape(state.market.offers.get(no.at())?.id.as_str()), quantity::price(*price));
        let en = format!("<b>{offer}</b> costs {price} an instance-minute");
        return told("price", en, format!("<b>{offer}</b> 每实例分钟 {price}"));
    }
    if let Event::Ended { job, outcome: Ending::Succeeded, .. } = event {
        let name = name(*job)?;
        return told("ends", format!("{name} finishes"), format!("{name} 完成"));
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
    let (length, before, after) = (language.period(Millis((is.until - is.from).0)), used(was), used(is));
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
