//! Scale: the targets of one command are one set, in whichever order they are written; and the cheapest jobs that cover
//! all of them together go.

use std::collections::BTreeSet;

use engine::host::authority;
use engine::job::phase::Charge;
use engine::job::phase::Phase;
use engine::message::command::Command;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::event::Event;
use engine::state::world::State;
use engine::transition;
use engine::unit::id::QuotaNo;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::ground::Part;
use crate::history::are_few;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;
use crate::run::by_name;

/// Several quotas of a run's tree, each with less than it has: none of them, or a part.
fn targets(random: &mut Random, state: &State) -> Vec<ScaleTarget> {
    let mut targets = Vec::new();
    let mut shrunk: BTreeSet<usize> = BTreeSet::new();
    let quotas: Vec<usize> = (0..state.quotas.len()).filter(|&no| !state.quotas[no].is_deleted).collect();
    for _ in 0..if quotas.is_empty() { 0 } else { random.between(2, 4) } {
        let no = random.pick(&quotas);
        if shrunk.insert(no) {
            let quota = &state.quotas[no];
            let mut min = by_name(state, &quota.min.amount, Some(quota.min.stated));
            let percent = random.pick(&[0, 25, 50, 75]);
            min.values_mut().for_each(|value| *value = *value * percent / 100 / 250 * 250);
            targets.push(ScaleTarget { quota: quota.id.clone(), min });
        }
    }
    targets
}

fn scale(state: &State, targets: &[ScaleTarget], now: Timestamp) -> Option<Vec<Event>> {
    let command = ScaleQuotas { targets: targets.to_vec(), mode: ScaleMode::Evict };
    transition::decide(state, &Command::ScaleQuotas(command), now).ok()
}

/// The parts that go.
fn gone(state: &State, events: &[Event]) -> BTreeSet<Part> {
    let mut gone = BTreeSet::new();
    for event in events {
        if let Event::Evicted { job, .. } = event {
            let Phase::Running { extra, .. } = &state.jobs[*job].phase else { continue };
            gone.insert((*job, None));
            gone.extend((0u32..).zip(&**extra).map(|(at, _)| (*job, Some(at))));
        } else if let Event::Shrunk { job, pods, .. } = event {
            gone.extend(pods.iter().map(|pod| (*job, Some(*pod))));
        }
    }
    gone
}

/// A run, and what is asked of it.
fn cases(count: u64, mut check: impl FnMut(&Run, &[ScaleTarget], &[Event])) {
    for seed in seeds(count) {
        let mut random = Random::new(seed ^ 0x5ca1e);
        let commands = usize::try_from(random.between(50, 110)).unwrap();
        let run = Run::after(seed % 400, commands);
        for _ in 0..6 {
            let targets = targets(&mut random, &run.state);
            if let Some(events) = scale(&run.state, &targets, run.now) {
                check(&run, &targets, &events);
            }
        }
    }
}

#[test]
fn the_order_of_a_scales_targets_changes_nothing() {
    let mut n_evicting = 0;
    cases(800, |run, targets, events| {
        let mut turned = targets.to_vec();
        for turn in 0..targets.len() * 2 {
            // All turns, and all turns backwards: of up to three targets these are all orders.
            turned.rotate_left(1);
            if turn == targets.len() {
                turned.reverse();
            }
            let again = scale(&run.state, &turned, run.now).unwrap_or_default();
            let rest = |events: &[Event]| events.iter().skip(1).cloned().collect::<Vec<_>>();
            assert_eq!(rest(&again), rest(events), "seed {}: {targets:?}", run.seed);
            let after = |targets: &[ScaleTarget]| {
                let mut state = run.state.clone();
                let command = ScaleQuotas { targets: targets.to_vec(), mode: ScaleMode::Evict };
                authority::step(&mut state, &Command::ScaleQuotas(command), run.now).unwrap();
                state
            };
            if turn == 0 {
                assert!(after(&turned) == after(targets), "seed {}: {targets:?}", run.seed);
            }
        }
        n_evicting += i32::from(events.len() > 1 && targets.len() > 1);
    });
    assert!(are_few() || n_evicting > 300, "only {n_evicting} of them evict");
}

#[test]
fn what_goes_for_a_scale_covers_it_and_nobody_goes_who_is_not_needed() {
    let mut n_gone = 0;
    cases(800, |run, _, events| {
        let Some(Event::QuotasScaled { targets }) = events.first() else { return };
        let ground = Ground::of(&run.state);
        let gone = gone(&run.state, events);
        // What is there by self-level preemption above the old amount stays.
        let used = ground.used();
        let by_right = |no: QuotaNo, at: usize| {
            let held = ground.held.iter().filter(|((job, pod), held)| {
                let placed = run.state.jobs[*job].placed().unwrap();
                held.quota == no.at()
                    && pod.is_none()
                    && held.charge.is_some()
                    && placed.source == engine::job::phase::Source::SelfLevel
            });
            let held: i64 = held.map(|(_, held)| held.amount[at]).sum();
            held.min(used.all[no.at()][at] - run.state.quotas[no.at()].min.amount[at]).max(0)
        };
        // Who is about to start is no victim.
        let is_victim = |part: &Part| run.state.jobs[part.0].is_running();
        let in_quota = |no: QuotaNo, at: usize, counts: &dyn Fn(&Part) -> bool| -> i64 {
            let held = ground.held.iter().filter(|(part, held)| {
                held.charge == Some(Charge::InQuota) && ground.line(held.quota).contains(&no.at()) && counts(part)
            });
            held.map(|(_, held)| held.amount[at]).sum()
        };
        let is_covered = |gone: &BTreeSet<Part>| {
            targets.iter().all(|(no, min)| {
                (0..8).filter(|at| min.states(*at)).all(|at| {
                    let excess = used.all[no.at()][at] - by_right(*no, at) - min.amount[at];
                    let most = in_quota(*no, at, &is_victim);
                    excess.min(most) <= in_quota(*no, at, &|part| gone.contains(part))
                })
            })
        };
        assert!(is_covered(&gone), "seed {}: {gone:?} for {targets:?}", run.seed);
        for part in &gone {
            n_gone += 1;
            // With a gang its pods stay.
            let is_bound = part.1.is_some() && gone.contains(&(part.0, None));
            let left = gone.iter().copied().filter(|it| if part.1.is_none() { it.0 != part.0 } else { it != part });
            assert!(is_bound || !is_covered(&left.collect()), "seed {}: {part:?} for {targets:?}", run.seed);
            // A pod above a minimum goes before any whole job.
            let spare = ground.held.iter().filter(|((job, pod), held)| {
                pod.is_some() && !gone.contains(&(*job, *pod)) && held.charge == Some(Charge::InQuota)
            });
            let instead = |spare: Part| {
                let left = gone.iter().copied().filter(|it| it.0 != part.0);
                is_covered(&left.chain(std::iter::once(spare)).collect())
            };
            let mut spare = spare.map(|(part, _)| *part).filter(|it| part.1.is_none() && is_victim(it));
            assert!(!spare.any(instead), "seed {}: {part:?} for {targets:?}", run.seed);
        }
    });
    assert!(are_few() || n_gone > 500, "only {n_gone} go");
}
