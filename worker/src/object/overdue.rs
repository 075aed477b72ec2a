//! What should have been reported by now of jobs that really run.

use engine::explain;
use engine::host::authority;
use engine::transition::Sender;
use engine::transition::may_see;
use protocol::answer::OverdueShown;
use protocol::log::encode;

use crate::answer::Problem;
use crate::bindings;
use crate::object::core::Core;

/// By node and job, as far as the sender may see the jobs.
pub(super) fn answer(core: &Core, sender: &Sender) -> Result<String, Problem> {
    let now = bindings::now();
    let text = core.with(|cluster| {
        cluster.with_state(|state| {
            let state = authority::as_of(state, now);
            let mut overdue = explain::overdue(&state, now);
            overdue.retain(|overdue| may_see(&state, sender, &overdue.job).is_ok());
            let shown = overdue.into_iter().map(|overdue| {
                let sentence = explain::overdue_words(&state, &overdue, now);
                let explain::Overdue { node, job, run, awaited, since, amount } = overdue;
                let amount = state.cluster.named(&amount).collect();
                OverdueShown { node, job, run, awaited, since, amount, sentence }
            });
            encode(&shown.collect::<Vec<_>>())
        })
    })?;
    Ok(text?)
}
