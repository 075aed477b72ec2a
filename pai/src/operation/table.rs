//! Every operation that is served, with its method and path; and those that are not, with the reason.

use crate::operation::Arguments;
use crate::operation::Operation;
use crate::operation::job;
use crate::operation::misfit::Misfit;
use crate::operation::quota;
use crate::operation::submission;
use crate::operation::workspace;

/// A product, known by the version of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Training jobs.
    Dlc,
    /// Workspaces and members.
    Workspace,
    /// Quotas, nodes and prices.
    Studio,
}

impl Product {
    pub(super) fn of_version(version: &str) -> Option<Self> {
        match version {
            "2020-12-03" => Some(Self::Dlc),
            "2021-02-04" => Some(Self::Workspace),
            "2022-01-12" => Some(Self::Studio),
            _ => None,
        }
    }
}

/// An operation that is served.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Whose it is.
    pub product: Product,
    /// Its name.
    pub action: &'static str,
    /// Its method.
    pub method: &'static str,
    /// Its path, with the names of parameters in braces.
    pub path: &'static str,
    pub(super) read: Read,
}

type Read = fn(&Arguments) -> Result<Operation, Misfit>;

const fn row(product: Product, action: &'static str, method: &'static str, path: &'static str, read: Read) -> Row {
    Row { product, action, method, path, read }
}

/// Every operation that is served.
pub const ROWS: [Row; 25] = [
    row(Product::Dlc, "CreateJob", "POST", "/api/v1/jobs", submission::create),
    row(Product::Dlc, "GetJob", "GET", "/api/v1/jobs/{JobId}", job::get),
    row(Product::Dlc, "ListJobs", "GET", "/api/v1/jobs", job::list),
    row(Product::Dlc, "UpdateJob", "PUT", "/api/v1/jobs/{JobId}", job::update),
    row(Product::Dlc, "StopJob", "POST", "/api/v1/jobs/{JobId}/stop", job::stop),
    row(Product::Dlc, "DeleteJob", "DELETE", "/api/v1/jobs/{JobId}", job::delete),
    row(Product::Dlc, "GetJobEvents", "GET", "/api/v1/jobs/{JobId}/events", job::events),
    row(Product::Studio, "CreateQuota", "POST", "/api/v1/quotas", quota::create),
    row(Product::Studio, "GetQuota", "GET", "/api/v1/quotas/{QuotaId}", quota::get),
    row(Product::Studio, "ListQuotas", "GET", "/api/v1/quotas/", quota::list),
    row(Product::Studio, "UpdateQuota", "PUT", "/api/v1/quotas/{QuotaId}", quota::update),
    row(Product::Studio, "ScaleQuota", "PUT", "/api/v1/quotas/{QuotaId}/action/scale", quota::scale),
    row(Product::Studio, "DeleteQuota", "DELETE", "/api/v1/quotas/{QuotaId}", quota::delete),
    row(Product::Studio, "ListQuotaWorkloads", "GET", "/api/v1/quotas/{QuotaId}/workloads", quota::workloads),
    row(Product::Workspace, "CreateWorkspace", "POST", "/api/v1/workspaces", workspace::create),
    row(Product::Workspace, "GetWorkspace", "GET", "/api/v1/workspaces/{WorkspaceId}", workspace::get),
    row(Product::Workspace, "ListWorkspaces", "GET", "/api/v1/workspaces", workspace::list),
    row(Product::Workspace, "UpdateWorkspace", "PUT", "/api/v1/workspaces/{WorkspaceId}", workspace::update),
    row(Product::Workspace, "DeleteWorkspace", "DELETE", "/api/v1/workspaces/{WorkspaceId}", workspace::delete),
    row(Product::Workspace, "CreateMember", "POST", "/api/v1/workspaces/{WorkspaceId}/members", workspace::add_members),
    row(Product::Workspace, "ListMembers", "GET", "/api/v1/workspaces/{WorkspaceId}/members", workspace::list_members),
    row(Product::Workspace, "GetMember", "GET", "/api/v1/workspaces/{WorkspaceId}/member", workspace::get_member),
    row(
        Product::Workspace,
        "DeleteMembers",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/members",
        workspace::remove_members,
    ),
    row(
        Product::Workspace,
        "AddMemberRole",
        "POST",
        "/api/v1/workspaces/{WorkspaceId}/members/{MemberId}/roles/{RoleName}",
        workspace::add_role,
    ),
    row(
        Product::Workspace,
        "RemoveMemberRole",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/members/{MemberId}/roles/{RoleName}",
        workspace::remove_role,
    ),
];

/// Operations that have nothing to answer with here.
pub const UNSERVED: [(Product, &[&str], &str); 3] = [
    (
        Product::Dlc,
        &["GetPodLogs", "GetJobMetrics", "GetToken", "GetWebTerminal"],
        "what runs inside of pods is known to whoever runs them, not to the scheduler",
    ),
    (
        Product::Dlc,
        &["GetJobSanityCheckResult", "ListJobSanityCheckResults"],
        "machines are not checked by the scheduler",
    ),
    (
        Product::Workspace,
        &["CreateProductOrders", "ListProducts"],
        "nothing is ordered here: the machines belong to the cluster",
    ),
];
