//! Domains: resource groups with the root quotas that draw on them.
//!
//! Roots that share a resource group share all of theirs, so groups and roots fall into disjoint domains. A gang
//! never spans two of them.

use crate::quota::tree::Quota;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::unit::amount::Amount;
use crate::unit::id::DomainNo;
use crate::unit::id::GroupNo;
use crate::unit::id::NodeNo;
use crate::unit::id::QuotaNo;
use crate::unit::ordered::Map;
use crate::unit::resource::ResourceType;
use crate::unit::sort;

/// Groups, roots and nodes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// The first of its groups, by which allocations name it.
    pub home: GroupNo,
    /// The kind of machines.
    pub resource_type: ResourceType,
    /// Whether any split fits.
    pub is_pool: bool,
    /// Whether there is no other one of its kind of machines.
    pub is_only: bool,
    /// What its machines have in all, cordoned ones included.
    pub amount: Amount,
    /// Its groups.
    pub groups: Vec<GroupNo>,
    /// The roots that draw on it.
    pub roots: Vec<QuotaNo>,
    /// Its nodes.
    pub nodes: Vec<NodeNo>,
    /// Its ready nodes by what each of them has: how many there are.
    pub ready: Map<Amount, u32>,
}

/// The domains of a cluster, and the way to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domains {
    /// All domains, by their first group.
    pub list: Vec<Domain>,
    of_group: Vec<DomainNo>,
    of_quota: Vec<DomainNo>,
}

impl Domains {
    /// The domains of these groups, nodes and quotas.
    #[must_use]
    pub fn of(groups: &[Group], nodes: &[Node], quotas: &[Quota]) -> Self {
        let mut domains = Self { of_group: vec![DomainNo(u32::MAX); groups.len()], ..Self::default() };
        for (at, quota) in quotas.iter().enumerate().filter(|(_, quota)| !quota.is_deleted && quota.parent.is_none()) {
            let Some(first) = quota.groups.first() else { continue };
            if domains.of_group[first.at()].0 == u32::MAX {
                domains.add(&quota.groups, groups);
            }
            let domain = domains.of_group[first.at()];
            domains.list[domain.at()].roots.push(QuotaNo::from_index(at));
        }
        for at in 0..groups.len() {
            if domains.of_group[at].0 == u32::MAX {
                domains.add(&[GroupNo::from_index(at)], groups);
            }
        }
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| !node.is_deleted) {
            domains.add_node(NodeNo::from_index(at), node);
        }
        domains.of_quota = (0..quotas.len())
            .map(|at| domains.of_group[root_of(quotas, at).groups.first().map_or(0, |group| group.at())])
            .collect();
        domains
    }

    /// Adds a node whose number is higher than those of the others.
    pub fn add_node(&mut self, no: NodeNo, node: &Node) {
        let domain = &mut self.list[self.of_group[node.group.at()].at()];
        domain.nodes.push(no);
        domain.amount += node.amount;
        if node.is_open() {
            *domain.ready.or_default(node.amount) += 1;
        }
    }

    /// Adds a quota whose number is the next, and which has a parent.
    pub fn add_child(&mut self, parent: QuotaNo) {
        self.of_quota.push(self.of_quota(parent));
    }

    fn add(&mut self, members: &[GroupNo], groups: &[Group]) {
        let mut members = members.to_vec();
        sort::by_key(&mut members, |no| *no);
        let first = &groups[members[0].at()];
        let first_of_kind = self.list.iter_mut().find(|other| other.resource_type == first.resource_type);
        let is_only = first_of_kind.map(|other| other.is_only = false).is_none();
        let amount = members
            .iter()
            .filter_map(|member| groups[member.at()].pool)
            .fold(Amount::ZERO, |sum, pool| sum.plus(&pool));
        for member in &members {
            self.of_group[member.at()] = DomainNo::from_index(self.list.len());
        }
        self.list.push(Domain {
            home: members[0],
            resource_type: first.resource_type,
            is_pool: first.pool.is_some(),
            is_only,
            amount,
            groups: members,
            roots: Vec::new(),
            nodes: Vec::new(),
            ready: Map::new(),
        });
    }

    /// The domain of a group.
    #[must_use]
    pub fn of_group(&self, group: GroupNo) -> DomainNo {
        self.of_group[group.at()]
    }

    /// The domain that a quota's root draws on.
    #[must_use]
    pub fn of_quota(&self, quota: QuotaNo) -> DomainNo {
        self.of_quota[quota.at()]
    }
}

fn root_of(quotas: &[Quota], at: usize) -> &Quota {
    let mut quota = &quotas[at];
    while let Some(parent) = quota.parent {
        quota = &quotas[parent.at()];
    }
    quota
}
