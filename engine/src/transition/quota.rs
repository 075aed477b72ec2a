//! Quotas: the tree must add up (rules 2.1), policies must make sense (rules 5.2).

use crate::message::command::CreateQuota;
use crate::message::command::DeleteQuota;
use crate::message::command::UpdateQuota;
use crate::message::event::Event;
use crate::message::rejection::Noun;
use crate::message::rejection::Rejection;
use crate::quota::settings::QuotaSettings;
use crate::quota::tree::Quota;
use crate::state::cluster::Cluster;
use crate::state::cluster::Group;
use crate::state::cluster::Node;
use crate::state::domain::Domains;
use crate::state::world::State;
use crate::transition::names;
use crate::unit::amount::Amount;
use crate::unit::amount::Guarantee;
use crate::unit::id::GroupNo;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;
use crate::unit::limit;
use crate::unit::ordered::Set;
use crate::unit::sort;

pub(super) fn create(state: &State, command: &CreateQuota) -> Result<Vec<Event>, Rejection> {
    let CreateQuota { quota: id, parent, groups, min, settings } = command;
    let parent = parent.as_ref().map(|parent| names::quota(state, parent)).transpose()?;
    let mut group_nos =
        groups.iter().map(|group| names::group(state, group)).collect::<Result<Vec<GroupNo>, Rejection>>()?;
    sort::by_key(&mut group_nos, |no| *no);
    group_nos.dedup();
    let min = names::guarantee(state, id.as_str(), min)?;
    let quota = Quota { id: id.clone(), parent, min, groups: group_nos, is_deleted: false, settings: settings.clone() };
    if let Some(no) = state.quota_no(id) {
        let is_same = state.quotas[no.at()] == quota;
        return if is_same {
            Ok(Vec::new())
        } else {
            Err(Rejection::Taken { noun: Noun::Quota, name: id.to_string() })
        };
    }
    names::within_limit("quotas", state.quotas.len() + 1, limit::QUOTAS_MAX)?;
    check_settings(id, settings)?;
    check_place(state, &quota)?;
    let mut quotas = state.quotas.clone();
    quotas.push(quota.clone());
    check_tree(
        &state.cluster,
        &state.groups,
        &state.nodes,
        &quotas,
        &Set::from([QuotaNo::from_index(state.quotas.len())]),
    )?;
    Ok(vec![Event::QuotaCreated { no: QuotaNo::from_index(state.quotas.len()), quota: Box::new(quota) }])
}

/// Roots draw on groups of one kind; children on nothing but their parent; the tree is not too deep.
fn check_place(state: &State, quota: &Quota) -> Result<(), Rejection> {
    let wrong = |reason: String| Err(Rejection::Structure { reason });
    let id = &quota.id;
    let Some(parent) = quota.parent else {
        let Some(first) = quota.groups.first() else {
            return wrong(format!("{id} has no parent, so it is a root and needs at least one resource group"));
        };
        let first = &state.groups[first.at()];
        for no in &quota.groups {
            let group = &state.groups[no.at()];
            if group.resource_type != first.resource_type || group.pool.is_some() != first.pool.is_some() {
                return wrong(format!(
                    "{id} would draw on {} and {}, which are of different kinds; a root draws on one kind",
                    first.id, group.id
                ));
            }
        }
        let overlapping = state.live_quotas().find(|(_, other)| {
            other.parent.is_none()
                && other.groups != quota.groups
                && other.groups.iter().any(|group| quota.groups.contains(group))
        });
        return match overlapping {
            Some((_, other)) => wrong(format!(
                "{id} and {} share some of their resource groups but not all; roots that share groups must draw on the same ones",
                other.id
            )),
            None => Ok(()),
        };
    };
    if !quota.groups.is_empty() {
        return wrong(format!("{id} has a parent, so it draws on that; leave its resource groups out"));
    }
    let mut depth = 2;
    let mut at = parent;
    while let Some(next) = state.quotas[at.at()].parent {
        at = next;
        depth += 1;
    }
    names::within_limit("levels of quotas", depth, limit::DEPTH_MAX)
}

fn check_settings(id: &QuotaId, settings: &QuotaSettings) -> Result<(), Rejection> {
    let QuotaSettings { strategy: _, lends: _, self_level, child_level, grace_period, min_runtime, starvation_after } =
        settings;
    let refuse = |policy: &str, fault| Rejection::Policy { quota: id.to_string(), policy: policy.to_owned(), fault };
    if let Some(policy) = self_level {
        policy.check().map_err(|fault| refuse("self-level", fault))?;
    }
    if let Some(policy) = child_level {
        policy.check().map_err(|fault| refuse("child-level", fault))?;
    }
    for (what, period) in
        [("grace period", grace_period), ("minimum run time", min_runtime), ("starvation period", starvation_after)]
    {
        names::in_range(format_args!("the {what} of {id} in milliseconds"), period.0, 0, limit::PERIOD_MS_MAX)?;
    }
    Ok(())
}

pub(super) fn update(state: &State, command: &UpdateQuota) -> Result<Vec<Event>, Rejection> {
    let no = names::quota(state, &command.quota)?;
    check_settings(&command.quota, &command.settings)?;
    if state.quotas[no.at()].settings == command.settings {
        return Ok(Vec::new());
    }
    Ok(vec![Event::QuotaUpdated { no, settings: Box::new(command.settings.clone()) }])
}

#[inline(never)]
pub(super) fn delete(state: &State, command: &DeleteQuota) -> Result<Vec<Event>, Rejection> {
    let no = names::quota(state, &command.quota)?;
    let refuse = |reason: String| Err(Rejection::NotNow { noun: Noun::Quota, name: command.quota.to_string(), reason });
    if let Some((_, child)) = state.children(no).next() {
        return refuse(format!("has the child {}; delete its children first", child.id));
    }
    if let Some((_, job)) = state.jobs.iter().find(|(_, job)| job.spec.quota == no && !job.is_ended()) {
        return refuse(format!("has the job {}, which has not ended; cancel it or wait for it", job.spec.id));
    }
    if let Some((id, _)) = state.workspaces.iter().find(|(_, workspace)| workspace.quotas.contains(&no)) {
        return refuse(format!("is attached to workspace {id}; detach it first"));
    }
    Ok(vec![Event::QuotaDeleted { no }])
}

/// Whether the tree adds up: children within their parent, roots within their resource groups, in every dimension.
/// Quotas that are about to change come last, so that a refusal names them and what the others leave.
pub(super) fn check_tree(
    cluster: &Cluster,
    groups: &[Group],
    nodes: &[Node],
    quotas: &[Quota],
    changed: &Set<QuotaNo>,
) -> Result<(), Rejection> {
    let mut left: Vec<Amount> = quotas.iter().map(|quota| quota.min.amount).collect();
    let is_changed = |at: &usize| changed.contains(&QuotaNo::from_index(*at));
    let (last, first): (Vec<usize>, Vec<usize>) =
        (0..quotas.len()).filter(|&at| !quotas[at].is_deleted).partition(is_changed);
    for quota in first.into_iter().chain(last).map(|at| &quotas[at]) {
        if let Some(parent) = quota.parent {
            let from = &quotas[parent.at()];
            check_stated(cluster, quota, from)?;
            take(cluster, quota, &mut left[parent.at()], from.min, from.id.as_str())?;
        }
    }
    if !changed.is_empty() && changed.iter().all(|no| quotas[no.at()].parent.is_some()) {
        // Below the roots nothing changes what these take from their groups.
        return Ok(());
    }
    let domains = Domains::of(groups, nodes, quotas);
    for domain in &domains.list {
        let mut left = domain.amount;
        let name = format!("resource group {}", groups[domain.home.at()].id);
        let (last, first): (Vec<QuotaNo>, Vec<QuotaNo>) = domain.roots.iter().partition(|root| changed.contains(root));
        for root in first.iter().chain(&last) {
            let quota = &quotas[root.at()];
            take(cluster, quota, &mut left, Guarantee { amount: domain.amount, stated: u8::MAX }, &name)?;
        }
    }
    Ok(())
}

/// A child may state only dimensions that its parent states: a guarantee needs something that backs it.
fn check_stated(cluster: &Cluster, child: &Quota, parent: &Quota) -> Result<(), Rejection> {
    let unbacked = (0..cluster.dimensions.len()).find(|&at| child.min.states(at) && !parent.min.states(at));
    match unbacked {
        Some(at) => Err(Rejection::Structure {
            reason: format!(
                "{} states {} but its parent {} does not; state it there first",
                child.id, cluster.dimensions[at].name, parent.id
            ),
        }),
        None => Ok(()),
    }
}

fn take(cluster: &Cluster, quota: &Quota, left: &mut Amount, from: Guarantee, name: &str) -> Result<(), Rejection> {
    let over = (0..cluster.dimensions.len()).find(|&at| from.states(at) && quota.min.amount[at] > left[at]);
    if let Some(at) = over {
        return Err(Rejection::DoesNotAddUp {
            quota: quota.id.to_string(),
            dimension: cluster.dimensions[at].clone(),
            needed: quota.min.amount[at],
            from: name.to_owned(),
            left: left[at],
        });
    }
    *left -= quota.min.amount;
    Ok(())
}
