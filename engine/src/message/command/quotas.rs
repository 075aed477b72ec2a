//! Commands about quotas (rules 2.1).

use serde::Deserialize;
use serde::Serialize;

use crate::message::command::AmountByName;
use crate::quota::settings::QuotaSettings;
use crate::unit::id::GroupId;
use crate::unit::id::QuotaId;

/// Adds a quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateQuota {
    /// Its name.
    pub quota: QuotaId,
    /// Its parent; none for a root.
    #[serde(default)]
    pub parent: Option<QuotaId>,
    /// What a root draws on; empty below the root.
    #[serde(default)]
    pub groups: Vec<GroupId>,
    /// What it is guaranteed. A dimension that is left out is not constrained.
    pub min: AmountByName,
    /// Its settings.
    #[serde(default)]
    pub settings: QuotaSettings,
}

/// Replaces a quota's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateQuota {
    /// The quota.
    pub quota: QuotaId,
    /// All its settings; what is left out gets its default.
    pub settings: QuotaSettings,
}

/// What happens to jobs that a smaller quota no longer covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScaleMode {
    /// They stay; nothing starts until the quota's use is below its amount.
    #[default]
    Drain,
    /// The cheapest set that covers the excess goes after its grace period.
    Evict,
}

/// A quota's new amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScaleTarget {
    /// The quota.
    pub quota: QuotaId,
    /// The target, not a difference.
    pub min: AmountByName,
}

/// Changes amounts together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScaleQuotas {
    /// The targets.
    pub targets: Vec<ScaleTarget>,
    /// What happens to jobs that are no longer covered.
    #[serde(default)]
    pub mode: ScaleMode,
}

/// Removes an empty quota.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeleteQuota {
    /// The quota.
    pub quota: QuotaId,
}
