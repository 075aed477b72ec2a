//! A quota's place in the tree.

use serde::Deserialize;
use serde::Serialize;

use crate::quota::settings::QuotaSettings;
use crate::unit::amount::Guarantee;
use crate::unit::id::GroupNo;
use crate::unit::id::QuotaId;
use crate::unit::id::QuotaNo;

/// A node of the quota tree (rules 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Its name.
    pub id: QuotaId,
    /// Its parent; a root has none.
    pub parent: Option<QuotaNo>,
    /// What it is guaranteed, its children's amounts included.
    pub min: Guarantee,
    /// What a root draws on; empty below the root.
    pub groups: Vec<GroupNo>,
    /// Whether it has been deleted; its number is never used again.
    #[serde(default)]
    pub is_deleted: bool,
    /// What is set on it.
    pub settings: QuotaSettings,
}
