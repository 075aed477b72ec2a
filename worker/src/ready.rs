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
use protocol::log::encode;
use protocol::name::ClusterName;

use crate::bindings::Kv;

/// How many clusters are kept ready.
const READY_MAX: usize = 8;

/// What is known of a cluster, and its state as the text of a snapshot, once somebody has asked for it.
struct Ready {
    folded: Rc<Folded>,
    text: Option<String>,
}

thread_local! {
    static READY: RefCell<BTreeMap<String, Ready>> = const { RefCell::new(BTreeMap::new()) };
}

/// The head with the state that it names. Of a cluster that has been read before, only what is new is fetched.
pub(crate) async fn folded(kv: &Kv, cluster: &ClusterName, head: &Head) -> Result<Rc<Folded>, Fault> {
    let known = READY.with_borrow(|ready| ready.get(cluster.as_str()).map(|ready| Rc::clone(&ready.folded)));
    if let Some(known) = known.as_ref().filter(|known| known.head == *head) {
        return Ok(Rc::clone(known));
    }
    let folded = Rc::new(history::fold(kv, head, known.map(Rc::unwrap_or_clone)).await?);
    keep(cluster, Ready { folded: Rc::clone(&folded), text: None });
    Ok(folded)
}

/// The state that a head names, as the text of a snapshot.
pub(crate) async fn snapshot(kv: &Kv, cluster: &ClusterName, head: &Head) -> Result<String, Fault> {
    let known = |ready: &Ready| ready.text.clone().filter(|_| ready.folded.head == *head);
    if let Some(text) = READY.with_borrow(|ready| ready.get(cluster.as_str()).and_then(known)) {
        return Ok(text);
    }
    let folded = folded(kv, cluster, head).await?;
    let text = encode(&Snapshot::of(&folded.state))?;
    keep(cluster, Ready { folded, text: Some(text.clone()) });
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
