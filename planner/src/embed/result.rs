//! What people read of a run, as HTML: no styles and no scripts in it, so that any page may show it.

use std::fmt::Write;

use engine::host::plan::difference;
use engine::host::plan::difference::Verdict;
use engine::host::plan::outcome::PartyOutcome;
use engine::host::plan::run::Run;
use engine::host::plan::run::Step;
use engine::job::phase::Outcome as Ending;
use engine::message::command::Command;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::quantity;
use engine::unit::time::Timestamp;

use crate::embed::control::Control;
use crate::embed::control::Kind;
use crate::embed::reason;
use crate::embed::scenario::Scenario;
use crate::words::Language;
use crate::words::escape;

/// What happens is told line by line up to here.
const LINES_MAX: usize = 12;
/// Jobs of which it is told why they wait; the picture counts no more.
const WAITING_MAX: usize = 8;

/// The controls of a scenario. Each input carries its number, and speaks of its value.
#[must_use]
pub fn controls(scenario: &Scenario, values: &[i64], language: Language) -> String {
    let mut text = String::new();
    for (at, (control, act)) in scenario.controls.iter().zip(&scenario.acts).enumerate() {
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
    let (en, zh, name) = if let Command::SubmitJob(job) = command {
        let name = job.job.as_str();
        if let Some(spot) = &job.spot {
            return language.say("$ bids on $", "$ 竞价 $", &[name, spot.offer.as_str()]);
        }
        let pods: u32 = job.pods.iter().map(|pods| pods.count).sum();
        if pods != 1 {
            return language.say("$ asks for $ pods of", "$ 申请 $ 个 Pod，每个", &[name, &pods.to_string()]);
        }
        ("$ asks for", "$ 申请", name)
    } else if let Command::ScaleQuotas(scale) = command {
        let names: Vec<&str> = scale.targets.iter().map(|target| target.quota.as_str()).collect();
        if let [_, _] = names[..] {
            return language.say("$, the rest of $", "$（其余归 $）", &names);
        }
        return language.say("scale $", "缩放 $", &[&names.join(language.pick(", ", "、"))]);
    } else if let Command::PublishPrice(price) = command {
        ("the price of $", "价格：$", price.offer.as_str())
    } else if let Command::SetInventory(set) = command {
        ("instances of $", "实例数：$", set.offer.as_str())
    } else if let Command::CancelJob(cancel) = command {
        ("cancel $", "取消 $", cancel.job.as_str())
    } else if let Command::SetPriority(set) = command {
        ("another priority for $", "调整优先级：$", set.job.as_str())
    } else if let Command::ResizeJob(resize) = command {
        ("another number of pods for $", "调整 Pod 数：$", resize.job.as_str())
    } else if let Command::UpdateQuota(update) = command {
        ("other settings for $", "调整设置：$", update.quota.as_str())
    } else {
        ("the next line", "下一行", "")
    };
    language.say(en, zh, &[name])
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
        for rejection in &scenario.refused {
            story.add("refused", &reason::refusal(rejection, language));
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
            self.add("refused", &reason::refusal(&refusal.rejection, self.language));
        }
        if self.lines.is_empty() {
            return format!("<p>{}</p>", self.language.pick("Nothing happens.", "什么也不会发生。")) + &self.waits(run);
        }
        let mut text = format!("<ul>{}", self.lines.concat());
        if self.left_out > 0 {
            text += &self.language.say("<li>and $ more</li>", "<li>另有 $ 项</li>", &[&self.left_out.to_string()]);
        }
        text + "</ul>" + &self.waits(run)
    }

    /// Who waits at the end, each with the reason.
    fn waits(&self, run: &Run) -> String {
        let state = run.state();
        let mut text = String::new();
        for (no, job) in state.jobs.iter().filter(|(_, job)| job.is_queued()).take(WAITING_MAX) {
            if let Some(reason) = reason::wait(state, no, run.now(), self.language) {
                let name = escape(job.spec.id.as_str());
                let (en, zh) = ("<li><b>$</b> waits: $</li>", "<li><b>$</b> 等待：$</li>");
                text += &self.language.say(en, zh, &[&name, &reason]);
            }
        }
        if text.is_empty() { text } else { format!("<ul class=\"waits\">{text}</ul>") }
    }
}

/// What an event means to people, with its class; nothing for what they see in the picture or do not ask for.
fn line(state: &State, event: &Event, language: Language) -> Option<(&'static str, String)> {
    let name = |job| Some(escape(state.jobs.get(job)?.spec.id.as_str()));
    let told = |class, en, zh, values: &[&str]| Some((class, language.say(en, zh, values)));
    if let Event::Started { job, .. } = event {
        let gpus = language.gpus(state.cluster.gpus(&state.held_by(*job)));
        return told("starts", "<b>$</b> starts on $", "<b>$</b> 在 $ 上启动", &[&name(*job)?, &gpus]);
    }
    if let Event::Granted { job, .. } = event {
        let (en, zh) = ("<b>$</b> starts as soon as its victims have stopped", "<b>$</b> 在被抢占作业停止后启动");
        return told("starts", en, zh, &[&name(*job)?]);
    }
    if let Event::Evicted { job, cause, lost_gpu_ms, .. } = event {
        let (rule, lost) = (language.rule(cause), language.work(*lost_gpu_ms));
        let (en, zh) = ("<b>$</b> is evicted: $; $ lost", "<b>$</b> 被抢占：$；损失 $");
        return told("evicted", en, zh, &[&name(*job)?, rule, &lost]);
    }
    if let Event::Priced { no, price, .. } = event {
        let (offer, price) = (escape(state.market.offers.get(no.at())?.id.as_str()), quantity::price(*price));
        return told("price", "<b>$</b> costs $ an instance-minute", "<b>$</b> 每实例分钟 $", &[&offer, &price]);
    }
    if let Event::Ended { job, outcome: Ending::Succeeded, .. } = event {
        return told("ends", "<b>$</b> finishes", "<b>$</b> 完成", &[&name(*job)?]);
    }
    None
}

/// The result of two runs that are over: a sentence, and a table of quotas and offers.
#[must_use]
pub fn result(before: &Run, after: &Run, language: Language) -> String {
    let (was, is) = (PartyOutcome::all(before), PartyOutcome::all(after));
    let mut text = format!("<p class=\"verdict\">{}</p>", sentence((before, &was), (after, &is), language));
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
    for party in difference::parties(before, after) {
        let is_same = |known: &&PartyOutcome| known.name == party.name && known.is_offer == party.is_offer;
        let of = |parties: &[PartyOutcome]| parties.iter().find(is_same).map(|known| known.waits);
        let (before, after) = (of(&was).unwrap_or_default(), of(&is).unwrap_or_default());
        let _ = write!(text, "<tr class=\"{}\"><th scope=\"row\">{}</th>", class(party.verdict), escape(&party.name));
        cell(&mut text, &language.wait(before.p50), &language.wait(after.p50));
        cell(&mut text, &language.wait(before.p95), &language.wait(after.p95));
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

fn sentence(was: (&Run, &[PartyOutcome]), is: (&Run, &[PartyOutcome]), language: Language) -> String {
    let changed = difference::changed(was.0, is.0);
    let count = |wanted: Verdict| changed.iter().filter(|(.., verdict)| *verdict == wanted).count() as u64;
    let used = |(run, parties): (&Run, &[PartyOutcome])| {
        let used = parties.iter().map(|party| i128::from(party.account.used_gpu_ms)).sum();
        percent(used, run.tally.offered_gpu_ms)
    };
    let evictions = |parties: &[PartyOutcome]| parties.iter().map(|party| party.account.evictions).sum::<u64>();
    let counts = [count(Verdict::Wins), count(Verdict::Loses), used(was), used(is), evictions(was.1), evictions(is.1)];
    let length = language.period(is.0.now() - is.0.tally.from);
    let [winners, losers, before, after, evicted, evicts] = &counts.map(|number| number.to_string());
    language.say(
        "In $: $ better off, $ worse off (jobs); GPU use $ % → $ %; $ → $ evictions.",
        "$内：$ 个作业受益，$ 个受损；GPU 使用率 $ % → $ %；抢占 $ → $ 次。",
        &[&length, winners, losers, before, after, evicted, evicts],
    )
}

fn percent(part: i128, whole: i64) -> u64 {
    u64::try_from(part * 100 / i128::from(whole.max(1))).unwrap_or(0)
}
