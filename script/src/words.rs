//! The words of a line, and what they mean.

use engine::message::command::AmountByName;
use engine::message::command::PodGroup;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
use engine::unit::id::GroupId;
use engine::unit::id::JobId;
use engine::unit::id::NodeId;
use engine::unit::id::OfferId;
use engine::unit::id::QuotaId;
use engine::unit::priority::Module;
use engine::unit::priority::ModuleSet;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::time::Millis;

use engine::unit::decimal::thousandths;

use crate::about::about;
use crate::amount;
use crate::fault::Fault;
use crate::fault::offset;

/// The words of a line that have not been read yet.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    line: &'a str,
    rest: Vec<&'a str>,
    /// Where the word begins that was read last, in bytes; or where one is missing.
    at: usize,
}

impl<'a> Words<'a> {
    /// The words of a line, as far as no remark begins.
    #[must_use]
    pub fn of(line: &'a str) -> Self {
        let is_said = |word: &&str| !word.starts_with('#');
        let mut rest: Vec<&str> = line.split_whitespace().take_while(is_said).collect();
        rest.reverse();
        Self { line, rest, at: 0 }
    }

    /// The next word, which must be there.
    pub fn need(&mut self, what: &str) -> Result<&'a str, String> {
        let end = self.at;
        self.take().ok_or_else(|| {
            // Behind the last word, with a space between them.
            self.at =
                end + self.line.get(end..).and_then(|rest| rest.split_whitespace().next()).map_or(0, str::len) + 1;
            format!("here should be {what}")
        })
    }

    /// The next word, if there is one.
    pub fn take(&mut self) -> Option<&'a str> {
        let word = self.rest.pop()?;
        self.at = offset(self.line, word);
        Some(word)
    }

    /// A complaint about the word that was read last, or that is missing.
    #[must_use]
    pub fn fault(&self, reason: String) -> Fault {
        let behind = self.at.saturating_sub(self.line.len());
        let mut fault = Fault::at(self.line, self.at.min(self.line.len()), reason);
        fault.column = fault.column.map(|column| column + behind);
        fault
    }

    /// Whether all words have been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The line ends here.
    pub fn end(&mut self) -> Result<(), String> {
        self.take().map_or(Ok(()), |word| Err(about(word, "is one word too many")))
    }

    /// The name of a job.
    pub fn job(&mut self) -> Result<JobId, String> {
        JobId::new(self.need("the name of a job")?).map_err(|bad| bad.to_string())
    }

    /// The name of a quota.
    pub fn quota(&mut self) -> Result<QuotaId, String> {
        quota(self.need("the name of a quota")?)
    }

    /// The name of a node.
    pub fn node(&mut self) -> Result<NodeId, String> {
        node(self.need("the name of a node")?)
    }

    /// The name of a resource group.
    pub fn group(&mut self) -> Result<GroupId, String> {
        group(self.need("the name of a resource group")?)
    }

    /// The name of an offer.
    pub fn offer(&mut self) -> Result<OfferId, String> {
        OfferId::new(self.need("the name of an offer")?).map_err(|bad| bad.to_string())
    }

    /// A period such as `30s`, `5m`, `2h` or `1d`.
    pub fn period(&mut self) -> Result<Millis, String> {
        let word = self.need("a period such as 30s, 5m or 2h")?;
        let wrong = || about(word, "is no period; write for example 30s, 5m or 2h");
        let (number, unit) = word.split_at(word.char_indices().last().map_or(0, |(at, _)| at));
        let unit_ms = match unit {
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        let thousandths = thousandths(number).ok_or_else(wrong)?;
        thousandths.checked_mul(unit_ms / 1000).map(Millis).ok_or_else(wrong)
    }

    /// An amount, of GPUs if it says no more.
    pub fn amount(&mut self) -> Result<AmountByName, String> {
        amount::read(self.need("a number of GPUs")?)
    }

    /// The words that are left, as one.
    pub fn rest(&mut self) -> String {
        self.rest.reverse();
        std::mem::take(&mut self.rest).join(" ")
    }

    fn priorities(&mut self) -> Result<PrioritySet, String> {
        priorities(self.need("priorities such as 6-9 or 4")?)
    }

    fn modules(&mut self) -> Result<ModuleSet, String> {
        let word = self.need("modules such as DLC,DSW")?;
        word.split(',').map(module).collect()
    }
}

/// The name of a quota.
pub fn quota(word: &str) -> Result<QuotaId, String> {
    QuotaId::new(word).map_err(|bad| bad.to_string())
}

fn node(word: &str) -> Result<NodeId, String> {
    NodeId::new(word).map_err(|bad| bad.to_string())
}

fn group(word: &str) -> Result<GroupId, String> {
    GroupId::new(word).map_err(|bad| bad.to_string())
}

/// `n0,n1`.
pub fn nodes(word: &str) -> Result<Vec<NodeId>, String> {
    word.split(',').map(node).collect()
}

/// `6-9`, `4`, `1,3,5`.
pub fn priorities(word: &str) -> Result<PrioritySet, String> {
    let one = |text: &str| -> Result<Priority, String> {
        let value: i64 = text.parse().map_err(|_| about(text, "is no priority; write 1 to 9"))?;
        Priority::new(value).map_err(|bad| bad.to_string())
    };
    let mut set: Vec<Priority> = Vec::new();
    for part in word.split(',') {
        match part.split_once('-') {
            Some((low, high)) => set.extend(PrioritySet::range(one(low)?, one(high)?).iter()),
            None => set.push(one(part)?),
        }
    }
    Ok(set.into_iter().collect())
}

/// A module by its abbreviation.
pub fn module(word: &str) -> Result<Module, String> {
    Module::ALL
        .into_iter()
        .find(|module| module.as_str() == word)
        .ok_or_else(|| about(word, "is not one of DLC, DSW, EAS"))
}

/// `p5`.
pub fn priority(word: &str) -> Result<Priority, String> {
    let number = word.strip_prefix('p').unwrap_or(word);
    let value: i64 = number.parse().map_err(|_| about(word, "is no priority; write p1 to p9"))?;
    Priority::new(value).map_err(|bad| bad.to_string())
}

/// `16`: one pod of 16 GPUs; `2x8`: two pods of 8; `1x0,cpu=4+2x8`: one without GPUs beside them.
pub fn pods(word: &str) -> Result<Vec<PodGroup>, String> {
    let mut pods = Vec::new();
    for part in word.split('+') {
        // The name of a dimension may have an x in it.
        let counted = part.split_once('x').filter(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()));
        let (count, amount) = counted.unwrap_or(("1", part));
        let count = count.parse().map_err(|_| about(count, "is no number of pods"))?;
        pods.push(PodGroup { count, amount: amount::read(amount)? });
    }
    Ok(pods)
}

/// What a line says of a quota beside its name and its amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its parent; none for a root.
    pub parent: Option<QuotaId>,
    /// The resource groups that a root draws on, if it names them.
    pub groups: Vec<GroupId>,
    /// Its settings.
    pub settings: QuotaSettings,
}

/// What a quota line says beside name and amount.
pub fn told(words: &mut Words<'_>) -> Result<Told, String> {
    let mut told = Told {
        parent: None,
        groups: Vec::new(),
        settings: QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() },
    };
    let Told { parent, groups, settings } = &mut told;
    while let Some(word) = words.take() {
        match word {
            "in" => *parent = Some(words.quota()?),
            "from" => {
                let named = words.need("resource groups")?;
                *groups = named.split(',').map(group).collect::<Result<_, _>>()?;
            }
            "child-level" => {
                settings.child_level =
                    Some(ChildLevelPreemption { preemptible: words.priorities()?, modules: words.modules()? });
            }
            "self-level" => settings.self_level = Some(self_level(words)?),
            "scope" => {
                let scope = scope(words.need("a scope")?)?;
                let policy = settings.self_level.as_mut().ok_or("scope belongs after self-level")?;
                policy.scope = scope;
            }
            "grace" => settings.grace_period = words.period()?,
            "min-runtime" => settings.min_runtime = words.period()?,
            "starvation" => settings.starvation_after = words.period()?,
            "strategy" => settings.strategy = strategy(words.need("a strategy")?)?,
            "no-lending" => settings.lends = false,
            other => {
                return Err(about(
                    other,
                    "is not known here; write in, from, child-level, self-level, scope, grace, min-runtime, starvation, strategy or no-lending",
                ));
            }
        }
    }
    Ok(told)
}

/// What a line changes of a quota's settings.
pub fn settings(words: &mut Words<'_>) -> Result<QuotaSettings, String> {
    let Told { parent, groups, settings } = told(words)?;
    if parent.is_some() || !groups.is_empty() {
        return Err("a quota keeps its parent and its resource groups; leave out in and from".to_owned());
    }
    Ok(settings)
}

fn self_level(words: &mut Words<'_>) -> Result<SelfLevelPreemption, String> {
    let high = words.priorities()?;
    match words.need("the word over")? {
        "over" => {}
        other => return Err(about(other, "should be over, as in self-level 6-9 over 4 DLC,DSW")),
    }
    Ok(SelfLevelPreemption { high, low: words.priorities()?, modules: words.modules()?, scope: Scope::default() })
}

fn scope(word: &str) -> Result<Scope, String> {
    match word {
        "own" => Ok(Scope::Own),
        "same-level" => Ok(Scope::SameLevel),
        "siblings-idle" => Ok(Scope::SiblingsIdle),
        other => Err(about(other, "is not one of own, same-level, siblings-idle")),
    }
}

fn strategy(word: &str) -> Result<QueueStrategy, String> {
    match word {
        "intelligent" => Ok(QueueStrategy::Intelligent),
        "strict-fifo" => Ok(QueueStrategy::StrictFifo),
        "round-robin" => Ok(QueueStrategy::RoundRobin),
        "balance" => Ok(QueueStrategy::Balance),
        other => Err(about(other, "is not one of intelligent, strict-fifo, round-robin, balance")),
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use super::pods;
    use super::priorities;
    use super::settings;

    #[test]
    fn priority_sets() {
        assert_eq!(priorities("6-9").unwrap().to_string(), "6 to 9");
        assert_eq!(priorities("4").unwrap().to_string(), "exactly 4");
        assert_eq!(priorities("1,3,5").unwrap().to_string(), "1, 3 and 5");
        assert!(priorities("0-3").is_err());
    }

    #[test]
    fn periods_and_pods() {
        assert_eq!(Words::of("1.5h").period().unwrap().0, 5_400_000);
        for wrong in ["soon", "2€", "€", "s"] {
            assert!(Words::of(wrong).period().is_err(), "{wrong}");
        }
        let counts: Vec<u32> = pods("2x8+1x4").unwrap().iter().map(|pod| pod.count).collect();
        assert_eq!(counts, [2, 1]);
        let counts: Vec<u32> = pods("rtx=1+3xrtx=2").unwrap().iter().map(|pod| pod.count).collect();
        assert_eq!(counts, [1, 3]);
        assert_eq!(pods("x8").unwrap_err(), "\"\" is no number of pods");
    }

    #[test]
    fn a_remark_may_stand_behind_a_line() {
        let mut words = Words::of("round # it starts");
        assert_eq!((words.take(), words.take()), (Some("round"), None));
    }

    #[test]
    fn a_quota_keeps_its_parent() {
        assert_eq!(
            settings(&mut Words::of("grace 1m in Other")).unwrap_err(),
            "a quota keeps its parent and its resource groups; leave out in and from"
        );
    }
}
