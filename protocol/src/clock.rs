//! Which clusters the clock reaches in a minute, and by which invocations.
//!
//! An invocation may make so many calls and no more: 50 on the smallest plan, 1,000 elsewhere. So the one that cron starts
//! calls clusters itself only as long as they are few. Beyond that it calls helpers, each an invocation with calls of its
//! own, and each helper calls a batch of clusters. If there are more than all helpers reach, the next minute goes on where
//! this one ended: nobody comes twice before everybody has come once.

use crate::name::ClusterName;

/// What the clock calls itself beside clusters and helpers: the list and its copy, read and written, and what came of it.
pub const OVERHEAD: usize = 8;

/// The calls of a minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calls {
    /// The invocation that cron has started calls them itself.
    Direct(Vec<ClusterName>),
    /// Helpers do, each a batch.
    Helped(Vec<Vec<ClusterName>>),
}

/// What a minute does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minute {
    /// Who calls whom.
    pub calls: Calls,
    /// With whom the next minute begins; none if everybody comes in each.
    pub next: Option<ClusterName>,
}

/// What a minute does with clusters `names`, in order, if the minute before has left off before `from`, and an invocation
/// may make `calls_max` calls.
#[must_use]
pub fn minute(names: &[ClusterName], from: Option<&ClusterName>, calls_max: usize) -> Minute {
    let own = calls_max.saturating_sub(OVERHEAD).max(1);
    // Whoever was to begin may be gone: then it is the one after.
    let start = from.map_or(0, |from| names.partition_point(|name| name < from)) % names.len().max(1);
    let all = own.saturating_mul(calls_max.max(1));
    let taken: Vec<ClusterName> = names.iter().cycle().skip(start).take(names.len().min(all)).cloned().collect();
    let next = (taken.len() < names.len()).then(|| names[(start + taken.len()) % names.len()].clone());
    let calls = if taken.len() <= own {
        Calls::Direct(taken)
    } else {
        // All helpers get as many, so that none is at work much longer than the others.
        let size = taken.len().div_ceil(own).max(1);
        Calls::Helped(taken.chunks(size).map(<[ClusterName]>::to_vec).collect())
    };
    Minute { calls, next }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    use super::Calls;
    use super::Minute;
    use super::OVERHEAD;
    use super::minute;
    use crate::name::ClusterName;

    fn names(count: usize) -> Vec<ClusterName> {
        (0..count).map(|number| ClusterName::new(&format!("c{number:06}")).unwrap()).collect()
    }

    /// Those that are called, and how many calls each invocation makes.
    fn called(minute: &Minute) -> (Vec<ClusterName>, Vec<usize>) {
        match &minute.calls {
            Calls::Direct(names) => (names.clone(), vec![names.len() + OVERHEAD]),
            Calls::Helped(batches) => {
                let own = batches.len() + OVERHEAD;
                (batches.concat(), batches.iter().map(Vec::len).chain([own]).collect())
            }
        }
    }

    #[test]
    fn everybody_comes_each_minute_as_long_as_the_platform_allows() {
        for (calls_max, all) in [(50, 42 * 50), (1_000, 992 * 1_000)] {
            for count in [0, 1, 41, 42, 43, 500, 2_100, 2_101, 5_000] {
                let minute = minute(&names(count), None, calls_max);
                let (called, calls) = called(&minute);
                let unlike: BTreeSet<&ClusterName> = called.iter().collect();
                assert_eq!((unlike.len(), called.len()), (count.min(all), count.min(all)), "{count} of {calls_max}");
                assert!(calls.iter().all(|calls| *calls <= calls_max), "{count} of {calls_max}: {calls:?}");
                assert_eq!(minute.next.is_some(), count > all, "{count} of {calls_max}");
                assert_eq!(matches!(minute.calls, Calls::Direct(_)), count <= calls_max - OVERHEAD);
            }
        }
    }

    #[test]
    fn where_not_all_can_come_they_take_turns_whatever_minutes_are_left_out() {
        let names = names(97);
        let mut from = None;
        let mut turns: BTreeMap<ClusterName, usize> = names.iter().map(|name| (name.clone(), 0)).collect();
        for turn in 0..200 {
            let minute = minute(&names, from.as_ref(), OVERHEAD + 2);
            let (called, calls) = called(&minute);
            assert!(calls.iter().all(|calls| *calls <= OVERHEAD + 2));
            // A minute that is lost before anything was called says nothing of where it ended.
            if turn % 2 == 1 {
                continue;
            }
            for name in called {
                *turns.get_mut(&name).unwrap() += 1;
            }
            from = minute.next;
            let (least, most) = (turns.values().min().unwrap(), turns.values().max().unwrap());
            assert!(most - least <= 1, "turn {turn}: {least} to {most}");
        }
        assert!(turns.values().all(|turns| *turns > 10), "{turns:?}");
    }

    #[test]
    fn names_that_come_and_go_do_not_stop_the_turns() {
        let all = names(60);
        let mut from = None;
        let mut last: BTreeMap<ClusterName, usize> = BTreeMap::new();
        for turn in 0..300 {
            // Now and then the one that is to be next is gone, and others are new.
            let here: Vec<ClusterName> =
                all.iter().enumerate().filter(|(at, _)| (at + turn) % 7 != 0).map(|(_, name)| name.clone()).collect();
            let minute = minute(&here, from.as_ref(), OVERHEAD + 1);
            for name in called(&minute).0 {
                let waited = turn - last.insert(name, turn).unwrap_or(turn);
                assert!(waited <= 14, "{waited} minutes");
            }
            from = minute.next;
        }
        assert_eq!(last.len(), all.len());
    }

    #[test]
    fn a_plan_that_allows_next_to_nothing_calls_one_at_a_time() {
        let minute = minute(&names(3), None, 0);
        assert_eq!(called(&minute).0.len(), 1);
    }
}
