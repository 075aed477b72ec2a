//! What heads lead to, kept ready for the next reader.
//!
//! Only a cache: a head always leads to the same state and the same bytes. It belongs to one instance of the front and
//! is gone with it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use protocol::document::Head;
use protocol::fault::Fault;
use protocol::history;
use protocol::history::Folded;
use protocol::log::encode;
use protocol::name::ClusterName;

use crate::bindings::Kv;

/// How many clusters are kept ready.
const READY_MAX: usize = 8;

/// What is known of a cluster, and its state as the text of a snapshot, once somebody has asked for it.
struct Ready {
    folded: Folded,
    text: Option<String>,
}

thread_local! {
    static READY: RefCell<BTreeMap<String, Ready>> = const { RefCell::new(BTreeMap::new()) };
}

/// The state that a head names. Of a cluster that has been read before, only what is new is fetched.
pub(crate) async fn state(kv: &Kv, cluster: &ClusterName, head: &Head) -> Result<State, Fault> {
    let known = READY.with_borrow(|ready| ready.get(cluster.as_str()).map(|ready| ready.folded.clone()));
    match known {
        Some(known) if known.head == *head => Ok(known.state),
        known => {
            let folded = history::fold(kv, head, known).await?;
            let state = folded.state.clone();
            keep(cluster, Ready { folded, text: None });
            Ok(state)
        }
    }
}

/// The same as the text of a snapshot.
pub(crate) async fn snapshot(kv: &Kv, cluster: &ClusterName, head: &Head) -> Result<String, Fault> {
    let known = |ready: &Ready| ready.text.clone().filter(|_| ready.folded.head == *head);
    if let Some(text) = READY.with_borrow(|ready| ready.get(cluster.as_str()).and_then(known)) {
        return Ok(text);
    }
    let state = state(kv, cluster, head).await?;
    let text = encode(&Snapshot::of(&state))?;
    keep(cluster, Ready { folded: Folded { head: head.clone(), state }, text: Some(text.clone()) });
    Ok(text)
}

fn keep(cluster: &ClusterName, ready: Ready) {
    READY.with_borrow_mut(|all| {
        if all.len() >= READY_MAX && !all.contains_key(cluster.as_str()) {
            all.clear();
        }
        all.insert(cluster.as_str().to_owned(), ready);
    });
}
