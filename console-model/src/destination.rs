//! Where one can go in a cluster, by a part of its name.

use engine::state::world::State;
use engine::unit::id::WorkspaceId;

use crate::path;

/// Destinations that are offered at once.
const OFFERED_MAX: usize = 12;

type Address = fn(&str) -> String;

/// The pages by their names.
const PAGES: [(&str, Address); 11] = [
    ("Quotas", path::cluster),
    ("Jobs", path::jobs),
    ("Nodes", path::nodes),
    ("Submit a job", path::submit),
    ("Planner", path::planner),
    ("Rounds", path::rounds),
    ("Market", path::market),
    ("Bills", path::bills),
    ("Workspaces", path::workspaces),
    ("Access keys", path::keys),
    ("Audit", path::audit),
];

/// Something that has a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// What it is, such as `Quota`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its page's address.
    pub address: String,
}

/// Whatever has this text in its name, in capitals or not: pages, quotas, offers, workspaces, nodes, jobs. Without a text there
/// are the pages.
#[must_use]
pub fn found(state: &State, cluster: &str, text: &str) -> Vec<Destination> {
    let text = text.trim().to_lowercase();
    let named = |kind: &'static str, address: fn(&str, &str) -> String| {
        move |name: &str| Destination { kind, name: name.to_owned(), address: address(cluster, name) }
    };
    let pages =
        PAGES.map(|(name, address)| Destination { kind: "Page", name: name.to_owned(), address: address(cluster) });
    let is_named = |name: &&str| contains(name, &text);
    let quotas = state.live_quotas().map(|(_, quota)| quota.id.as_str()).filter(is_named);
    let offers = state.market.live_offers().map(|(_, offer)| offer.id.as_str()).filter(is_named);
    let workspaces = state.workspaces.keys().map(WorkspaceId::as_str).filter(is_named);
    let nodes = state.live_nodes().map(|(_, node)| node.id.as_str()).filter(is_named);
    let jobs = state.jobs.iter().map(|(_, job)| job.spec.id.as_str()).filter(is_named);
    let things = quotas
        .map(named("Quota", path::quota))
        .chain(offers.map(named("Offer", path::offer)))
        .chain(workspaces.map(named("Workspace", path::workspace)))
        .chain(nodes.map(named("Node", path::node)))
        .chain(jobs.map(named("Job", path::job)));
    let things_max = if text.is_empty() { 0 } else { OFFERED_MAX };
    let pages = pages.into_iter().filter(|page| contains(&page.name, &text));
    pages.chain(things.take(things_max)).take(OFFERED_MAX).collect()
}

/// Whether a name has a text of small letters in it.
fn contains(name: &str, text: &str) -> bool {
    name.to_lowercase().contains(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn names(text: &str) -> Vec<(&'static str, String)> {
        let found = found(&example::three_teams(), "demo", text);
        found.into_iter().map(|one| (one.kind, one.name)).collect()
    }

    #[test]
    fn without_a_text_there_are_the_pages() {
        assert!(names(" ").iter().all(|(kind, _)| *kind == "Page") && names("").len() == PAGES.len());
    }

    #[test]
    fn a_part_of_a_name_is_enough_and_quotas_come_before_jobs() {
        assert_eq!(names("A1.1"), [("Quota", "Quota1.1".to_owned())]);
        let kinds: Vec<&str> = names("a").into_iter().map(|(kind, _)| kind).collect();
        assert!(kinds.is_sorted_by_key(|kind| {
            ["Page", "Quota", "Offer", "Workspace", "Node", "Job"].iter().position(|one| one == kind)
        }));
        assert_eq!(kinds.len(), OFFERED_MAX);
    }

    #[test]
    fn an_address_leads_to_the_page() {
        let found = found(&example::three_teams(), "demo", "training-a");
        assert_eq!(found.first().map(|one| one.address.as_str()), Some("/clusters/demo/jobs/training-a"));
    }
}
