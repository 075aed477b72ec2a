//! A cluster as a file: what it declares of itself, groups, nodes, quotas, workspaces and offers, each with the fields of the command that makes it; and
//! what has to be done so that a cluster is as its file says.
//!
//! As TOML it is for people, who write `gpu = 8` and `"2h"`; as JSON for programs, with the numbers of commands.
//! What a file does not name stays as it is: nothing is deleted because a line is missing.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::message::FORMAT;
use engine::message::command::Command;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::UpdateQuota;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::SetInventory;
use engine::message::command::market::UpdateOffer;
use engine::message::command::people::AttachQuota;
use engine::message::command::people::DetachQuota;
use engine::message::command::people::PutMember;
use engine::message::command::people::PutWorkspace;
use engine::message::command::people::RemoveMember;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Cluster;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::id::QuotaId;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::workspace::role::RoleSet;
use engine::workspace::space::Workspace;
use serde::Deserialize;
use serde::Serialize;

use crate::shell::declared::Declared;
use crate::shell::file::read;
use crate::shell::file::tree::Tree;
use crate::shell::file::write;

/// What a file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The format of what is in it; the newest one if nothing is said.
    #[serde(default = "newest")]
    pub format: u32,
    /// What it declares of itself.
    #[serde(default)]
    pub cluster: Option<Declared>,
    /// Resource groups.
    #[serde(default)]
    pub groups: Vec<PutGroup>,
    /// Nodes.
    #[serde(default)]
    pub nodes: Vec<PutNode>,
    /// Quotas, parents before their children.
    #[serde(default)]
    pub quotas: Vec<CreateQuota>,
    /// Workspaces.
    #[serde(default)]
    pub workspaces: Vec<Space>,
    /// Offers of the spot market. A price is for one that is made; otherwise it goes as it goes.
    #[serde(default)]
    pub offers: Vec<CreateOffer>,
}

fn newest() -> u32 {
    FORMAT
}

/// A workspace with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// Its name.
    pub workspace: WorkspaceId,
    /// A name for people.
    #[serde(default)]
    pub name: Option<Arc<str>>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<Arc<str>>,
    /// All its quotas.
    #[serde(default)]
    pub quotas: Vec<QuotaId>,
    /// All its members with their roles.
    #[serde(default)]
    pub members: BTreeMap<UserId, RoleSet>,
}

impl Document {
    /// Reads a file's text, of this cluster or of one without dimensions that it founds; what is wrong with it comes with its
    /// line and column.
    pub fn read(text: &str, cluster: &Cluster) -> Result<Self, String> {
        let is_json = text.trim_start().starts_with('{');
        let cluster = Declared::counted_in(text, is_json, cluster)?;
        let read: Result<Self, String> = if is_json {
            serde_json::from_str(text).map_err(|error| error.to_string())
        } else {
            read::read(text, &cluster)
        };
        let said = read?;
        if said.format != FORMAT {
            return Err(format!("its format is {}, and this program reads format {FORMAT}", said.format));
        }
        if cluster.dimensions.is_empty() {
            return Err(format!("there is no such cluster yet, and the file does not declare one; {}", read::DECLARE));
        }
        match said.twice() {
            Some((what, name)) => Err(format!("{what} {name} stands in it twice; write it once")),
            None => Ok(said),
        }
    }

    /// As people write it. A setting that is as it is anyway is left out.
    pub fn written(&self, cluster: &Cluster) -> Result<String, String> {
        let mut tree = Tree::of(self)?;
        tree.leave_out("quotas", "settings", &Tree::of(&QuotaSettings::default())?);
        tree.leave_out("workspaces", "members", &Tree::Table(Vec::new()));
        tree.leave_out("nodes", "status", &Tree::of(&NodeStatus::default())?);
        Ok(write::text(&tree, cluster))
    }

    /// What has two entries.
    fn twice(&self) -> Option<(&'static str, String)> {
        fn names<T>(all: &[T], name: impl Fn(&T) -> String) -> Vec<String> {
            all.iter().map(name).collect()
        }
        let all = [
            ("group", names(&self.groups, |group| group.group.to_string())),
            ("node", names(&self.nodes, |node| node.node.to_string())),
            ("quota", names(&self.quotas, |quota| quota.quota.to_string())),
            ("workspace", names(&self.workspaces, |space| space.workspace.to_string())),
            ("offer", names(&self.offers, |offer| offer.offer.to_string())),
        ];
        all.into_iter().find_map(|(what, mut names)| {
            names.sort_unstable();
            let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
            Some((what, pair[0].clone()))
        })
    }

    /// A cluster as it is.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let group = |at: usize| state.groups[at].id.clone();
        let cluster = &state.cluster;
        Self {
            format: FORMAT,
            cluster: Some(Declared::of(cluster)),
            groups: state
                .groups
                .iter()
                .map(|group| PutGroup {
                    group: group.id.clone(),
                    resource_type: group.resource_type,
                    pool: group.pool.as_ref().map(|pool| cluster.by_name(pool)),
                    on_silence: Some(group.on_silence),
                })
                .collect(),
            nodes: state.live_nodes().map(|(_, node)| PutNode::of(state, node)).collect(),
            quotas: state
                .live_quotas()
                .map(|(_, quota)| CreateQuota {
                    quota: quota.id.clone(),
                    parent: quota.parent.map(|parent| state.quotas[parent.at()].id.clone()),
                    groups: quota.groups.iter().map(|no| group(no.at())).collect(),
                    min: cluster
                        .dimensions
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| quota.min.states(*at))
                        .map(|(at, dimension)| (dimension.name.clone(), quota.min.amount[at]))
                        .collect(),
                    settings: quota.settings.clone(),
                })
                .collect(),
            workspaces: state.workspaces.iter().map(|(id, space)| of_space(state, id, space)).collect(),
            offers: state
                .market
                .live_offers()
                .map(|(_, offer)| CreateOffer {
                    offer: offer.id.clone(),
                    resource_type: offer.resource_type,
                    instance: cluster.by_name(&offer.instance),
                    inventory: offer.inventory,
                    price: None,
                    terms: offer.terms.clone(),
                })
                .collect(),
        }
    }

    /// The commands after which a cluster is as this says; nothing where it is so already.
    ///
    /// Amounts change before quotas are made: a parent grows and a sibling shrinks before a new child takes its part.
    pub fn commands(self, state: &State, mode: ScaleMode) -> Result<Vec<Command>, String> {
        let now = Self::of(state);
        let mut commands: Vec<Command> =
            self.cluster.iter().filter_map(|declared| declared.update(&state.cluster)).collect();
        for mut group in self.groups {
            let known = now.groups.iter().find(|known| known.group == group.group);
            group.on_silence = group.on_silence.or_else(|| known.and_then(|known| known.on_silence));
            if known != Some(&group) {
                commands.push(Command::PutGroup(group));
            }
        }
        commands.extend(self.nodes.into_iter().filter(|node| !now.nodes.contains(node)).map(Command::PutNode));
        commands.extend(quotas(self.quotas, &now.quotas, mode)?);
        for space in self.workspaces {
            let known = now.workspaces.iter().find(|known| known.workspace == space.workspace);
            commands.extend(space.commands(known));
        }
        for offer in self.offers {
            let known = now.offers.iter().find(|known| known.offer == offer.offer);
            commands.extend(of_offer(offer, known)?);
        }
        Ok(commands)
    }
}

fn of_space(state: &State, id: &WorkspaceId, space: &Workspace) -> Space {
    Space {
        workspace: id.clone(),
        name: space.name.clone(),
        description: space.description.clone(),
        quotas: space.quotas.iter().map(|no| state.quotas[no.at()].id.clone()).collect(),
        members: space.members.iter().map(|(user, member)| (user.clone(), member.roles)).collect(),
    }
}

/// Of quotas that are there what is set and guaranteed changes; the others are made.
fn quotas(wanted: Vec<CreateQuota>, known: &[CreateQuota], mode: ScaleMode) -> Result<Vec<Command>, String> {
    let (mut targets, mut added, mut set) = (Vec::new(), Vec::new(), Vec::new());
    for quota in wanted {
        let Some(known) = known.iter().find(|known| known.quota == quota.quota) else {
            added.push(Command::CreateQuota(quota));
            continue;
        };
        if known.parent != quota.parent || known.groups != quota.groups {
            return Err(format!(
                "quota {} has another parent or other resource groups in the cluster, and neither can change: give it \
                 another name, or write them as they are",
                quota.quota
            ));
        }
        if known.min != quota.min {
            targets.push(ScaleTarget { quota: quota.quota.clone(), min: quota.min });
        }
        if known.settings != quota.settings {
            set.push(Command::UpdateQuota(UpdateQuota { quota: quota.quota, settings: quota.settings }));
        }
    }
    let scaled = (!targets.is_empty()).then_some(Command::ScaleQuotas(ScaleQuotas { targets, mode }));
    Ok(scaled.into_iter().chain(added).chain(set).collect())
}

impl Space {
    fn commands(self, known: Option<&Self>) -> Vec<Command> {
        let Self { workspace, name, description, quotas, members } = self;
        let mut commands = Vec::new();
        if known.is_none_or(|known| known.name != name || known.description != description) {
            commands.push(Command::PutWorkspace(PutWorkspace { workspace: workspace.clone(), name, description }));
        }
        let has = |quota: &QuotaId| known.is_some_and(|known| known.quotas.contains(quota));
        let missing = quotas.iter().filter(|quota| !has(quota)).cloned();
        commands.extend(missing.map(|quota| Command::AttachQuota(AttachQuota { workspace: workspace.clone(), quota })));
        let gone = known.into_iter().flat_map(|known| &known.quotas).filter(|quota| !quotas.contains(quota)).cloned();
        commands.extend(gone.map(|quota| Command::DetachQuota(DetachQuota { workspace: workspace.clone(), quota })));
        let gone = known.into_iter().flat_map(|known| known.members.keys()).filter(|user| !members.contains_key(*user));
        let gone: Vec<UserId> = gone.cloned().collect();
        for (user, roles) in members {
            if known.and_then(|known| known.members.get(&user)) != Some(&roles) {
                commands.push(Command::PutMember(PutMember { workspace: workspace.clone(), user, roles }));
            }
        }
        commands.extend(
            gone.into_iter().map(|user| Command::RemoveMember(RemoveMember { workspace: workspace.clone(), user })),
        );
        commands
    }
}

fn of_offer(offer: CreateOffer, known: Option<&CreateOffer>) -> Result<Vec<Command>, String> {
    let Some(known) = known else { return Ok(vec![Command::CreateOffer(offer)]) };
    if known.resource_type != offer.resource_type || known.instance != offer.instance {
        return Err(format!(
            "offer {} has other machines in the cluster, and they cannot change: give it another name, or write them as \
             they are",
            offer.offer
        ));
    }
    let terms = (known.terms != offer.terms)
        .then(|| Command::UpdateOffer(UpdateOffer { offer: offer.offer.clone(), terms: offer.terms }));
    let inventory = (known.inventory != offer.inventory)
        .then_some(Command::SetInventory(SetInventory { offer: offer.offer, inventory: offer.inventory }));
    Ok(terms.into_iter().chain(inventory).collect())
}
