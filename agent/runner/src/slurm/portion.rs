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

/// What `joined.json` and `left.json` say.
type Joined = Vec<Portion>;
type Left = BTreeMap<String, u64>;

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
    portions.extend(joined(folder)?);
    let left = left(folder)?;
    for portion in &mut portions {
        portion.leaves = left.get(&portion.name).copied();
    }
    Ok(portions)
}

/// Has a pod join a run, as a part of its own.
pub(super) fn join(folder: &Folder, pod: &Pod) -> io::Result<()> {
    let mut joined = joined(folder)?;
    let name = format!("{}+{}", pod.node, joined.len() + 1);
    let (node, pods) = (pod.node.clone(), vec![pod.clone()]);
    joined.push(Portion { name, node, pods, is_first: false, leaves: None });
    stored::replace(&folder.file("joined.json"), &serde_json::to_string(&joined)?)
}

/// Has a part leave, and be killed by then.
pub(super) fn leave(folder: &Folder, portion: &Portion, kill_at: u64) -> io::Result<()> {
    let mut left = left(folder)?;
    left.insert(portion.name.clone(), kill_at);
    stored::replace(&folder.file("left.json"), &serde_json::to_string(&left)?)
}

fn joined(folder: &Folder) -> io::Result<Joined> {
    let text = stored::read(&folder.file("joined.json"))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn left(folder: &Folder) -> io::Result<Left> {
    let text = stored::read(&folder.file("left.json"))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// What a run has: all but those that were told to leave and of whom nothing is left. An order is followed when none of its
/// places is among them, but for those that others of the run have come to.
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
