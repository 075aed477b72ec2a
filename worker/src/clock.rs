//! The clock: each minute, the round of that minute in every known cluster.
//!
//! A scheduled event may come twice, late, or not at all. The slot is the minute that it was scheduled for, so a second
//! one decides nothing; a missing one is counted by the engine when the next comes.

use futures_util::future::join_all;
use protocol::cluster::SLOT_MS;
use protocol::name::ClusterName;
use worker::Env;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::console_error;

use crate::answer::Problem;
use crate::bindings;
use crate::registry;

/// Runs a scheduled event. It has no answer to fail with, so what fails is logged; the next one does it again.
pub(crate) async fn tick(env: &Env, scheduled_ms: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 are far below 2^53")]
    let slot = (scheduled_ms as i64).div_euclid(SLOT_MS);
    let clusters = match registry::reconcile(env).await {
        Ok(clusters) => clusters,
        Err(problem) => {
            console_error!("KV's list of clusters could not be used: {problem:?}");
            registry::list(env).await.unwrap_or_default()
        }
    };
    let rounds = clusters.iter().map(|cluster| round(env, cluster, slot));
    for (cluster, outcome) in clusters.iter().zip(join_all(rounds).await) {
        if let Err(problem) = outcome {
            console_error!("the round of slot {slot} in cluster {cluster} failed: {problem:?}");
        }
    }
}

async fn round(env: &Env, cluster: &ClusterName, slot: i64) -> Result<(), Problem> {
    let url = format!("http://object/v1/clusters/{cluster}/slots/{slot}");
    let request = Request::new_with_init(&url, RequestInit::new().with_method(Method::Post))?;
    let status = bindings::object(env, cluster.as_str())?.fetch_with_request(request).await?.status_code();
    // 409 is a slot that had been decided.
    if status == 200 || status == 409 {
        Ok(())
    } else {
        Err(Problem::Unavailable(format!("the object answered {status}")))
    }
}
