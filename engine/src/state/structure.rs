//! What is kept beside quotas, groups and nodes, when these change: made anew, or, for what is added and used by
//! nobody yet, continued.

use crate::ledger;
use crate::ledger::Ledger;
use crate::ledger::Sign;
use crate::placement::floor::Floor;
use crate::quota::tree::Quota;
use crate::state::cluster::Node;
use crate::state::domain::Domains;
use crate::state::preemption_order::PreemptionOrder;
use crate::state::world::State;
use crate::unit::id::DomainNo;
use crate::unit::id::GroupNo;
use crate::unit::id::JobNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Set;

impl State {
    /// Takes a change of quotas, groups or nodes into account: everything may start now, and everybody who still
    /// waits is told the reasons anew.
    pub fn restructure(&mut self) {
        self.rebuild_structure();
        self.queue.restructure(&self.quotas, &self.jobs);
    }

    /// Adds a node, on which nothing runs: nothing of what is kept about the others changes.
    pub fn add_node(&mut self, node: Node) {
        let no = NodeNo::from_index(self.nodes.len());
        let (before, after) = self.node_names.beside(&node.id);
        let beside = [before.copied(), after.copied()];
        let is_added = self.floor.add(&self.cluster, &node, self.domains.of_group(node.group), beside);
        self.node_names.insert(node.id.clone(), no);
        self.domains.add_node(no, &node);
        self.nodes.push(node);
        if is_added {
            self.queue.restructure(&self.quotas, &self.jobs);
        } else {
            self.restructure();
        }
    }

    /// Adds a quota. A child, of which nobody uses anything, changes the books of those above it alone.
    pub fn add_quota(&mut self, quota: Quota) {
        let no = QuotaNo::from_index(self.quotas.len());
        let parent = quota.parent;
        self.quotas.push(quota);
        let Some(parent) = parent else { return self.restructure() };
        self.domains.add_child(parent);
        let domain = self.domains.of_quota(no).at();
        self.lendable[domain].lend += ledger::lent_by_child(&self.quotas[parent.at()], &self.quotas[no.at()]);
        self.ledger.add_child(&self.quotas, no, DomainNo::from_index(domain));
        self.quota_names.insert(self.quotas[no.at()].id.clone(), no);
        self.children[parent.at()].push(no);
        self.children.push(Vec::new());
        self.running.push(Set::new());
        self.in_quota.push(PreemptionOrder::default());
        self.queue.restructure(&self.quotas, &self.jobs);
    }

    /// Recomputes what depends on quotas, groups and nodes.
    pub(super) fn rebuild_structure(&mut self) {
        let live = self.quotas.iter().enumerate().filter(|(_, quota)| !quota.is_deleted);
        self.quota_names = live.map(|(at, quota)| (quota.id.clone(), QuotaNo::from_index(at))).collect();
        let groups = self.groups.iter().enumerate();
        self.group_names = groups.map(|(at, group)| (group.id.clone(), GroupNo::from_index(at))).collect();
        let nodes = self.nodes.iter().enumerate();
        self.node_names = nodes.map(|(at, node)| (node.id.clone(), NodeNo::from_index(at))).collect();
        self.children = vec![Vec::new(); self.quotas.len()];
        for (at, quota) in self.quotas.iter().enumerate().filter(|(_, quota)| !quota.is_deleted) {
            if let Some(parent) = quota.parent {
                self.children[parent.at()].push(QuotaNo::from_index(at));
            }
        }
        self.domains = Domains::of(&self.groups, &self.nodes, &self.quotas);
        self.ledger = Ledger::empty(&self.quotas, &self.domains);
        self.lendable = self.ledger.domains.clone();
        self.floor = Floor::empty(&self.cluster, &self.nodes, &self.domains);
        self.running = vec![Set::new(); self.quotas.len()];
        self.in_quota = vec![PreemptionOrder::default(); self.quotas.len()];
        self.on_idle = vec![PreemptionOrder::default(); self.domains.list.len()];
        self.entitled.clear();
        self.growing.clear();
        self.stopping.clear();
        self.shedding.clear();
        self.over.clear();
        self.silences = self.ends_of_silence().collect();
        let holding: Vec<JobNo> =
            self.jobs.iter().filter(|(_, job)| job.placed().is_some() && !job.bids()).map(|(no, _)| no).collect();
        for no in holding {
            self.book(no, Sign::Add);
        }
        self.queue.open.everybody = true;
    }
}
