//! Every operation that is served, with its method and path; and those that are not, with the reason.

use crate::operation::Arguments;
use crate::operation::Operation;
use crate::operation::access;
use crate::operation::instance;
use crate::operation::job;
use crate::operation::machine;
use crate::operation::market;
use crate::operation::misfit::Misfit;
use crate::operation::quota;
use crate::operation::resource;
use crate::operation::service;
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
pub const ROWS: [Row; 70] = [
    row(Product::Dlc, "CreateJob", "POST", "/api/v1/jobs", submission::create),
    row(Product::Dlc, "GetJob", "GET", "/api/v1/jobs/{JobId}", job::get),
    row(Product::Dlc, "ListJobs", "GET", "/api/v1/jobs", job::list),
    row(Product::Dlc, "UpdateJob", "PUT", "/api/v1/jobs/{JobId}", job::update),
    row(Product::Dlc, "StopJob", "POST", "/api/v1/jobs/{JobId}/stop", job::stop),
    row(Product::Dlc, "DeleteJob", "DELETE", "/api/v1/jobs/{JobId}", job::delete),
    row(Product::Dlc, "GetJobEvents", "GET", "/api/v1/jobs/{JobId}/events", job::events),
    row(Product::Dlc, "GetPodEvents", "GET", "/api/v1/jobs/{JobId}/pods/{PodId}/events", job::events),
    row(Product::Dlc, "ListEcsSpecs", "GET", "/api/v1/ecsspecs", market::specs),
    row(Product::Studio, "CreateQuota", "POST", "/api/v1/quotas", quota::create),
    row(Product::Studio, "GetQuota", "GET", "/api/v1/quotas/{QuotaId}", quota::get),
    row(Product::Studio, "ListQuotas", "GET", "/api/v1/quotas/", quota::list),
    row(Product::Studio, "UpdateQuota", "PUT", "/api/v1/quotas/{QuotaId}", quota::update),
    row(Product::Studio, "ScaleQuota", "PUT", "/api/v1/quotas/{QuotaId}/action/scale", quota::scale),
    row(Product::Studio, "DeleteQuota", "DELETE", "/api/v1/quotas/{QuotaId}", quota::delete),
    row(Product::Studio, "ListQuotaWorkloads", "GET", "/api/v1/quotas/{QuotaId}/workloads", quota::workloads),
    row(
        Product::Studio,
        "ListQuotaActiveUserUsages",
        "GET",
        "/api/v1/quotas/{QuotaId}/activeuserusages",
        quota::usages,
    ),
    row(Product::Studio, "ListNodes", "GET", "/api/v1/nodes", machine::list_nodes),
    row(Product::Studio, "ListNodePods", "GET", "/api/v1/nodes/{NodeId}/Pods", machine::list_pods),
    row(Product::Studio, "ListNodeTypes", "GET", "/api/v1/nodetypes", machine::list_types),
    row(Product::Studio, "OperateNode", "POST", "/api/v1/nodes/{NodeId}", machine::operate),
    row(Product::Studio, "GetSpotPriceHistory", "GET", "/api/v1/spots/{InstanceType}/pricehistory", market::prices),
    row(Product::Studio, "CreateResourceGroup", "POST", "/api/v1/resources", machine::create_group),
    row(Product::Studio, "ListResourceGroups", "GET", "/api/v1/resources", machine::list_groups),
    row(Product::Studio, "GetResourceGroup", "GET", "/api/v1/resources/{ResourceGroupID}", machine::get_group),
    row(Product::Studio, "UpdateResourceGroup", "PUT", "/api/v1/resources/{ResourceGroupID}", machine::update_group),
    row(Product::Studio, "GetResourceGroupTotal", "GET", "/api/v1/resources/data/total", machine::group_total),
    row(Product::Studio, "GetResourceGroupRequest", "GET", "/api/v1/resources/data/request", machine::group_request),
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
    row(
        Product::Workspace,
        "CreateWorkspaceResource",
        "POST",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        resource::attach,
    ),
    row(
        Product::Workspace,
        "UpdateWorkspaceResource",
        "PUT",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        resource::update,
    ),
    row(
        Product::Workspace,
        "DeleteWorkspaceResource",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        resource::detach,
    ),
    row(Product::Workspace, "ListResources", "GET", "/api/v1/resources", resource::list),
    row(
        Product::Workspace,
        "ListPermissions",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/permissions",
        access::permissions,
    ),
    row(
        Product::Workspace,
        "GetPermission",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/permissions/{PermissionCode}",
        access::permissions,
    ),
    row(Product::Workspace, "ListWorkspaceUsers", "GET", "/api/v1/workspaces/{WorkspaceId}/users", access::users),
    row(Product::Workspace, "ListWorkspaceRoles", "GET", "/api/v1/workspaces/{WorkspaceId}/roles", access::roles),
    row(
        Product::Workspace,
        "GetWorkspaceRole",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/roles/{RoleId}",
        access::roles,
    ),
    row(Product::Workspace, "ListConfigs", "GET", "/api/v1/workspaces/{WorkspaceId}/configs", access::configs),
    row(Product::Workspace, "GetDefaultWorkspace", "GET", "/api/v1/defaultWorkspaces", access::get_default),
    row(Product::Workspace, "UpdateDefaultWorkspace", "PUT", "/api/v1/defaultWorkspaces", access::set_default),
    row(Product::Workspace, "ListQuotas", "GET", "/api/v1/quotas", access::warehouse_quotas),
    row(Product::Eas, "CreateService", "POST", "/api/v2/services", service::create),
    row(Product::Eas, "ListServices", "GET", "/api/v2/services", service::list),
    row(Product::Eas, "DescribeService", "GET", "/api/v2/services/{ClusterId}/{ServiceName}", service::get),
    row(Product::Eas, "UpdateService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}", service::update),
    row(Product::Eas, "DeleteService", "DELETE", "/api/v2/services/{ClusterId}/{ServiceName}", service::delete),
    row(Product::Eas, "StopService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}/stop", service::stop),
    row(Product::Eas, "StartService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}/start", service::start),
    row(Product::Eas, "RestartService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}/restart", service::restart),
    row(
        Product::Eas,
        "ListServiceInstances",
        "GET",
        "/api/v2/services/{ClusterId}/{ServiceName}/instances",
        service::instances,
    ),
    row(
        Product::Eas,
        "DescribeServiceEvent",
        "GET",
        "/api/v2/services/{ClusterId}/{ServiceName}/events",
        service::events,
    ),
    row(Product::Dsw, "CreateInstance", "POST", "/api/v2/instances", instance::create),
    row(Product::Dsw, "ListInstances", "GET", "/api/v2/instances", instance::list),
    row(Product::Dsw, "GetInstance", "GET", "/api/v2/instances/{InstanceId}", instance::get),
    row(Product::Dsw, "UpdateInstance", "PUT", "/api/v2/instances/{InstanceId}", instance::update),
    row(Product::Dsw, "DeleteInstance", "DELETE", "/api/v2/instances/{InstanceId}", instance::delete),
    row(Product::Dsw, "StartInstance", "PUT", "/api/v2/instances/{InstanceId}/start", instance::start),
    row(Product::Dsw, "StopInstance", "PUT", "/api/v2/instances/{InstanceId}/stop", instance::stop),
    row(Product::Dsw, "GetInstanceEvents", "GET", "/api/v2/instances/{InstanceId}/events", instance::events),
];

/// Operations that have nothing to answer with here.
pub const UNSERVED: [(Product, &[&str], &str); 20] = [
    (
        Product::Dlc,
        &["GetPodLogs", "GetJobMetrics", "GetMetrics", "GetToken", "GetWebTerminal", "GetRayDashboard", "GetDashboard"],
        "what runs inside of pods is known to whoever runs them, not to the scheduler",
    ),
    (
        Product::Dlc,
        &["GetJobSanityCheckResult", "ListJobSanityCheckResults"],
        "machines are not checked by the scheduler",
    ),
    (
        Product::Dlc,
        &[
            "CreateJobTemplate",
            "DeleteJobTemplate",
            "GetJobTemplate",
            "ListJobTemplates",
            "SetJobTemplateDefaultVersion",
            "UpdateJobTemplate",
        ],
        "templates are not kept here; send the whole job with CreateJob",
    ),
    (Product::Dlc, &["CreateSignal", "GetSignal", "ListSignals"], "there is no channel into running jobs"),
    (
        Product::Dlc,
        &[
            "CreateTensorboard",
            "DeleteTensorboard",
            "GetTensorboard",
            "GetTensorboardSharedUrl",
            "ListTensorboards",
            "StartTensorboard",
            "StopTensorboard",
            "UpdateTensorboard",
        ],
        "nothing but jobs runs here; a TensorBoard is submitted as one",
    ),
    (Product::Dlc, &["TagResources", "UntagResources", "ListTagResources"], "tags are sent with a job's Settings"),
    (
        Product::Studio,
        &["DeleteResourceGroup"],
        "quotas and the history name a resource group for ever; a pool is emptied with the native put_group",
    ),
    (
        Product::Studio,
        &[
            "CreateResourceGroupMachineGroup",
            "DeleteMachineGroup",
            "DeleteResourceGroupMachineGroup",
            "GetMachineGroup",
            "GetResourceGroupMachineGroup",
            "ListResourceGroupMachineGroups",
            "ReleaseMachineGroup",
            "UpdateResourceGroupMachineGroup",
        ],
        "machines are not ordered in groups here; nodes belong to resource groups, see ListNodes",
    ),
    (
        Product::Studio,
        &[
            "GetJobViewMetrics",
            "GetMetrics",
            "GetNodeGPUMetrics",
            "GetNodeMetrics",
            "GetNodeViewMetrics",
            "GetQuotaJobViewMetrics",
            "GetQuotaMetrics",
            "GetQuotaNodeMetrics",
            "GetQuotaNodeViewMetrics",
            "GetQuotaRangeUserViewMetrics",
            "GetQuotaUserViewMetrics",
            "GetRangeUserViewMetrics",
            "GetResourceGroupMetrics",
            "GetToken",
            "GetUserViewMetrics",
            "ListNodeGPUMetrics",
        ],
        "what machines measure is known to whoever runs them; see ListNodes and ListQuotaActiveUserUsages for use",
    ),
    (
        Product::Studio,
        &["GetJobsStatisticsByQuota", "GetJobsStatisticsByResourceGroup", "GetQueueInfos", "GetQuotaQueueInfo"],
        "what waits and runs in a quota, with places in its queue, is told by ListQuotaWorkloads",
    ),
    (
        Product::Studio,
        &["GetQuotaTopo", "ListQuotaUsers"],
        "a quota's children are told by ListQuotas, its users by ListQuotaActiveUserUsages",
    ),
    (
        Product::Studio,
        &["GetSpotStockPreview", "ListSpotsStockPreview"],
        "what is left of instance types, and at which discount, is told by ListEcsSpecs",
    ),
    (
        Product::Studio,
        &["GetTrainingJobLatestMetrics", "ListTrainingJobInstanceMetrics", "ListTrainingJobMetrics"],
        "training jobs are those of DLC, and what they measure is not known to the scheduler",
    ),
    (
        Product::Studio,
        &["DeleteQuotaLabels", "ListTagResources", "TagResources", "UntagResources", "UpdateQuotaLabels"],
        "a quota's labels are sent whole with UpdateQuota",
    ),
    (
        Product::Workspace,
        &[
            "ChangeResourceGroup",
            "CreateDatasetJobConfig",
            "DeleteDatasetJobConfig",
            "GetDatasetJobConfig",
            "ListDatasetJobConfigs",
            "UpdateDatasetJobConfig",
        ],
        "data sets, and groups that a bill is split by, are not known here; a job names what it mounts",
    ),
    (
        Product::Workspace,
        &["CreateProductOrders", "ListProducts"],
        "nothing is ordered here: the machines belong to the cluster",
    ),
    (
        Product::Workspace,
        &["CreateWorkspaceRole", "UpdateWorkspaceRole", "DeleteWorkspaceRoles"],
        "the roles are the five of ListWorkspaceRoles, and what each may do is fixed",
    ),
    (
        Product::Workspace,
        &[
            "GetConfig",
            "UpdateConfig",
            "UpdateConfigs",
            "DeleteConfig",
            "ListUserConfigs",
            "SetUserConfigs",
            "DeleteUserConfig",
        ],
        "limits by configuration are not enforced here, so none is accepted; quotas and roles are what limits",
    ),
    (
        Product::Eas,
        &[
            "CreateServiceAutoScaler",
            "DeleteServiceAutoScaler",
            "DescribeServiceAutoScaler",
            "UpdateServiceAutoScaler",
            "DeleteServiceInstances",
            "ReleaseService",
            "CreateVirtualResource",
            "DeleteVirtualResource",
            "DescribeVirtualResource",
            "ListVirtualResource",
            "UpdateVirtualResource",
            "CreateResource",
            "DeleteResource",
            "DescribeResource",
            "ListResources",
            "UpdateResource",
            "DescribeServiceLog",
            "DescribeSpotDiscountHistory",
        ],
        "a service here has a number of instances in a quota, and traffic is not known to the scheduler",
    ),
    (
        Product::Dsw,
        &[
            "DeleteInstances",
            "StopInstances",
            "GetResourceGroupStatistics",
            "ListInstanceStatistics",
            "ListEcsSpecs",
            "CreateInstanceSnapshot",
            "GetInstanceMetrics",
            "GetToken",
        ],
        "instances are told of one by one, and live in quotas: see ListInstances and GetQuota",
    ),
];
