//! The order of preemption: running jobs by what they would free, in the order in which they would be taken.
//!
//! A preemptor looks at the least valuable jobs of each size, never at everybody who runs. Most jobs lose what they
//! have done since they started, so that among equals the newest is always the cheapest, whatever the time is: these
//! are kept in order. What the others lose depends on the time, and is worked out when somebody asks.

use std::cmp::Reverse;

use crate::job::phase::Phase;
use crate::job::spec::IdlePolicy;
use crate::ledger::Sign;
use crate::state::cluster::Execution;
use crate::state::jobs::Job;
use crate::unit::amount::Amount;
use crate::unit::id::JobId;
use crate::unit::id::JobNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::ordered::Set;
use crate::unit::priority::Module;
use crate::unit::priority::Priority;
use crate::unit::time::Timestamp;

/// A job's place among its equals: the newest start first, then by name.
pub type Turn = (Reverse<Timestamp>, JobId, JobNo);

/// Running jobs with one kind of charge in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreemptionOrder {
    /// Jobs that lose all that they have done since they started, by what a rule asks and by what they free.
    equals: Map<(Priority, Module, Amount), Set<Turn>>,
    /// Jobs with checkpoints, or with pods above their minimum.
    others: Set<(Priority, JobNo)>,
}

impl PreemptionOrder {
    /// All jobs.
    pub fn jobs(&self) -> impl Iterator<Item = JobNo> + '_ {
        let equals = self.equals.values().flatten().map(|(_, _, no)| *no);
        equals.chain(self.others.iter().map(|(_, no)| *no))
    }

    /// Jobs of a priority that free the same and cost the less the newer they are, with module and amount.
    pub fn equals(&self, priority: Priority) -> impl Iterator<Item = (Module, &Amount, &Set<Turn>)> {
        let first = (priority, Module::ALL[0], Amount::MIN);
        let of_priority = self.equals.range_from(&first).take_while(move |((of, ..), _)| *of == priority);
        of_priority.map(|((_, module, amount), turns)| (*module, amount, turns))
    }

    /// The other jobs of a priority.
    pub fn others(&self, priority: Priority) -> impl Iterator<Item = JobNo> + '_ {
        self.others.range_from(&(priority, JobNo(0))).take_while(move |(of, _)| *of == priority).map(|(_, no)| *no)
    }

    /// Lists a running job, or takes it off the list.
    pub(super) fn list(&mut self, no: JobNo, job: &Job, execution: Execution, sign: Sign) {
        let Phase::Running { started, extra, checkpointed, .. } = &job.phase else { return };
        let spec = &job.spec;
        let has_checkpoints =
            checkpointed.is_some() || (execution == Execution::Simulated && spec.checkpoint.is_some());
        if has_checkpoints || !extra.is_empty() {
            match sign {
                Sign::Add => self.others.insert((spec.priority, no)),
                Sign::Remove => self.others.remove(&(spec.priority, no)),
            };
            return;
        }
        let key = (spec.priority, spec.module, spec.shape.gang_amount());
        list(&mut self.equals, key, (Reverse(*started), spec.id.clone(), no), sign);
    }
}

/// Who is entitled to go in quota next among idle jobs of one quota and one size.
pub type Claim = (Reverse<Priority>, Timestamp, JobId, JobNo);

/// Jobs that run on idle amounts though they may use their quota, by quota and by what they ask of it.
pub type Entitled = Map<(QuotaNo, Amount), Set<Claim>>;

/// Lists a job that runs on idle amounts among those that would rather be in quota, or takes it off the list.
pub(super) fn list_entitled(entitled: &mut Entitled, no: JobNo, job: &Job, sign: Sign) {
    let Phase::Running { started, .. } = &job.phase else { return };
    let spec = &job.spec;
    if spec.idle == IdlePolicy::Acceptable {
        let claim = (Reverse(spec.priority), *started, spec.id.clone(), no);
        list(entitled, (spec.quota, spec.shape.gang_amount()), claim, sign);
    }
}

fn list<K: Ord, T: Ord>(lists: &mut Map<K, Set<T>>, key: K, member: T, sign: Sign) {
    match sign {
        Sign::Add => {
            lists.or_default(key).insert(member);
        }
        Sign::Remove => {
            if let Some(members) = lists.get_mut(&key) {
                members.remove(&member);
                if members.is_empty() {
                    lists.remove(&key);
                }
            }
        }
    }
}
