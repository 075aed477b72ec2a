//! What heads lead to, kept ready for the next reader.
//!
//! Only a cache: a head always leads to the same state and the same bytes. It belongs to one instance of the front and
//! is gone with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use engine::message::snapshot::Snapshot;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::history;
use protocol::history::Folded;
use protocol::log::text_of;
use protocol::market::told;
use protocol::market::told::Told;
use protocol::meter::Metered;
use protocol::name::ClusterName;
use protocol::ready::Ready;

use crate::answer::Problem;
use crate::bindings::Kv;
use crate::portion::at_hand;

/// How much memory it takes: a quarter of what an instance has, which it shares with objects.
const BYTES_MAX: usize = 32 << 20;

thread_local! {
    static READY: RefCell<Ready> = const { RefCell::new(Ready::new(BYTES_MAX)) };
}

/// Of how many clusters it is known what was written last.
const WRITTEN_MAX: usize = 1_000;

thread_local! {
    static WRITTEN: RefCell<BTreeMap<ClusterName, u64>> = const { RefCell::new(BTreeMap::new()) };
}

/// Notes the revision that a command has led to. Who has sent it reads at least that from here on, without asking for
/// it; who comes through another instance may have to ask.
pub(crate) fn written(cluster: &ClusterName, revision: u64) {
    WRITTEN.with_borrow_mut(|written| {
        if written.len() >= WRITTEN_MAX {
            written.clear();
        }
        let last = written.entry(cluster.clone()).or_default();
        *last = revision.max(*last);
    });
}

/// The revision that the last command through this instance has led to.
pub(crate) fn last_written(cluster: &ClusterName) -> u64 {
    WRITTEN.with_borrow(|written| written.get(cluster).copied().unwrap_or_default())
}

thread_local! {
    /// Of the cluster that was asked about last.
    static TOLD: RefCell<Option<Rc<Told>>> = const { RefCell::new(None) };
}

/// What the log up to a head tells of the market. Of a cluster that was asked about before, only what is new is fetched;
/// who wants earlier bills than there are in so many pages asks for those before the first one that was read.
pub(crate) async fn told(kv: &Metered<'_, Kv>, head: &Head, pages_max: usize) -> Result<Rc<Told>, Problem> {
    let known = TOLD.with_borrow(Clone::clone);
    if let Some(known) = known.as_ref().filter(|known| known.head == *head) {
        return Ok(Rc::clone(known));
    }
    let told = told::told(kv, head, known.map(|known| (*known).clone()), pages_max).await?;
    let told = Rc::new(at_hand(told)?);
    TOLD.set(Some(Rc::clone(&told)));
    Ok(told)
}

/// The newest head of a cluster that is known here, where KV shows an older one.
pub(crate) fn newer(cluster: &ClusterName, head: Head) -> Head {
    let known = READY.with_borrow_mut(|ready| ready.get(cluster.as_str()).map(|(folded, _)| folded.head.clone()));
    // A cluster that was restored to less has been published later all the same.
    let is_newer = |known: &Head| known.seq > head.seq && known.published_at > head.published_at;
    known.filter(is_newer).unwrap_or(head)
}

/// The head with the state that it names. Of a cluster that has been read before, only what is new is fetched.
pub(crate) async fn folded(kv: &Metered<'_, Kv>, cluster: &ClusterName, head: &Head) -> Result<Rc<Folded>, Fault> {
    let known = READY.with_borrow_mut(|ready| ready.get(cluster.as_str()).map(|(folded, _)| folded));
    if let Some(known) = known.as_ref().filter(|known| known.head == *head) {
        return Ok(Rc::clone(known));
    }
    let folded = Rc::new(history::fold(kv, head, known.map(Rc::unwrap_or_clone)).await?);
    READY.with_borrow_mut(|ready| ready.keep(cluster.as_str(), Rc::clone(&folded), None));
    Ok(folded)
}

/// The state that a head names, as the text of a snapshot.
pub(crate) async fn snapshot(kv: &Metered<'_, Kv>, cluster: &ClusterName, head: &Head) -> Result<String, Fault> {
    let known = READY.with_borrow_mut(|ready| ready.get(cluster.as_str()));
    if let Some((_, Some(text))) = known.filter(|(folded, _)| folded.head == *head) {
        return Ok(text.to_string());
    }
    let folded = folded(kv, cluster, head).await?;
    let text = text_of(&Snapshot::of(&folded.state))?;
    READY.with_borrow_mut(|ready| ready.keep(cluster.as_str(), folded, Some(text.as_str().into())));
    Ok(text)
}
