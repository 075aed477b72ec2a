//! Publication: what is committed comes to KV, by the alarm or by a slot, and is tried again where that fails.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use protocol::health::Failed;
use protocol::publish;
use protocol::publish::Due;
use protocol::publish::Occasion;
use worker::console_error;

use crate::answer::Problem;
use crate::bindings;
use crate::bindings::Kv;
use crate::object::core::Core;

/// How long after a failed publication the next one is tried; after several, twice as long each time, up to a limit.
pub(super) const RETRY_MS: i64 = 5_000;
const RETRY_DOUBLINGS: u64 = 6;
/// After this time a publication that has not come back is taken for lost.
const LOST_MS: i64 = 60_000;

impl Core {
    /// Sees to it that what is committed will be published.
    pub(super) async fn publish_soon(&self) -> Result<(), Problem> {
        if self.unpublished.borrow().is_some() {
            // The alarm is set for the next try.
            return Ok(());
        }
        let now = bindings::now();
        match self.with(|cluster| cluster.due(Occasion::Command, now))? {
            Due::No => Ok(()),
            Due::Now => self.set_alarm(now).await,
            Due::At(time) => self.set_alarm(time).await,
        }
    }

    /// Publishes what is due; if that fails, it is tried again soon.
    pub(super) async fn publish_or_retry(&self, occasion: Occasion) -> Result<(), Problem> {
        let Err(problem) = self.publish(occasion).await else {
            self.unpublished.replace(None);
            return Ok(());
        };
        let now = bindings::now();
        let (since, before) =
            self.unpublished.borrow().as_ref().map_or((now, 0), |failed| (failed.since, failed.times));
        let wait = Millis(RETRY_MS << before.min(RETRY_DOUBLINGS));
        console_error!("not published, tried again in {} s: {problem:?}", wait.0 / 1_000);
        let reason = format!("{problem:?}");
        self.unpublished.replace(Some(Failed { since, times: before.saturating_add(1), reason }));
        self.set_alarm(now + wait).await
    }

    /// Publishes until nothing is due now.
    pub(super) async fn publish(&self, occasion: Occasion) -> Result<(), Problem> {
        let is_lost = |since: Timestamp| (bindings::now() - since).0 > LOST_MS;
        if self.publishing_since.get().is_some_and(|since| !is_lost(since)) {
            // Whoever is at it will see what has come since.
            return Ok(());
        }
        self.publishing_since.set(Some(bindings::now()));
        let outcome = self.publish_all(occasion).await;
        self.publishing_since.set(None);
        outcome
    }

    async fn publish_all(&self, occasion: Occasion) -> Result<(), Problem> {
        let kv = Kv::of(&self.env)?;
        loop {
            let now = bindings::now();
            match self.with(|cluster| cluster.due(occasion, now))? {
                Due::No => return Ok(()),
                Due::At(time) => return self.set_alarm(time).await,
                Due::Now => {}
            }
            let Some(publication) = self.with(|cluster| cluster.seal(now))? else { return Ok(()) };
            publish::put(&kv, &publication).await?;
            self.with(|cluster| cluster.settle(&publication, bindings::now()))?;
        }
    }
}
