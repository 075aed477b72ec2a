//! The products whose operations are served.

/// A product, known by the version of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Training jobs.
    Dlc,
    /// Workspaces and members.
    Workspace,
    /// Quotas, nodes and prices.
    Studio,
    /// Inference services.
    Eas,
    /// Development instances.
    Dsw,
}

impl Product {
    pub(super) fn of_version(version: &str) -> Option<Self> {
        match version {
            "2020-12-03" => Some(Self::Dlc),
            "2021-02-04" => Some(Self::Workspace),
            "2022-01-12" => Some(Self::Studio),
            "2021-07-01" => Some(Self::Eas),
            "2022-01-01" => Some(Self::Dsw),
            _ => None,
        }
    }
}
