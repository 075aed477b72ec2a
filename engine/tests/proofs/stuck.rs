//! No stuck job: whoever would start in an empty cluster starts once everything else has ended (rules 3.2 to 3.6).
//!
//! Who has a place in an empty cluster is asked twice: of the engine, with all the other jobs cancelled, and of books of
//! the rules' own.

use std::collections::BTreeMap;

use engine::host::authority;
use engine::job::phase::Phase;
use engine::job::phase::Source;
use engine::job::spec::IdlePolicy;
use engine::message::command::CancelJob;
use engine::message::command::Command;
use engine::message::command::Observation;
use engine::message::command::Report;
use engine::message::command::Round;
use engine::message::event::Event;
use engine::state::world::State;
use engine::unit::id::JobNo;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::ground::Ground;
use crate::history::seeds;
use crate::random::Random;
use crate::run::Run;

const RUNS: u64 = 500;

/// Longer than any backoff.
const A_WHILE: Millis = Millis(61 * 60_000);

/// A cluster in which nothing is submitted any more.
#[derive(Clone)]
struct Rest {
    state: State,
    now: Timestamp,
    started: Vec<JobNo>,
}

impl Rest {
    fn send(&mut self, command: &Command) {
        for event in authority::step(&mut self.state, command, self.now).unwrap_or_default() {
            if let Event::Started { job, .. } = event {
                self.started.push(job);
            }
        }
    }

    fn round(&mut self, wait: Millis) {
        self.now = self.now + wait;
        let slot = Some(self.state.last_slot.unwrap_or(0) + 1);
        self.send(&Command::Round(Round { slot }));
    }

    fn cancel(&mut self, no: JobNo) {
        let job = self.state.jobs[no].spec.id.clone();
        self.send(&Command::CancelJob(CancelJob { job }));
    }

    fn those(&self, which: impl Fn(&Phase) -> bool) -> Vec<JobNo> {
        self.state.jobs.iter().filter(|(_, job)| which(&job.phase)).map(|(no, _)| no).collect()
    }

    /// Those who wait in quotas: who bids waits for a price.
    fn waiting(&self) -> Vec<JobNo> {
        let mut waiting = self.those(|phase| matches!(phase, Phase::Queued { .. }));
        waiting.retain(|no| !self.state.jobs[*no].bids());
        waiting
    }

    /// Whoever has anything ends, one way or another.
    fn end_all(&mut self, random: &mut Random) {
        for no in self.those(|phase| !matches!(phase, Phase::Queued { .. } | Phase::Ended { .. })) {
            let (job, is_running) = (self.state.jobs[no].spec.id.clone(), self.state.jobs[no].is_running());
            let run = self.state.jobs[no].run_no();
            if random.chance(50) {
                let observed = if is_running { Observation::Finished } else { Observation::Stopped };
                self.send(&Command::Report(Report { job, run, observed }));
            } else {
                self.cancel(no);
            }
        }
    }

    /// Everything ends, and whoever starts then ends as well, until nobody starts any more.
    fn run_empty(&mut self, random: &mut Random) {
        for _ in 0..400 {
            self.end_all(random);
            let before = self.started.len();
            self.round(Millis(random.pick(&[1_000, 60_000])));
            let is_idle = self.those(|phase| !matches!(phase, Phase::Queued { .. } | Phase::Ended { .. })).is_empty();
            if !is_idle || self.started.len() > before {
                continue;
            }
            for _ in 0..3 {
                self.round(A_WHILE);
            }
            if self.started.len() == before {
                return;
            }
        }
        panic!("jobs go on to start for ever");
    }

    fn starts_alone(&self, no: JobNo) -> bool {
        let mut alone = self.clone();
        alone.started.clear();
        for other in alone.those(|phase| !matches!(phase, Phase::Ended { .. })) {
            if other != no {
                alone.cancel(other);
            }
        }
        alone.round(A_WHILE);
        alone.round(Millis::MINUTE);
        alone.started.contains(&no)
    }
}

/// Whether a job has a right to a place in a cluster in which nothing runs. Where pods of different roles share nodes,
/// that is not for these books to say.
fn fits_by_right(state: &State, no: JobNo) -> bool {
    let (ground, spec) = (Ground::of(state), &state.jobs[no].spec);
    let is_pool = state.domains.list[state.domains.of_quota(spec.quota).at()].is_pool;
    let is_plain = is_pool || spec.shape.gang().count() == 1;
    let has_child_level = state.quotas[spec.quota.at()].settings.child_level.is_some();
    let kept = ground.kept_from(spec.quota.at());
    let fits = |source| ground.lets_in(spec, source, &kept, |_| true);
    is_plain && spec.idle != IdlePolicy::Only && (fits(Source::Own) || (has_child_level && fits(Source::ChildLevel)))
}

#[test]
fn whoever_would_start_in_an_empty_cluster_starts_once_everything_else_has_ended() {
    let mut n_started: BTreeMap<(String, bool), u32> = BTreeMap::new();
    let mut n_left = 0;
    for seed in seeds(RUNS) {
        let mut random = Random::new(seed ^ 0x57c4);
        let setup = Run::new(seed).layout.setup.len();
        let mut run = Run::after(seed, setup + 30 + random.index(70));
        let mut rest = Rest { state: std::mem::take(&mut run.state), now: run.now, started: Vec::new() };
        let waiting = rest.waiting();
        let kind = |state: &State, no: JobNo| {
            let quota = state.jobs[no].spec.quota;
            let is_pool = state.domains.list[state.domains.of_quota(quota).at()].is_pool;
            (format!("{:?}", state.quotas[quota.at()].settings.strategy), is_pool)
        };
        let kinds: Vec<_> = waiting.iter().map(|no| kind(&rest.state, *no)).collect();
        rest.run_empty(&mut random);
        for (no, kind) in waiting.iter().zip(kinds) {
            *n_started.entry(kind).or_default() += u32::from(rest.started.contains(no));
        }
        for no in rest.waiting() {
            n_left += 1;
            let spec = &rest.state.jobs[no].spec;
            let hold = rest.state.jobs[no].class.and_then(|class| rest.state.queue.classes[class.at()].hold.as_ref());
            assert!(!rest.starts_alone(no), "seed {seed}: alone starts {spec:?}\nwaits since {hold:?}");
            assert!(
                !fits_by_right(&rest.state, no),
                "seed {seed}: has a right to a place {spec:?}\nwaits since {hold:?}"
            );
        }
    }
    println!("{n_started:?} started, {n_left} never can");
    assert!(!n_started.is_empty() && n_left > 0);
}
