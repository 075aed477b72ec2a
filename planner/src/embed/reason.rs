//! Why a job waits, and why a change is refused, as a few words behind its name. The engine's own sentences, which say
//! more and say it in English, are for the console.

use engine::explain;
use engine::job::hold::Blocker;
use engine::message::rejection::Noun;
use engine::message::rejection::Rejection;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::quantity::price;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::words::Language;
use crate::words::escape;

/// Why a job waits, as HTML; nothing for a job that does not.
#[must_use]
pub fn wait(state: &State, job: JobNo, now: Timestamp, language: Language) -> Option<String> {
    let hold = explain::hold(state, job, now)?;
    let (en, zh, values) = sentence(&hold.binding()?.blocker, now, language);
    Some(said(language, en, zh, &values))
}

/// What a blocker is called in both languages, and the values for each `$` in it.
fn sentence(blocker: &Blocker, now: Timestamp, language: Language) -> (&'static str, &'static str, Vec<String>) {
    let gpus = |value: &i64| language.gpus((*value).max(0));
    let left = |until: &Timestamp| language.period((*until - now).max(Millis::ZERO));
    match blocker {
        Blocker::LargerThanQuota { quota, asked, min, .. } => (
            "it asks for $; all that $ has is $",
            "申请 $；$ 总共只有 $",
            vec![gpus(asked), quota.to_string(), gpus(min)],
        ),
        Blocker::LargerThanNodes { pods, fit, asked, .. } => (
            "it asks for $ pods of $; empty machines have room for $",
            "申请 $ 个 Pod，每个 $；空机器只放得下 $ 个",
            vec![pods.to_string(), gpus(asked), fit.to_string()],
        ),
        Blocker::Never(_) => ("it can never start as things are", "按现状永远无法启动", Vec::new()),
        Blocker::QuotaFull { quota, asked, free, .. } => {
            ("it asks for $; $ has $ free", "申请 $；$ 空闲 $", vec![gpus(asked), quota.to_string(), gpus(free)])
        }
        Blocker::NoRoom { pods, unsolved: Some(_), .. } => {
            ("no placement was found for its $ pods", "未找到 $ 个 Pod 的放置方案", vec![pods.to_string()])
        }
        Blocker::NoRoom { pods, fit, asked, .. } => (
            "it asks for $ pods of $; the machines have room for $",
            "申请 $ 个 Pod，每个 $；机器只放得下 $ 个",
            vec![pods.to_string(), gpus(asked), fit.to_string()],
        ),
        Blocker::IdleShort { asked, idle, .. } => {
            ("it asks for $; idle are $", "申请 $；闲置 $", vec![gpus(asked), gpus(idle)])
        }
        Blocker::ChildLevelOff { quota } => {
            ("child-level preemption of $ is off", "$ 未开启子级抢占", vec![quota.to_string()])
        }
        Blocker::PriorityNotHigh { quota, priority, high } => (
            "priority $ is not in the High set of $ ($)",
            "优先级 $ 不在 $ 的高优先级集合（$）中",
            vec![priority.to_string(), quota.to_string(), high.to_string()],
        ),
        Blocker::NoVictim { quota, .. } => {
            ("the policy of $ lets it take no running job", "按 $ 的策略没有可抢占的作业", vec![quota.to_string()])
        }
        Blocker::VictimsTooFew { quota, missing, could_free, .. } => (
            "$ are missing; the policy of $ could free $",
            "还缺 $；按 $ 的策略最多腾出 $",
            vec![gpus(missing), quota.to_string(), gpus(could_free)],
        ),
        Blocker::VictimProtected { quota, until, .. } => (
            "$ protects whom it could take for another $",
            "$ 对可抢占作业的保护还有 $",
            vec![quota.to_string(), left(until)],
        ),
        Blocker::WaitingForRelease { job, until } => {
            ("$ is stopping, within $", "$ 正在停止，最多还需 $", vec![job.to_string(), left(until)])
        }
        Blocker::BehindHead { job } => {
            ("$ is at the head of the queue and starts first", "队首的 $ 必须先启动", vec![job.to_string()])
        }
        Blocker::Reserved { job, .. } => {
            ("$ has waited too long and holds a reservation", "$ 等待过久，已预留资源", vec![job.to_string()])
        }
        Blocker::NotSolved { .. } => {
            ("whom to take was not solved in time; it is tried again", "未能及时算出抢占谁，将重试", Vec::new())
        }
        Blocker::Backoff { until } => {
            ("it was evicted and is looked at again in $", "被抢占，$后重新调度", vec![left(until)])
        }
        Blocker::BelowMarket { offer, bid, price: asked, .. } => {
            ("it bids $; $ costs $", "出价 $；$ 的价格是 $", vec![price(*bid), offer.to_string(), price(*asked)])
        }
        Blocker::BelowAverage { offer, bid, average, .. } => (
            "it bids $; $ has cost $ on average",
            "出价 $；$ 的平均价是 $",
            vec![price(*bid), offer.to_string(), price(*average)],
        ),
        Blocker::InventoryShort { offer, asked, free, .. } => (
            "it asks for $ instances; $ has $ free",
            "申请 $ 个实例；$ 空闲 $ 个",
            vec![asked.to_string(), offer.to_string(), free.to_string()],
        ),
        Blocker::NextRound { offer } => ("the next round of $ decides", "由 $ 的下一轮决定", vec![offer.to_string()]),
        Blocker::LeftOver => ("there is room by now; the next round decides", "现在有空位；由下一轮决定", Vec::new()),
        // None of them is the reason that matters most: each comes with one of those above.
        Blocker::IdleOff
        | Blocker::IdleOnly
        | Blocker::NothingLent
        | Blocker::NoChildren { .. }
        | Blocker::SelfLevelOff { .. }
        | Blocker::NoBid => ("nothing is free for it", "没有可用资源", Vec::new()),
    }
}

/// Why a change is refused, as HTML. In Chinese stands what a reader can bring about by moving controls.
#[must_use]
pub fn refusal(rejection: &Rejection, language: Language) -> String {
    let in_english = escape(&rejection.to_string());
    if language == Language::En {
        return in_english;
    }
    if let Rejection::Unknown { noun: Noun::Job, name } = rejection {
        said(language, "", "没有作业 $", std::slice::from_ref(name))
    } else if let Rejection::DoesNotAddUp { quota, needed, from, left, .. } = rejection {
        let values = [quota.clone(), language.gpus(*needed), from.clone(), language.gpus(*left)];
        said(language, "", "$ 需要 $，$ 只剩 $", &values)
    } else {
        format!("<span lang=\"en\">{in_english}</span>")
    }
}

/// One of two sentences as HTML, with these values.
fn said(language: Language, en: &str, zh: &str, values: &[String]) -> String {
    let values: Vec<String> = values.iter().map(|value| escape(value)).collect();
    language.say(en, zh, &values.iter().map(String::as_str).collect::<Vec<_>>())
}
