//! The words of a line, and what they mean.

use engine::message::command::AmountByName;
use engine::message::command::PodGroup;
use engine::quota::policy::ChildLevelPreemption;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QueueStrategy;
use engine::quota::settings::QuotaSettings;
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

/// The words of a line that have not been read yet.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// The words of a line.
    #[must_use]
    pub fn of(line: &'a str) -> Self {
        let mut rest: Vec<&str> = line.split_whitespace().collect();
        rest.reverse();
        Self { rest }
    }

    /// The next word, which must be there.
    pub fn need(&mut self, what: &str) -> Result<&'a str, String> {
        self.rest.pop().ok_or_else(|| format!("here should be {what}"))
    }

    /// The next word, if there is one.
    pub fn take(&mut self) -> Option<&'a str> {
        self.rest.pop()
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

    /// The name of an offer.
    pub fn offer(&mut self) -> Result<OfferId, String> {
        OfferId::new(self.need("the name of an offer")?).map_err(|bad| bad.to_string())
    }

    /// A period such as `30s`, `5m`, `2h` or `1d`.
    pub fn period(&mut self) -> Result<Millis, String> {
        let word = self.need("a period such as 30s, 5m or 2h")?;
        let wrong = || about(word, "is no period; write for example 30s, 5m or 2h");
        let (number, unit) = word.split_at(word.len().saturating_sub(1));
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

    /// GPUs, as an amount.
    pub fn gpus(&mut self) -> Result<AmountByName, String> {
        gpus(self.need("a number of GPUs")?)
    }

    fn priorities(&mut self) -> Result<PrioritySet, String> {
        priorities(self.need("priorities such as 6-9 or 4")?)
    }

    fn modules(&mut self) -> Result<ModuleSet, String> {
        let word = self.need("modules such as DLC,DSW")?;
        word.split(',').map(module).collect()
    }
}

/// What is wrong with a word, or what should stand there.
pub(crate) fn about(word: &str, complaint: &str) -> String {
    ["\"", word, "\" ", complaint].concat()
}

/// The name of a quota.
pub fn quota(word: &str) -> Result<QuotaId, String> {
    QuotaId::new(word).map_err(|bad| bad.to_string())
}

fn node(word: &str) -> Result<NodeId, String> {
    NodeId::new(word).map_err(|bad| bad.to_string())
}

/// `n0,n1`.
pub fn nodes(word: &str) -> Result<Vec<NodeId>, String> {
    word.split(',').map(node).collect()
}

/// A number of GPUs as an amount.
pub fn gpus(word: &str) -> Result<AmountByName, String> {
    let value = thousandths(word).ok_or_else(|| about(word, "is no number of GPUs"))?;
    Ok(AmountByName::from([("gpu".to_owned(), value)]))
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

/// `16`: one pod of 16 GPUs; `2x8`: two pods of 8.
pub fn pods(word: &str) -> Result<Vec<PodGroup>, String> {
    let mut pods = Vec::new();
    for part in word.split('+') {
        let (count, amount) = part.split_once('x').unwrap_or(("1", part));
        let count = count.parse().map_err(|_| about(count, "is no number of pods"))?;
        pods.push(PodGroup { count, amount: gpus(amount)? });
    }
    Ok(pods)
}

/// What a quota line says beside name, amount and parent.
pub fn settings(words: &mut Words<'_>) -> Result<(Option<QuotaId>, QuotaSettings), String> {
    let mut settings = QuotaSettings { grace_period: Millis::ZERO, ..QuotaSettings::default() };
    let mut parent = None;
    while let Some(word) = words.take() {
        match word {
            "in" => parent = Some(words.quota()?),
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
            "strategy" => settings.strategy = strategy(words.need("a strategy")?)?,
            "no-lending" => settings.lends = false,
            other => {
                return Err(about(
                    other,
                    "is not known here; write in, child-level, self-level, scope, grace, min-runtime, strategy or no-lending",
                ));
            }
        }
    }
    Ok((parent, settings))
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
        assert!(Words::of("soon").period().is_err());
        let counts: Vec<u32> = pods("2x8+1x4").unwrap().iter().map(|pod| pod.count).collect();
        assert_eq!(counts, [2, 1]);
    }
}
