//! What fields need to know of where a change is made: what there is, and what stands there before.

use engine::host::plan::base::Base;
use engine::message::command::AmountByName;
use engine::message::command::PutGroup;
use engine::message::command::PutNode;
use engine::quota::settings::QuotaSettings;
use engine::state::world::State;
use engine::unit::amount::Dimension;
use engine::unit::id::JobId;
use engine::unit::id::OfferId;
use engine::unit::id::QuotaId;
use engine::unit::quantity;
use engine::unit::resource::ResourceType;
use engine::unit::sort;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

/// Jobs that can be chosen from a list; any other one is typed.
const JOBS_LISTED: usize = 500;
/// Nodes that can be chosen.
const NODES_LISTED: usize = 2_000;

/// A cluster at one of its revisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The cluster's name.
    pub cluster: String,
    /// The revision.
    pub revision: u64,
}

/// A quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaFacts {
    /// Its name.
    pub quota: QuotaId,
    /// Its parent.
    pub parent: Option<QuotaId>,
    /// What it is guaranteed.
    pub min: AmountByName,
    /// What is set on it.
    pub settings: QuotaSettings,
}

/// An offer of the spot market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferFacts {
    /// Its name.
    pub offer: OfferId,
    /// Its price, in micro-units of currency for an instance-minute.
    pub price: i64,
    /// The price that discounts are taken from.
    pub original: i64,
    /// How many instances there are.
    pub inventory: i64,
    /// The kind of machines: it decides how one bids.
    pub resource_type: ResourceType,
}

impl OfferFacts {
    /// The limits of a bid that gets instances at the price as it is: a discount on Lingjun, a price elsewhere.
    #[must_use]
    pub fn limits(&self) -> (Option<i64>, Option<i64>) {
        match self.resource_type {
            ResourceType::Lingjun => {
                let tenths = (self.price * 10 + self.original - 1) / self.original.max(1);
                (Some(tenths.clamp(1, 9) * 10), None)
            }
            ResourceType::General => (None, Some(self.price)),
        }
    }
}

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFacts {
    /// Its name.
    pub job: JobId,
    /// Its priority.
    pub priority: u8,
    /// Whether it waits.
    pub waits: bool,
}

/// Where a change is made; nothing is there by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// What people call it.
    pub title: String,
    /// The cluster that it was taken from, if it was.
    pub place: Option<Place>,
    /// When.
    pub from: Timestamp,
    /// The dimensions of amounts.
    pub dimensions: Vec<Dimension>,
    /// Quotas, parents before their children.
    pub quotas: Vec<QuotaFacts>,
    /// Offers of the spot market.
    pub offers: Vec<OfferFacts>,
    /// Groups, each as the command that puts it.
    pub groups: Vec<PutGroup>,
    /// Nodes, each as the command that puts it; not all of very many.
    pub nodes: Vec<PutNode>,
    /// Jobs: those that wait first, and not all of very many.
    pub jobs: Vec<JobFacts>,
    /// How many jobs there are.
    pub n_jobs: u64,
    /// How many commands are known to follow.
    pub n_ahead: u64,
    /// What people should know of how it was read.
    pub remarks: Vec<String>,
}

impl Facts {
    /// Of a base.
    #[must_use]
    pub fn of(base: &Base, title: String, place: Option<Place>, remarks: Vec<String>) -> Self {
        let state = base.state.as_ref();
        let alive = || state.jobs.iter().filter(|(_, job)| !job.is_ended());
        let mut jobs: Vec<JobFacts> = Vec::new();
        for waits in [true, false] {
            let of_these = alive().filter(|(_, job)| job.is_queued() == waits).map(|(_, job)| JobFacts {
                job: job.spec.id.clone(),
                priority: job.spec.priority.get(),
                waits,
            });
            jobs.extend(of_these.take(JOBS_LISTED.saturating_sub(jobs.len())));
        }
        Self {
            title,
            place,
            from: base.from,
            dimensions: state.cluster.dimensions.clone(),
            quotas: quotas(state),
            offers: offers(state),
            groups: groups(state),
            nodes: nodes(state),
            jobs,
            n_jobs: alive().count() as u64,
            n_ahead: base.ahead.len() as u64,
            remarks,
        }
    }

    /// A quota.
    #[must_use]
    pub fn quota(&self, quota: &QuotaId) -> Option<&QuotaFacts> {
        self.quotas.iter().find(|known| known.quota == *quota)
    }

    /// An offer.
    #[must_use]
    pub fn offer(&self, offer: &OfferId) -> Option<&OfferFacts> {
        self.offers.iter().find(|known| known.offer == *offer)
    }

    /// The quota of this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn quota_named(&self, name: &str) -> Result<&QuotaFacts, String> {
        let known = self.quotas.iter().find(|known| known.quota.as_str() == name);
        known.ok_or_else(|| format!("there is no quota “{name}”"))
    }

    /// The offer of this name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn offer_named(&self, name: &str) -> Result<&OfferFacts, String> {
        let known = self.offers.iter().find(|known| known.offer.as_str() == name);
        known.ok_or_else(|| format!("there is no offer “{name}”"))
    }

    /// Quotas with the same parent as this one, which can give to it.
    #[must_use]
    pub fn siblings(&self, quota: &str) -> Vec<String> {
        let own = self.quotas.iter().find(|known| known.quota.as_str() == quota);
        let Some(parent) = own.and_then(|known| known.parent.as_ref()) else { return Vec::new() };
        let others = self.quotas.iter().filter(|known| known.quota.as_str() != quota);
        others.filter(|known| known.parent.as_ref() == Some(parent)).map(|known| known.quota.to_string()).collect()
    }

    /// An amount of a dimension, with its unit.
    pub(crate) fn amount(&self, dimension: &str, value: i64) -> String {
        let known = self.dimensions.iter().find(|known| known.name == dimension);
        known.map_or_else(|| value.to_string(), |known| quantity::quantity(known, value))
    }

    /// An amount of a dimension, without its unit.
    pub(crate) fn bare(&self, dimension: &str, value: i64) -> String {
        let known = self.dimensions.iter().find(|known| known.name == dimension);
        known.map_or_else(|| value.to_string(), |known| quantity::bare(known, value))
    }

    /// What a quota is guaranteed of a dimension.
    #[must_use]
    pub fn min(&self, quota: &QuotaId, dimension: &str) -> i64 {
        self.quota(quota).and_then(|known| known.min.get(dimension)).copied().unwrap_or(0)
    }
}

fn quotas(state: &State) -> Vec<QuotaFacts> {
    let mut order: Vec<_> = state.live_quotas().map(|(no, _)| no).collect();
    // A parent's number is smaller than its children's.
    sort::by_key(&mut order, |no| no.at());
    let told = order.into_iter().map(|no| {
        let quota = &state.quotas[no.at()];
        let stated = state.cluster.dimensions.iter().enumerate().filter(|(at, _)| quota.min.states(*at));
        QuotaFacts {
            quota: quota.id.clone(),
            parent: quota.parent.map(|parent| state.quotas[parent.at()].id.clone()),
            min: stated.map(|(at, known)| (known.name.clone(), quota.min.amount[at])).collect(),
            settings: quota.settings.clone(),
        }
    });
    told.collect()
}

fn offers(state: &State) -> Vec<OfferFacts> {
    let told = state.market.live_offers().map(|(_, offer)| OfferFacts {
        offer: offer.id.clone(),
        price: offer.course.price(),
        original: offer.terms.original_price,
        inventory: offer.inventory,
        resource_type: offer.resource_type,
    });
    told.collect()
}

fn groups(state: &State) -> Vec<PutGroup> {
    let told = state.groups.iter().map(|group| PutGroup {
        group: group.id.clone(),
        resource_type: group.resource_type,
        pool: group.pool.as_ref().map(|pool| state.cluster.by_name(pool)),
        on_silence: None,
    });
    told.collect()
}

fn nodes(state: &State) -> Vec<PutNode> {
    state.live_nodes().take(NODES_LISTED).map(|(_, node)| PutNode::of(state, node)).collect()
}
