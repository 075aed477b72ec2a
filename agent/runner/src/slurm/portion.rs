//! What of a run is one job of Slurm: at first what it has on a node, and then the pods that joined it, each alone. Slurm
//! takes back what it has given to a job with the whole of it, so pods that are one job leave together.

use std::collections::BTreeMap;
use std::io;

use agent::message::Pod;
use agent::message::Want;
use agent::pods::Leaving;
use agent::pods::Place;
use agent::pods::Pods;
use serde::Deserialize;
use serde::Serialize;

use crate::folder::Folder;
use crate::folder::Held;
use crate::slurm::part::Part;
use crate::stored;

/// Which parts have joined a run, and which have been told to leave.
const FILE: &str = "turnover.json";

/// A part of a run as it was given to Slurm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Portion {
    pub(super) name: String,
    pub(super) node: String,
    pub(super) pods: Vec<Pod>,
    /// Whether the run began with it.
    #[serde(skip)]
    pub(super) is_first: bool,
    /// When it is killed, if it was told to leave.
    #[serde(skip)]
    pub(super) leaves: Option<u64>,
}

impl Portion {
    /// The file by which it is ordered to leave.
    pub(super) fn order_file(&self) -> String {
        format!("leave-{}", self.name)
    }
}

/// What `turnover.json` says.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turnover {
    /// Those that joined, in this order.
    joined: Vec<Portion>,
    /// When those are killed that were told to leave, by their names.
    left: BTreeMap<String, u64>,
}

/// All that a run has ever had.
pub(super) fn all(folder: &Folder, want: &Want) -> io::Result<Vec<Portion>> {
    let mut portions: Vec<Portion> = Vec::new();
    for pod in &want.pods {
        match portions.iter_mut().find(|portion| portion.node == pod.node) {
            Some(portion) => portion.pods.push(pod.clone()),
            None => portions.push(Portion {
                name: pod.node.clone(),
                node: pod.node.clone(),
                pods: vec![pod.clone()],
                is_first: true,
                leaves: None,
            }),
        }
    }
    let Turnover { joined, left } = turnover(folder)?;
    portions.extend(joined);
    for portion in &mut portions {
        portion.leaves = left.get(&portion.name).copied();
    }
    Ok(portions)
}

/// Has a pod join a run, as a part of its own.
pub(super) fn join(folder: &Folder, pod: &Pod) -> io::Result<()> {
    change(folder, |turnover| {
        let name = format!("{}+{}", pod.node, turnover.joined.len() + 1);
        let (node, pods) = (pod.node.clone(), vec![pod.clone()]);
        turnover.joined.push(Portion { name, node, pods, is_first: false, leaves: None });
    })
}

/// Has a part leave, and be killed by then.
pub(super) fn leave(folder: &Folder, portion: &Portion, kill_at: u64) -> io::Result<()> {
    change(folder, |turnover| {
        turnover.left.insert(portion.name.clone(), kill_at);
    })
}

fn turnover(folder: &Folder) -> io::Result<Turnover> {
    Ok(stored::parsed(&folder.file(FILE))?.unwrap_or_default())
}

fn change(folder: &Folder, change: impl FnOnce(&mut Turnover)) -> io::Result<()> {
    let mut turnover = turnover(folder)?;
    change(&mut turnover);
    stored::replace_json(&folder.file(FILE), &turnover)
}

/// The pods that a run has: all but those that have left. An order is followed when no pod is at its places any more, except
/// where another pod of the run has joined since.
pub(super) fn held(parts: &[(Portion, Part)], told: Option<&Pods>) -> Held {
    let holds =
        |(portion, part): &&(Portion, Part)| portion.leaves.is_none() || part.is_live() || matches!(part, Part::Queued);
    let held: Vec<Pod> = parts.iter().filter(holds).flat_map(|(portion, _)| portion.pods.clone()).collect();
    let wanted: Vec<Place> = told.iter().flat_map(|told| told.pods.iter().map(Place::of)).collect();
    let is_held = |place: &Place| !wanted.contains(place) && held.iter().any(|pod| Place::of(pod) == *place);
    let orders = told.iter().flat_map(|told| &told.leave);
    let gone = orders.filter(|Leaving { places, .. }| !places.iter().any(is_held)).map(|leaving| leaving.order);
    Held { gone: gone.collect(), pods: held }
}
