//! Every operation that is served, with its method, its path and what can be sent with it.

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
use crate::operation::sent;
use crate::operation::sent::Field;
use crate::operation::sent::Sent;
use crate::operation::sent::dlc;
use crate::operation::sent::dsw;
use crate::operation::sent::eas;
use crate::operation::service;
use crate::operation::submission;
use crate::operation::training;
use crate::operation::workload;
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
    /// What its query can say.
    pub query: Sent,
    /// What its body can say.
    pub body: Sent,
    pub(super) read: Read,
}

type Read = fn(&Arguments) -> Result<Operation, Misfit>;

const fn row(product: Product, action: &'static str, method: &'static str, path: &'static str, read: Read) -> Row {
    Row { product, action, method, path, query: Sent::Fields(&[]), body: Sent::Fields(&[]), read }
}

impl Row {
    const fn query(self, fields: &'static [Field]) -> Self {
        Self { query: Sent::Fields(fields), ..self }
    }

    const fn body(self, fields: &'static [Field]) -> Self {
        Self { body: Sent::Fields(fields), ..self }
    }

    const fn describes(self) -> Self {
        Self { body: Sent::Description, ..self }
    }
}

/// Every operation that is served.
pub const ROWS: [Row; 77] = [
    row(Product::Dlc, "CreateJob", "POST", "/api/v1/jobs", submission::create).body(dlc::CREATE_JOB),
    row(Product::Dlc, "GetJob", "GET", "/api/v1/jobs/{JobId}", job::get).query(dlc::GET_JOB),
    row(Product::Dlc, "ListJobs", "GET", "/api/v1/jobs", job::list).query(dlc::LIST_JOBS),
    row(Product::Dlc, "UpdateJob", "PUT", "/api/v1/jobs/{JobId}", job::update).body(dlc::UPDATE_JOB),
    row(Product::Dlc, "StopJob", "POST", "/api/v1/jobs/{JobId}/stop", job::stop),
    row(Product::Dlc, "DeleteJob", "DELETE", "/api/v1/jobs/{JobId}", job::delete),
    row(Product::Dlc, "GetJobEvents", "GET", "/api/v1/jobs/{JobId}/events", job::events).query(dlc::GET_JOB_EVENTS),
    row(Product::Dlc, "GetPodEvents", "GET", "/api/v1/jobs/{JobId}/pods/{PodId}/events", job::events)
        .query(dlc::GET_POD_EVENTS),
    row(Product::Dlc, "GetPodLogs", "GET", "/api/v1/jobs/{JobId}/pods/{PodId}/logs", job::logs)
        .query(dlc::GET_POD_LOGS),
    row(Product::Dlc, "ListEcsSpecs", "GET", "/api/v1/ecsspecs", market::specs).query(dlc::LIST_ECS_SPECS),
    row(Product::Studio, "CreateTrainingJob", "POST", "/api/v1/trainingjobs", training::create)
        .body(sent::training::CREATE),
    row(Product::Studio, "ListTrainingJobs", "GET", "/api/v1/trainingjobs", training::list).query(sent::training::LIST),
    row(Product::Studio, "GetTrainingJob", "GET", "/api/v1/trainingjobs/{TrainingJobId}", training::get)
        .query(sent::training::GET),
    row(Product::Studio, "StopTrainingJob", "PUT", "/api/v1/trainingjobs/{TrainingJobId}/stop", training::stop),
    row(Product::Studio, "DeleteTrainingJob", "DELETE", "/api/v1/trainingjobs/{TrainingJobId}", training::delete),
    row(
        Product::Studio,
        "ListTrainingJobEvents",
        "GET",
        "/api/v1/trainingjobs/{TrainingJobId}/events",
        training::events,
    )
    .query(sent::training::EVENTS),
    row(Product::Studio, "CreateQuota", "POST", "/api/v1/quotas", quota::create).body(sent::quota::CREATE),
    row(Product::Studio, "GetQuota", "GET", "/api/v1/quotas/{QuotaId}", quota::get).query(sent::quota::GET),
    row(Product::Studio, "ListQuotas", "GET", "/api/v1/quotas/", quota::list).query(sent::quota::LIST),
    row(Product::Studio, "UpdateQuota", "PUT", "/api/v1/quotas/{QuotaId}", quota::update).body(sent::quota::UPDATE),
    row(Product::Studio, "ScaleQuota", "PUT", "/api/v1/quotas/{QuotaId}/action/scale", quota::scale)
        .body(sent::quota::SCALE),
    row(Product::Studio, "DeleteQuota", "DELETE", "/api/v1/quotas/{QuotaId}", quota::delete),
    row(Product::Studio, "ListQuotaWorkloads", "GET", "/api/v1/quotas/{QuotaId}/workloads", workload::workloads)
        .query(sent::quota::WORKLOADS),
    row(
        Product::Studio,
        "ListQuotaActiveUserUsages",
        "GET",
        "/api/v1/quotas/{QuotaId}/activeuserusages",
        workload::usages,
    )
    .query(sent::quota::USAGES),
    row(Product::Studio, "ListNodes", "GET", "/api/v1/nodes", machine::list_nodes).query(sent::machine::LIST_NODES),
    row(Product::Studio, "ListNodePods", "GET", "/api/v1/nodes/{NodeId}/Pods", machine::list_pods)
        .query(sent::machine::LIST_PODS),
    row(Product::Studio, "ListNodeTypes", "GET", "/api/v1/nodetypes", machine::list_types)
        .query(sent::machine::LIST_TYPES),
    row(Product::Studio, "OperateNode", "POST", "/api/v1/nodes/{NodeId}", machine::operate)
        .body(sent::machine::OPERATE),
    row(Product::Studio, "GetSpotPriceHistory", "GET", "/api/v1/spots/{InstanceType}/pricehistory", market::prices)
        .query(sent::machine::PRICES),
    row(Product::Studio, "CreateResourceGroup", "POST", "/api/v1/resources", machine::create_group)
        .body(sent::machine::CREATE_GROUP),
    row(Product::Studio, "ListResourceGroups", "GET", "/api/v1/resources", machine::list_groups)
        .query(sent::machine::LIST_GROUPS),
    row(Product::Studio, "GetResourceGroup", "GET", "/api/v1/resources/{ResourceGroupID}", machine::get_group)
        .query(sent::machine::GET_GROUP),
    row(Product::Studio, "UpdateResourceGroup", "PUT", "/api/v1/resources/{ResourceGroupID}", machine::update_group)
        .body(sent::machine::UPDATE_GROUP),
    row(Product::Studio, "GetResourceGroupTotal", "GET", "/api/v1/resources/data/total", machine::group_total)
        .query(sent::machine::GROUP_TOTAL),
    row(Product::Studio, "GetResourceGroupRequest", "GET", "/api/v1/resources/data/request", machine::group_request)
        .query(sent::machine::GROUP_REQUEST),
    row(Product::Workspace, "CreateWorkspace", "POST", "/api/v1/workspaces", workspace::create)
        .body(sent::workspace::CREATE),
    row(Product::Workspace, "GetWorkspace", "GET", "/api/v1/workspaces/{WorkspaceId}", workspace::get)
        .query(sent::workspace::GET),
    row(Product::Workspace, "ListWorkspaces", "GET", "/api/v1/workspaces", workspace::list)
        .query(sent::workspace::LIST),
    row(Product::Workspace, "UpdateWorkspace", "PUT", "/api/v1/workspaces/{WorkspaceId}", workspace::update)
        .body(sent::workspace::UPDATE),
    row(Product::Workspace, "DeleteWorkspace", "DELETE", "/api/v1/workspaces/{WorkspaceId}", workspace::delete),
    row(Product::Workspace, "CreateMember", "POST", "/api/v1/workspaces/{WorkspaceId}/members", workspace::add_members)
        .body(sent::workspace::ADD_MEMBERS),
    row(Product::Workspace, "ListMembers", "GET", "/api/v1/workspaces/{WorkspaceId}/members", workspace::list_members)
        .query(sent::workspace::LIST_MEMBERS),
    row(Product::Workspace, "GetMember", "GET", "/api/v1/workspaces/{WorkspaceId}/member", workspace::get_member)
        .query(sent::workspace::GET_MEMBER),
    row(
        Product::Workspace,
        "DeleteMembers",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/members",
        workspace::remove_members,
    )
    .query(sent::workspace::REMOVE_MEMBERS),
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
    )
    .body(sent::workspace::ATTACH),
    row(
        Product::Workspace,
        "UpdateWorkspaceResource",
        "PUT",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        resource::update,
    )
    .body(sent::workspace::UPDATE_RESOURCE),
    row(
        Product::Workspace,
        "DeleteWorkspaceResource",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        resource::detach,
    )
    .query(sent::workspace::DETACH),
    row(Product::Workspace, "ListResources", "GET", "/api/v1/resources", resource::list)
        .query(sent::workspace::LIST_RESOURCES),
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
    )
    .query(sent::workspace::GET_PERMISSION),
    row(Product::Workspace, "ListWorkspaceUsers", "GET", "/api/v1/workspaces/{WorkspaceId}/users", access::users)
        .query(sent::workspace::LIST_USERS),
    row(Product::Workspace, "ListWorkspaceRoles", "GET", "/api/v1/workspaces/{WorkspaceId}/roles", access::roles)
        .query(sent::workspace::LIST_ROLES),
    row(Product::Workspace, "GetWorkspaceRole", "GET", "/api/v1/workspaces/{WorkspaceId}/roles/{RoleId}", access::role),
    row(Product::Workspace, "ListConfigs", "GET", "/api/v1/workspaces/{WorkspaceId}/configs", access::configs)
        .query(sent::workspace::LIST_CONFIGS),
    row(Product::Workspace, "GetDefaultWorkspace", "GET", "/api/v1/defaultWorkspaces", access::get_default)
        .query(sent::workspace::GET_DEFAULT),
    row(Product::Workspace, "UpdateDefaultWorkspace", "PUT", "/api/v1/defaultWorkspaces", access::set_default)
        .body(sent::workspace::SET_DEFAULT),
    row(Product::Workspace, "ListQuotas", "GET", "/api/v1/quotas", access::warehouse_quotas)
        .query(sent::workspace::LIST_WAREHOUSE_QUOTAS),
    row(Product::Eas, "CreateService", "POST", "/api/v2/services", service::create).query(eas::CREATE).describes(),
    row(Product::Eas, "ListServices", "GET", "/api/v2/services", service::list).query(eas::LIST),
    row(Product::Eas, "DescribeService", "GET", "/api/v2/services/{ClusterId}/{ServiceName}", service::get),
    row(Product::Eas, "UpdateService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}", service::update)
        .query(eas::UPDATE)
        .describes(),
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
    )
    .query(eas::INSTANCES),
    row(
        Product::Eas,
        "DescribeServiceEvent",
        "GET",
        "/api/v2/services/{ClusterId}/{ServiceName}/events",
        service::events,
    )
    .query(eas::EVENTS),
    row(Product::Dsw, "CreateInstance", "POST", "/api/v2/instances", instance::create).body(dsw::CREATE),
    row(Product::Dsw, "ListInstances", "GET", "/api/v2/instances", instance::list).query(dsw::LIST),
    row(Product::Dsw, "GetInstance", "GET", "/api/v2/instances/{InstanceId}", instance::get).query(dsw::GET),
    row(Product::Dsw, "UpdateInstance", "PUT", "/api/v2/instances/{InstanceId}", instance::update).body(dsw::UPDATE),
    row(Product::Dsw, "DeleteInstance", "DELETE", "/api/v2/instances/{InstanceId}", instance::delete),
    row(Product::Dsw, "StartInstance", "PUT", "/api/v2/instances/{InstanceId}/start", instance::start),
    row(Product::Dsw, "StopInstance", "PUT", "/api/v2/instances/{InstanceId}/stop", instance::stop).query(dsw::STOP),
    row(Product::Dsw, "GetInstanceEvents", "GET", "/api/v2/instances/{InstanceId}/events", instance::events)
        .query(dsw::EVENTS),
];
