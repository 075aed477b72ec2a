//! What a round costs as a cluster grows, for counters of instructions.

use engine::host::authority;
use engine::message::command::Command;
use script::session::Session;

use crate::bench::market;
use crate::bench::measure;
use crate::bench::measure::LARGE;
use crate::bench::measure::SMALL;
use crate::workload::Workload;

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growing {
    /// Waiting jobs, and quotas.
    Jobs,
    /// Nodes, and waiting jobs.
    Nodes,
    /// Waiting jobs that may preempt, and quotas.
    Backlog,
    /// Bids, and offers.
    Bids,
}

/// A cluster of a size whose next round has everything to do: judge every waiting job for the first time, since on a
/// cluster at rest most reasons are only confirmed; or move every offer's price.
pub fn growth_cluster(growing: Growing, count: u32, among: u32) -> Result<Session, String> {
    match growing {
        Growing::Jobs => Workload { quotas: among, queued: count, ..LARGE }.build(),
        Growing::Nodes => Workload { nodes: count, queued: among, ..SMALL }.build(),
        Growing::Backlog => {
            let backlog = Workload { quotas: among, queued: count, has_preemption: true, ..SMALL };
            Workload { running_gpus_max: 4, ..backlog }.build()
        }
        Growing::Bids => market::busy(count, among),
    }
}

/// That round, in a function of its own that a counter of instructions can single out; tells how many events it made.
/// Where there are offers it is a scheduled one: no other moves a price.
#[inline(never)]
pub fn one_full_round(session: &mut Session) -> Result<usize, String> {
    let round = Command::Round(measure::next_slot(session));
    let events = authority::step(&mut session.state, &round, session.now);
    events.map(|events| events.len()).map_err(|rejection| rejection.to_string())
}
