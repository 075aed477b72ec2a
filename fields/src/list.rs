//! What there is to choose from in a field.

use engine::unit::id::QuotaId;
use engine::unit::priority::Module;

use crate::facts::Facts;

/// A list. It is made when it is shown, and not with every change of what stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List {
    /// All quotas.
    Quotas,
    /// The siblings of a quota, or nobody.
    Siblings(QuotaId),
    /// Jobs; not all of very many.
    Jobs,
    /// Nodes; not all of very many.
    Nodes,
    /// All offers.
    Offers,
    /// All pools.
    Pools,
    /// All modules.
    Modules,
    /// Values with their words.
    Words(&'static [(&'static str, &'static str)]),
    /// Nothing: it is typed.
    Typed,
}

/// More than that is typed rather than looked through.
const LISTED_MAX: usize = 200;

impl List {
    /// Whether it is typed.
    #[must_use]
    pub fn is_typed(&self, facts: &Facts) -> bool {
        match self {
            Self::Jobs | Self::Nodes | Self::Typed => true,
            Self::Quotas | Self::Siblings(_) => facts.quotas.len() > LISTED_MAX,
            Self::Offers => facts.offers.len() > LISTED_MAX,
            Self::Pools | Self::Modules | Self::Words(_) => false,
        }
    }

    /// What is suggested while somebody types, if anything is.
    #[must_use]
    pub fn suggestions(&self) -> Option<Suggestions> {
        match self {
            Self::Jobs => Some(Suggestions::Jobs),
            Self::Nodes => Some(Suggestions::Nodes),
            Self::Quotas | Self::Siblings(_) => Some(Suggestions::Quotas),
            Self::Offers => Some(Suggestions::Offers),
            Self::Pools | Self::Modules | Self::Words(_) | Self::Typed => None,
        }
    }

    /// What there is, with words.
    #[must_use]
    pub fn options(&self, facts: &Facts) -> Vec<(String, String)> {
        match self {
            Self::Quotas => named(facts.quotas.iter().map(|known| known.quota.to_string())),
            Self::Siblings(quota) => {
                let nobody = (String::new(), "nobody: what the parent has left".to_owned());
                let siblings = named(facts.siblings(quota.as_str()).into_iter());
                std::iter::once(nobody).chain(siblings).collect()
            }
            Self::Jobs => named(facts.jobs.iter().map(|known| known.job.to_string())),
            Self::Nodes => named(facts.nodes.iter().map(|known| known.node.to_string())),
            Self::Offers => named(facts.offers.iter().map(|known| known.offer.to_string())),
            Self::Pools => {
                let pools = facts.groups.iter().filter(|known| known.pool.is_some());
                named(pools.map(|known| known.group.to_string()))
            }
            Self::Modules => named(Module::ALL.iter().map(|module| module.as_str().to_owned())),
            Self::Words(words) => {
                words.iter().map(|(value, words)| ((*value).to_owned(), (*words).to_owned())).collect()
            }
            Self::Typed => Vec::new(),
        }
    }
}

/// Names that a page suggests: it has each list once, for all fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suggestions {
    /// Of jobs.
    Jobs,
    /// Of nodes.
    Nodes,
    /// Of quotas.
    Quotas,
    /// Of offers.
    Offers,
}

impl Suggestions {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Jobs, Self::Nodes, Self::Quotas, Self::Offers];

    /// The list's name in the page.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Jobs => "plan-jobs",
            Self::Nodes => "plan-nodes",
            Self::Quotas => "plan-quotas",
            Self::Offers => "plan-offers",
        }
    }

    /// The names, if anybody types them.
    #[must_use]
    pub fn names(self, facts: &Facts) -> Vec<String> {
        let list = match self {
            Self::Jobs => List::Jobs,
            Self::Nodes => List::Nodes,
            Self::Quotas => List::Quotas,
            Self::Offers => List::Offers,
        };
        let options = if list.is_typed(facts) { list.options(facts) } else { Vec::new() };
        options.into_iter().map(|(name, _)| name).collect()
    }
}

fn named(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    names.map(|name| (name.clone(), name)).collect()
}
