//! The guided set-up of a cluster: what each of its steps makes, as commands, and as the file by which a shell makes the same.

use std::fmt::Write;

use engine::message::command::Command;
use engine::message::command::CreateCluster;
use engine::message::command::CreateQuota;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::message::command::UpdateCluster;
use engine::message::command::UpdateQuota;
use engine::message::command::people::AttachQuota;
use engine::message::command::people::PutMember;
use engine::message::command::people::PutWorkspace;
use engine::quota::policy::Scope;
use engine::quota::policy::SelfLevelPreemption;
use engine::quota::settings::QuotaSettings;
use engine::state::cluster::Cluster;
use engine::state::cluster::Execution;
use engine::state::cluster::NodeStatus;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::NodeId;
use engine::unit::id::QuotaId;
use engine::unit::id::QuotaNo;
use engine::unit::id::UserId;
use engine::unit::id::WorkspaceId;
use engine::unit::limit;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::resource::ResourceType;
use engine::workspace::role::Role;

use crate::duration;
use crate::gpus::bare;

/// What a dimension of GPUs is called where nobody has named any.
const GPU: &str = "gpu";
/// What is missing before a step, while there is no cluster.
pub const NO_CLUSTER: &str = "Do the first step first";
/// What is missing before a step, while there are no quotas.
pub const NO_QUOTAS: &str = "There are no quotas yet: make them first";
/// Thousandths of a GPU.
const WHOLE: i64 = 1_000;

/// What a step makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// By these commands, which make a plan.
    pub commands: Vec<Command>,
    /// By this file, which `tidegate apply` takes.
    pub file: String,
}

/// Whether somebody has begun with a cluster: nothing is loaded into it then that they have not asked for.
#[must_use]
pub fn has_begun(state: &State) -> bool {
    let has_machines = !state.groups.is_empty() || !state.nodes.is_empty();
    has_machines || !state.workspaces.is_empty() || state.cluster.is_reported() || state.live_quotas().next().is_some()
}

/// Which steps have been done: machines, quotas, policies, people.
#[must_use]
pub fn done(state: &State) -> [bool; 4] {
    let has_machines = !state.nodes.is_empty() || state.groups.iter().any(|group| group.pool.is_some());
    let has_quotas = state.live_quotas().next().is_some();
    let has_people = state.workspaces.values().any(|workspace| !workspace.members.is_empty());
    // A quota has policies from the beginning: who leaves them as they are has chosen too.
    [has_machines, has_quotas, has_quotas, has_people]
}

/// Declares a cluster: one whose jobs really run, or one in which they are pretended.
#[must_use]
pub fn declaration(really_runs: bool) -> Command {
    Command::CreateCluster(CreateCluster { dimensions: counted(), execution: execution(really_runs) })
}

/// What a cluster counts for which nobody has said anything else.
fn counted() -> Vec<Dimension> {
    vec![Dimension { name: GPU.to_owned(), kind: DimensionKind::Gpu }]
}

fn execution(really_runs: bool) -> Execution {
    if really_runs { Execution::Reported } else { Execution::Simulated }
}

/// How somebody logs in from a shell; the key is asked for.
#[must_use]
pub fn login(service: &str, cluster: &str) -> String {
    format!("tidegate login {service}/clusters/{cluster}")
}

/// The machines, as they are typed: alike, with numbers behind their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    /// What their names begin with.
    pub prefix: String,
    /// How many there are.
    pub count: String,
    /// How many GPUs each has.
    pub gpus: String,
    /// The group that they are in.
    pub group: String,
}

impl Default for Machines {
    fn default() -> Self {
        let [prefix, count, gpus, group] = ["n", "8", "8", "machines"].map(str::to_owned);
        Self { prefix, count, gpus, group }
    }
}

impl Machines {
    /// What they come to, or what is wrong with them. Those that are there already stay as they are. Without a cluster the
    /// file declares one as well, which a command of its own does otherwise ([`declaration`]).
    pub fn made(&self, state: Option<&State>, really_runs: bool) -> Result<Made, String> {
        let group = GroupId::new(self.group.trim()).map_err(|bad| format!("The group: {bad}"))?;
        let count = whole(&self.count, limit::PLAN_COMMANDS_MAX - 1).map_err(|wrong| format!("Machines: {wrong}"))?;
        let gpus = whole(&self.gpus, 64).map_err(|wrong| format!("GPUs of each: {wrong}"))?;
        let gpu = state.map_or_else(|| Ok(GPU.to_owned()), |state| gpu_of(&state.cluster))?;
        let mut made = Made {
            commands: Vec::new(),
            file: format!(
                "{}\n[[groups]]\ngroup = {}\nresource_type = \"lingjun\"\n",
                declared(state, really_runs),
                quoted(group.as_str())
            ),
        };
        if state.is_some_and(|state| state.cluster.is_reported() != really_runs) {
            let execution = Some(execution(really_runs));
            made.commands.push(Command::UpdateCluster(UpdateCluster { execution, ..UpdateCluster::default() }));
        }
        let is_group = |state: &State| state.groups.iter().any(|known| known.id == group);
        if !state.is_some_and(is_group) {
            let (resource_type, pool, on_silence) = (ResourceType::Lingjun, None, None);
            made.commands.push(Command::PutGroup(PutGroup { group: group.clone(), resource_type, pool, on_silence }));
        }
        for number in 1..=count {
            let node = NodeId::new(&format!("{}{number}", self.prefix.trim()));
            let node = node.map_err(|bad| format!("The names: {bad}"))?;
            let (name, of) = (quoted(node.as_str()), quoted(group.as_str()));
            // It cannot fail: a text takes everything.
            let _ = write!(made.file, "\n[[nodes]]\nnode = {name}\ngroup = {of}\namount = {{ {gpu} = {gpus} }}\n");
            let is_there = |state: &State| state.nodes.iter().any(|known| known.id == node);
            if !state.is_some_and(is_there) {
                let amount = [(gpu.clone(), i64::from(gpus) * WHOLE)].into_iter().collect();
                let (group, status) = (group.clone(), NodeStatus::Ready);
                let put = PutNode { node, group, node_type: None, gpu_type: None, amount, status };
                made.commands.push(Command::PutNode(put));
            }
        }
        Ok(made)
    }

    /// What is typed on each machine, so that jobs run there: by an administrator once, and then for good.
    #[must_use]
    pub fn agents(&self, service: &str, cluster: &str) -> String {
        let Self { prefix, gpus, group, .. } = self;
        let (prefix, gpus, group) = (prefix.trim(), gpus.trim(), group.trim());
        let login = login(service, cluster);
        format!(
            "{login}\n\
             tidegate agent join {service} --cluster {cluster} --name {prefix}1 --groups {group}\n\
             tidegate agent run --node {prefix}1={gpus}"
        )
    }
}

/// The quotas, as they are typed: one for everything, and one for each team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// The name of the one that has all GPUs.
    pub root: String,
    /// A team on each line, with its GPUs.
    pub teams: String,
}

impl Quotas {
    /// Two teams that share what a cluster has.
    #[must_use]
    pub fn of(state: Option<&State>) -> Self {
        let all = state.map_or(64, |state| in_all(state) / WHOLE);
        let half = all / 2;
        Self { root: "all".to_owned(), teams: format!("team-a {}\nteam-b {half}", all - half) }
    }

    /// What they come to, or what is wrong with them.
    pub fn made(&self, state: &State) -> Result<Made, String> {
        let gpu = gpu_of(&state.cluster)?;
        let root = QuotaId::new(self.root.trim()).map_err(|bad| format!("The quota of everything: {bad}"))?;
        let groups: Vec<GroupId> = state.groups.iter().map(|group| group.id.clone()).collect();
        let mut wanted = vec![(root.clone(), None, groups, in_all(state))];
        for (at, line) in self.teams.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |what: &str| format!("Line {} of the teams, “{}”: {what}", at + 1, line.trim());
            let (name, gpus) = line
                .trim()
                .rsplit_once(char::is_whitespace)
                .ok_or_else(|| wrong("write a name and its GPUs, such as “team-a 40”"))?;
            let quota = QuotaId::new(name.trim()).map_err(|bad| wrong(&bad.to_string()))?;
            let gpus = whole(gpus, 1_000_000).map_err(|bad| wrong(&bad))?;
            wanted.push((quota, Some(root.clone()), Vec::new(), i64::from(gpus) * WHOLE));
        }
        let (all, given) = (in_all(state), wanted.iter().skip(1).map(|(.., min)| min).sum::<i64>());
        if given > all {
            return Err(format!("The teams have {} GPUs, and all machines {}: give less", bare(given), bare(all)));
        }
        let mut made = Made::default();
        for (quota, parent, groups, min) in wanted {
            made.file.push_str(&quota_text(&gpu, quota.as_str(), parent.as_ref().map(QuotaId::as_str), &groups, min));
            if state.quota_no(&quota).is_none() {
                let min = [(gpu.clone(), min)].into_iter().collect();
                let settings = QuotaSettings::default();
                made.commands.push(Command::CreateQuota(CreateQuota { quota, parent, groups, min, settings }));
            }
        }
        Ok(made)
    }
}

/// What holds in every team's quota, as it is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// Whether others may borrow what a team leaves idle.
    pub lends: bool,
    /// How long an evicted job may take to stop.
    pub grace: String,
    /// Whether urgent jobs of a team may take the GPUs of its own jobs that can wait.
    pub urgent_first: bool,
}

impl Policies {
    /// As they are in the first team's quota.
    #[must_use]
    pub fn of(state: Option<&State>) -> Self {
        let settings = state.and_then(|state| teams(state).first().map(|no| state.quotas[no.at()].settings.clone()));
        let QuotaSettings { lends, grace_period, self_level, .. } = settings.unwrap_or_default();
        Self { lends, grace: format!("{}s", grace_period.0 / 1_000), urgent_first: self_level.is_some() }
    }

    /// What they come to, or what is wrong with them.
    pub fn made(&self, state: &State) -> Result<Made, String> {
        let gpu = gpu_of(&state.cluster)?;
        let grace_period = duration::total(&self.grace).map_err(|bad| format!("The grace period: {bad}"))?;
        let self_level = self.urgent_first.then(|| SelfLevelPreemption {
            high: (7..=9).filter_map(|value| Priority::new(value).ok()).collect(),
            low: (1..=3).filter_map(|value| Priority::new(value).ok()).collect(),
            modules: [Module::Dlc].into_iter().collect(),
            scope: Scope::Own,
        });
        let mut made = Made::default();
        if teams(state).is_empty() {
            return Err(NO_QUOTAS.to_owned());
        }
        for no in teams(state) {
            let quota = &state.quotas[no.at()];
            let parent = quota.parent.map(|parent| state.quotas[parent.at()].id.as_str());
            let groups: Vec<GroupId> = quota.groups.iter().map(|no| state.groups[no.at()].id.clone()).collect();
            let min = state.cluster.gpus(&quota.min.amount);
            made.file.push_str(&quota_text(&gpu, quota.id.as_str(), parent, &groups, min));
            let grace = quoted(self.grace.trim());
            let _ = writeln!(made.file, "settings.lends = {}\nsettings.grace_period = {grace}", self.lends);
            if self.urgent_first {
                made.file.push_str(
                    "settings.self_level = { high = [7, 8, 9], low = [1, 2, 3], modules = [\"DLC\"], scope = \"own\" }\n",
                );
            }
            let settings = QuotaSettings {
                lends: self.lends,
                grace_period,
                self_level: self_level.clone(),
                ..quota.settings.clone()
            };
            if settings != quota.settings {
                made.commands.push(Command::UpdateQuota(UpdateQuota { quota: quota.id.clone(), settings }));
            }
        }
        Ok(made)
    }
}

/// Somebody, as they are typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Person {
    /// Who.
    pub user: String,
    /// The quota of their team; the workspace has its name.
    pub team: String,
    /// Their role there.
    pub role: String,
}

impl Person {
    /// What they come to, or what is wrong. What a workspace has already stays.
    pub fn made(&self, state: &State) -> Result<Made, String> {
        let user = UserId::new(self.user.trim()).map_err(|bad| format!("The user: {bad}"))?;
        let quota = QuotaId::new(&self.team).ok().filter(|quota| state.quota_no(quota).is_some());
        let quota = quota.ok_or("Choose a team")?;
        let workspace = WorkspaceId::new(&self.team).map_err(|bad| format!("The workspace: {bad}"))?;
        let role = Role::ALL.into_iter().find(|role| role.as_str() == self.role).ok_or("Choose a role")?;
        let known = state.workspaces.get(&workspace);
        let mut commands = Vec::new();
        if known.is_none() {
            let (name, description) = (None, None);
            commands.push(Command::PutWorkspace(PutWorkspace { workspace: workspace.clone(), name, description }));
        }
        let quotas = known.into_iter().flat_map(|known| &known.quotas).map(|no| state.quotas[no.at()].id.clone());
        let mut quotas: Vec<QuotaId> = quotas.collect();
        if !quotas.contains(&quota) {
            quotas.push(quota.clone());
            commands.push(Command::AttachQuota(AttachQuota { workspace: workspace.clone(), quota }));
        }
        let roles = [role].into_iter().collect();
        let names: Vec<String> = quotas.iter().map(|quota| quoted(quota.as_str())).collect();
        let mut file =
            format!("[[workspaces]]\nworkspace = {}\nquotas = [{}]\n", quoted(workspace.as_str()), names.join(", "));
        let others = known.into_iter().flat_map(|known| &known.members).filter(|(other, _)| **other != user);
        let members = others.map(|(other, member)| (other, member.roles)).chain([(&user, roles)]);
        for (member, roles) in members {
            let names: Vec<String> = roles.iter().map(|role| quoted(role.as_str())).collect();
            let _ = writeln!(file, "members.{} = [{}]", quoted(member.as_str()), names.join(", "));
        }
        commands.push(Command::PutMember(PutMember { workspace, user, roles }));
        Ok(Made { commands, file })
    }
}

/// The quotas of teams: those that have no children, or all that there are.
#[must_use]
pub fn teams(state: &State) -> Vec<QuotaNo> {
    let has_children = |no: QuotaNo| state.live_quotas().any(|(_, other)| other.parent == Some(no));
    state.live_quotas().map(|(no, _)| no).filter(|no| !has_children(*no)).collect()
}

/// The GPUs of all machines, in thousandths.
fn in_all(state: &State) -> i64 {
    let of_nodes: i64 = state.nodes.iter().map(|node| state.cluster.gpus(&node.amount)).sum();
    let pools = state.groups.iter().filter_map(|group| group.pool.as_ref());
    of_nodes + pools.map(|pool| state.cluster.gpus(pool)).sum::<i64>()
}

/// What the cluster's GPUs are called.
fn gpu_of(cluster: &Cluster) -> Result<String, String> {
    let mut gpus = cluster.dimensions.iter().filter(|dimension| dimension.kind == DimensionKind::Gpu);
    match (gpus.next(), gpus.next()) {
        (Some(gpu), None) => Ok(gpu.name.clone()),
        (None, _) => Err("The cluster counts no GPUs: write what it has into a file".to_owned()),
        (Some(_), Some(_)) => {
            Err("The cluster has GPUs of several types: write how many of each into a file".to_owned())
        }
    }
}

/// What the cluster declares, as its file says it.
fn declared(state: Option<&State>, really_runs: bool) -> String {
    let dimensions = state.map_or_else(counted, |state| state.cluster.dimensions.clone());
    let told = dimensions.iter().map(|Dimension { name, kind }| {
        let kind = match kind {
            DimensionKind::Gpu => "gpu",
            DimensionKind::Cpu => "cpu",
            DimensionKind::Memory => "memory",
            DimensionKind::Other => "other",
        };
        format!("{{ name = {}, kind = \"{kind}\" }}", quoted(name))
    });
    let told: Vec<String> = told.collect();
    let execution = if really_runs { "reported" } else { "simulated" };
    format!("[cluster]\ndimensions = [{}]\nexecution = \"{execution}\"\n", told.join(", "))
}

fn quota_text(gpu: &str, quota: &str, parent: Option<&str>, groups: &[GroupId], min: i64) -> String {
    let mut lines = vec![String::new(), "[[quotas]]".to_owned(), format!("quota = {}", quoted(quota))];
    lines.extend(parent.map(|parent| format!("parent = {}", quoted(parent))));
    let names: Vec<String> = groups.iter().map(|group| quoted(group.as_str())).collect();
    lines.extend((!names.is_empty()).then(|| format!("groups = [{}]", names.join(", "))));
    lines.push(format!("min = {{ {gpu} = {} }}\n", bare(min)));
    lines.join("\n")
}

/// A whole number from 1 on.
fn whole(text: &str, most: usize) -> Result<u32, String> {
    let number = text.trim().parse::<u32>().ok().filter(|number| (1..=most).contains(&(*number as usize)));
    number.ok_or_else(|| format!("“{}” is not a number from 1 to {most}", text.trim()))
}

/// As TOML has texts. Names have no letters that it would escape otherwise.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
