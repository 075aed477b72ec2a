//! What goes with a quota, a workspace or a cluster that is deleted, in sentences. Whether it may be deleted is for the
//! engine to say.

use engine::explain;
use engine::state::world::State;
use engine::unit::id::QuotaNo;
use engine::unit::id::WorkspaceId;
use serde::Deserialize;

/// Of a quota: who has its amount then.
#[must_use]
pub fn of_quota(state: &State, no: QuotaNo) -> Vec<String> {
    let quota = &state.quotas[no.at()];
    let amount = explain::amount(state, &quota.min.amount);
    let heir = match quota.parent {
        Some(parent) => format!("they go back to {}", state.quotas[parent.at()].id),
        None => "nobody is guaranteed them then".to_owned(),
    };
    let guaranteed = if quota.min.amount.is_zero() {
        format!("{} guarantees nothing.", quota.id)
    } else {
        format!("{} guarantees {amount}; {heir}.", quota.id)
    };
    vec![guaranteed, "Its policies are lost. It cannot be brought back.".to_owned()]
}

/// Of a workspace: whose roles go, and which quotas lose it.
#[must_use]
pub fn of_workspace(state: &State, id: &WorkspaceId) -> Vec<String> {
    let Some(workspace) = state.workspaces.get(id) else { return Vec::new() };
    let members = match workspace.members.len() {
        0 => None,
        1 => Some("Its member loses all roles there.".to_owned()),
        n_members => Some(format!("Its {n_members} members lose all roles there.")),
    };
    let names: Vec<&str> = workspace.quotas.iter().map(|no| state.quotas[no.at()].id.as_str()).collect();
    let quotas = match &names[..] {
        [] => None,
        [name] => Some(format!("{name} stays, without this workspace.")),
        names => Some(format!("{} stay, without this workspace.", names.join(", "))),
    };
    let last = "It cannot be brought back.".to_owned();
    members.into_iter().chain(quotas).chain(std::iter::once(last)).collect()
}

/// How a cluster is saved from a shell before it is deleted.
#[must_use]
pub fn backup(service: &str, cluster: &str) -> String {
    format!("tidegate backup save {service}/clusters/{cluster} {cluster}.backup")
}

/// What deleting a cluster costs, as the service counts it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClusterCost {
    /// Running jobs, which end.
    pub running: u64,
    /// Jobs that wait.
    pub queued: u64,
    /// Quotas.
    pub quotas: u64,
    /// Workspaces.
    pub workspaces: u64,
    /// Access keys.
    pub keys: u64,
    /// Entries of the log.
    pub entries: u64,
    /// Why none of these is known, if so.
    #[serde(default)]
    pub uncounted: Option<String>,
    /// The word that stands for this cost.
    pub confirm: String,
}

/// Of a cluster: everything.
#[must_use]
pub fn of_cluster(cost: &ClusterCost) -> Vec<String> {
    let ClusterCost { running, queued, quotas, workspaces, keys, entries, uncounted, confirm: _ } = cost;
    let last =
        "Only a saved backup brings it back. Clusters that were restored from it lose their history from before that.";
    if let Some(reason) = uncounted {
        return vec![format!("Nobody can say how many jobs end: {reason}."), last.to_owned()];
    }
    let count = |n: &u64, one: &str, many: &str| format!("{n} {}", if *n == 1 { one } else { many });
    let kept = [
        count(quotas, "quota", "quotas"),
        count(workspaces, "workspace", "workspaces"),
        count(keys, "access key", "access keys"),
    ];
    vec![
        format!(
            "{}, {}.",
            count(running, "running job ends", "running jobs end"),
            count(queued, "queued job goes", "queued jobs go")
        ),
        format!("With it go {} and its history of {}.", kept.join(", "), count(entries, "entry", "entries")),
        last.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use engine::message;

    use super::*;
    use crate::example::decide;
    use crate::example::quota;
    use crate::example::three_teams;

    #[test]
    fn a_quota_says_who_has_its_amount_then() {
        let state = three_teams();
        let says = |name: &str| of_quota(&state, quota(&state, name)).remove(0);
        assert_eq!(says("Quota1.1"), "Quota1.1 guarantees 48 GPUs; they go back to Quota1.");
        assert_eq!(says("Quota1"), "Quota1 guarantees 128 GPUs; nobody is guaranteed them then.");
    }

    #[test]
    fn a_workspace_says_whose_roles_go_and_what_stays() {
        let mut state = three_teams();
        for text in [
            r#"{"put_workspace":{"workspace":"vision"}}"#,
            r#"{"put_member":{"workspace":"vision","user":"ann","roles":["developer"]}}"#,
            r#"{"put_member":{"workspace":"vision","user":"bob","roles":["developer"]}}"#,
            r#"{"attach_quota":{"workspace":"vision","quota":"Quota1.2"}}"#,
        ] {
            decide(&mut state, &message::read(text.as_bytes()).expect("it is a command"));
        }
        let id = WorkspaceId::new("vision").expect("a name");
        assert_eq!(
            of_workspace(&state, &id),
            [
                "Its 2 members lose all roles there.",
                "Quota1.2 stays, without this workspace.",
                "It cannot be brought back."
            ]
        );
    }

    #[test]
    fn a_cluster_says_how_much_of_everything_goes() {
        let cost = ClusterCost {
            running: 8,
            queued: 1,
            quotas: 3,
            workspaces: 1,
            keys: 0,
            entries: 19,
            uncounted: None,
            confirm: "word".to_owned(),
        };
        let says = of_cluster(&cost);
        assert_eq!(says[0], "8 running jobs end, 1 queued job goes.");
        assert_eq!(says[1], "With it go 3 quotas, 1 workspace, 0 access keys and its history of 19 entries.");
        let says = of_cluster(&ClusterCost { uncounted: Some("it is being restored".to_owned()), ..cost });
        assert_eq!(says[0], "Nobody can say how many jobs end: it is being restored.");
    }
}
