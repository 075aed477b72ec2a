//! What a job holds, pod by pod: its gang, and behind it the pods above the minimum of an elastic job.

use engine::job::phase::PodAt;
use engine::state::jobs::Job;
use engine::unit::amount::Amount;

/// The pods that a job has been given, each with its place and what it needs. Pods in a pool and instances of the spot
/// market have no places.
pub(crate) fn pods(job: &Job) -> impl Iterator<Item = (Option<PodAt>, Amount)> + '_ {
    let shape = &job.spec.shape;
    let gang = job.placed().into_iter().flat_map(|placed| {
        let amounts = shape.gang_pod_amounts().enumerate();
        amounts.map(|(at, amount)| (placed.pods.get(at).copied(), amount))
    });
    gang.chain(job.extra().iter().map(|pod| (pod.at, shape.extra_amount())))
}

/// All that a job has been given.
pub(crate) fn amount(job: &Job) -> Amount {
    pods(job).fold(Amount::ZERO, |sum, (_, amount)| sum.plus(&amount))
}
