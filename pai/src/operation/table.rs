//! Every operation that is served.

use crate::operation::access;
use crate::operation::instance;
use crate::operation::job;
use crate::operation::machine;
use crate::operation::market;
use crate::operation::product::Product::Dlc;
use crate::operation::product::Product::Dsw;
use crate::operation::product::Product::Eas;
use crate::operation::product::Product::Studio;
use crate::operation::product::Product::Workspace;
use crate::operation::quota;
use crate::operation::resource;
use crate::operation::row::Read;
use crate::operation::row::Row;
use crate::operation::row::row;
use crate::operation::sent;
use crate::operation::sent::dlc;
use crate::operation::sent::dsw;
use crate::operation::sent::eas;
use crate::operation::service;
use crate::operation::training;
use crate::operation::workspace;

/// Every operation that is served.
pub const ROWS: [Row; 77] = [
    row(Dlc, "CreateJob", "POST", "/api/v1/jobs", Read::Job(job::create)).body(dlc::CREATE_JOB),
    row(Dlc, "GetJob", "GET", "/api/v1/jobs/{JobId}", Read::Job(job::get)).query(dlc::GET_JOB),
    row(Dlc, "ListJobs", "GET", "/api/v1/jobs", Read::Job(job::list)).query(dlc::LIST_JOBS),
    row(Dlc, "UpdateJob", "PUT", "/api/v1/jobs/{JobId}", Read::Job(job::update)).body(dlc::UPDATE_JOB),
    row(Dlc, "StopJob", "POST", "/api/v1/jobs/{JobId}/stop", Read::Job(job::stop)),
    row(Dlc, "DeleteJob", "DELETE", "/api/v1/jobs/{JobId}", Read::Job(job::delete)),
    row(Dlc, "GetJobEvents", "GET", "/api/v1/jobs/{JobId}/events", Read::Job(job::events)).query(dlc::GET_JOB_EVENTS),
    row(Dlc, "GetPodEvents", "GET", "/api/v1/jobs/{JobId}/pods/{PodId}/events", Read::Job(job::events))
        .query(dlc::GET_POD_EVENTS),
    row(Dlc, "GetPodLogs", "GET", "/api/v1/jobs/{JobId}/pods/{PodId}/logs", Read::Job(job::logs))
        .query(dlc::GET_POD_LOGS),
    row(Dlc, "ListEcsSpecs", "GET", "/api/v1/ecsspecs", Read::Market(market::specs)).query(dlc::LIST_ECS_SPECS),
    row(Studio, "CreateTrainingJob", "POST", "/api/v1/trainingjobs", Read::Training(training::create))
        .body(sent::training::CREATE),
    row(Studio, "ListTrainingJobs", "GET", "/api/v1/trainingjobs", Read::Training(training::list))
        .query(sent::training::LIST),
    row(Studio, "GetTrainingJob", "GET", "/api/v1/trainingjobs/{TrainingJobId}", Read::Training(training::get))
        .query(sent::training::GET),
    row(Studio, "StopTrainingJob", "PUT", "/api/v1/trainingjobs/{TrainingJobId}/stop", Read::Training(training::stop)),
    row(
        Studio,
        "DeleteTrainingJob",
        "DELETE",
        "/api/v1/trainingjobs/{TrainingJobId}",
        Read::Training(training::delete),
    ),
    row(
        Studio,
        "ListTrainingJobEvents",
        "GET",
        "/api/v1/trainingjobs/{TrainingJobId}/events",
        Read::Training(training::events),
    )
    .query(sent::training::EVENTS),
    row(Studio, "CreateQuota", "POST", "/api/v1/quotas", Read::Quota(quota::create)).body(sent::quota::CREATE),
    row(Studio, "GetQuota", "GET", "/api/v1/quotas/{QuotaId}", Read::Quota(quota::get)).query(sent::quota::GET),
    row(Studio, "ListQuotas", "GET", "/api/v1/quotas/", Read::Quota(quota::list)).query(sent::quota::LIST),
    row(Studio, "UpdateQuota", "PUT", "/api/v1/quotas/{QuotaId}", Read::Quota(quota::update)).body(sent::quota::UPDATE),
    row(Studio, "ScaleQuota", "PUT", "/api/v1/quotas/{QuotaId}/action/scale", Read::Quota(quota::scale))
        .body(sent::quota::SCALE),
    row(Studio, "DeleteQuota", "DELETE", "/api/v1/quotas/{QuotaId}", Read::Quota(quota::delete)),
    row(Studio, "ListQuotaWorkloads", "GET", "/api/v1/quotas/{QuotaId}/workloads", Read::Quota(quota::workloads))
        .query(sent::quota::WORKLOADS),
    row(
        Studio,
        "ListQuotaActiveUserUsages",
        "GET",
        "/api/v1/quotas/{QuotaId}/activeuserusages",
        Read::Quota(quota::usages),
    )
    .query(sent::quota::USAGES),
    row(Studio, "ListNodes", "GET", "/api/v1/nodes", Read::Machine(machine::list_nodes))
        .query(sent::machine::LIST_NODES),
    row(Studio, "ListNodePods", "GET", "/api/v1/nodes/{NodeId}/Pods", Read::Machine(machine::list_pods))
        .query(sent::machine::LIST_PODS),
    row(Studio, "ListNodeTypes", "GET", "/api/v1/nodetypes", Read::Machine(machine::list_types))
        .query(sent::machine::LIST_TYPES),
    row(Studio, "OperateNode", "POST", "/api/v1/nodes/{NodeId}", Read::Machine(machine::operate))
        .body(sent::machine::OPERATE),
    row(
        Studio,
        "GetSpotPriceHistory",
        "GET",
        "/api/v1/spots/{InstanceType}/pricehistory",
        Read::Market(market::prices),
    )
    .query(sent::machine::PRICES),
    row(Studio, "CreateResourceGroup", "POST", "/api/v1/resources", Read::Machine(machine::create_group))
        .body(sent::machine::CREATE_GROUP),
    row(Studio, "ListResourceGroups", "GET", "/api/v1/resources", Read::Machine(machine::list_groups))
        .query(sent::machine::LIST_GROUPS),
    row(Studio, "GetResourceGroup", "GET", "/api/v1/resources/{ResourceGroupID}", Read::Machine(machine::get_group))
        .query(sent::machine::GET_GROUP),
    row(
        Studio,
        "UpdateResourceGroup",
        "PUT",
        "/api/v1/resources/{ResourceGroupID}",
        Read::Machine(machine::update_group),
    )
    .body(sent::machine::UPDATE_GROUP),
    row(Studio, "GetResourceGroupTotal", "GET", "/api/v1/resources/data/total", Read::Machine(machine::group_total))
        .query(sent::machine::GROUP_TOTAL),
    row(
        Studio,
        "GetResourceGroupRequest",
        "GET",
        "/api/v1/resources/data/request",
        Read::Machine(machine::group_request),
    )
    .query(sent::machine::GROUP_REQUEST),
    row(Workspace, "CreateWorkspace", "POST", "/api/v1/workspaces", Read::Workspace(workspace::create))
        .body(sent::workspace::CREATE),
    row(Workspace, "GetWorkspace", "GET", "/api/v1/workspaces/{WorkspaceId}", Read::Workspace(workspace::get))
        .query(sent::workspace::GET),
    row(Workspace, "ListWorkspaces", "GET", "/api/v1/workspaces", Read::Workspace(workspace::list))
        .query(sent::workspace::LIST),
    row(Workspace, "UpdateWorkspace", "PUT", "/api/v1/workspaces/{WorkspaceId}", Read::Workspace(workspace::update))
        .body(sent::workspace::UPDATE),
    row(Workspace, "DeleteWorkspace", "DELETE", "/api/v1/workspaces/{WorkspaceId}", Read::Workspace(workspace::delete)),
    row(
        Workspace,
        "CreateMember",
        "POST",
        "/api/v1/workspaces/{WorkspaceId}/members",
        Read::Workspace(workspace::add_members),
    )
    .body(sent::workspace::ADD_MEMBERS),
    row(
        Workspace,
        "ListMembers",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/members",
        Read::Workspace(workspace::list_members),
    )
    .query(sent::workspace::LIST_MEMBERS),
    row(
        Workspace,
        "GetMember",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/member",
        Read::Workspace(workspace::get_member),
    )
    .query(sent::workspace::GET_MEMBER),
    row(
        Workspace,
        "DeleteMembers",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/members",
        Read::Workspace(workspace::remove_members),
    )
    .query(sent::workspace::REMOVE_MEMBERS),
    row(
        Workspace,
        "AddMemberRole",
        "POST",
        "/api/v1/workspaces/{WorkspaceId}/members/{MemberId}/roles/{RoleName}",
        Read::Workspace(workspace::add_role),
    ),
    row(
        Workspace,
        "RemoveMemberRole",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/members/{MemberId}/roles/{RoleName}",
        Read::Workspace(workspace::remove_role),
    ),
    row(
        Workspace,
        "CreateWorkspaceResource",
        "POST",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        Read::Resource(resource::attach),
    )
    .body(sent::workspace::ATTACH),
    row(
        Workspace,
        "UpdateWorkspaceResource",
        "PUT",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        Read::Resource(resource::update),
    )
    .body(sent::workspace::UPDATE_RESOURCE),
    row(
        Workspace,
        "DeleteWorkspaceResource",
        "DELETE",
        "/api/v1/workspaces/{WorkspaceId}/resources",
        Read::Resource(resource::detach),
    )
    .query(sent::workspace::DETACH),
    row(Workspace, "ListResources", "GET", "/api/v1/resources", Read::Resource(resource::list))
        .query(sent::workspace::LIST_RESOURCES),
    row(
        Workspace,
        "ListPermissions",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/permissions",
        Read::Access(access::permissions),
    ),
    row(
        Workspace,
        "GetPermission",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/permissions/{PermissionCode}",
        Read::Access(access::permissions),
    )
    .query(sent::workspace::GET_PERMISSION),
    row(Workspace, "ListWorkspaceUsers", "GET", "/api/v1/workspaces/{WorkspaceId}/users", Read::Access(access::users))
        .query(sent::workspace::LIST_USERS),
    row(Workspace, "ListWorkspaceRoles", "GET", "/api/v1/workspaces/{WorkspaceId}/roles", Read::Access(access::roles))
        .query(sent::workspace::LIST_ROLES),
    row(
        Workspace,
        "GetWorkspaceRole",
        "GET",
        "/api/v1/workspaces/{WorkspaceId}/roles/{RoleId}",
        Read::Access(access::role),
    ),
    row(Workspace, "ListConfigs", "GET", "/api/v1/workspaces/{WorkspaceId}/configs", Read::Access(access::configs))
        .query(sent::workspace::LIST_CONFIGS),
    row(Workspace, "GetDefaultWorkspace", "GET", "/api/v1/defaultWorkspaces", Read::Access(access::get_default))
        .query(sent::workspace::GET_DEFAULT),
    row(Workspace, "UpdateDefaultWorkspace", "PUT", "/api/v1/defaultWorkspaces", Read::Access(access::set_default))
        .body(sent::workspace::SET_DEFAULT),
    row(Workspace, "ListQuotas", "GET", "/api/v1/quotas", Read::Access(access::warehouse_quotas))
        .query(sent::workspace::LIST_WAREHOUSE_QUOTAS),
    row(Eas, "CreateService", "POST", "/api/v2/services", Read::Service(service::create))
        .query(eas::CREATE)
        .describes(),
    row(Eas, "ListServices", "GET", "/api/v2/services", Read::Service(service::list)).query(eas::LIST),
    row(Eas, "DescribeService", "GET", "/api/v2/services/{ClusterId}/{ServiceName}", Read::Service(service::get)),
    row(Eas, "UpdateService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}", Read::Service(service::update))
        .query(eas::UPDATE)
        .describes(),
    row(Eas, "DeleteService", "DELETE", "/api/v2/services/{ClusterId}/{ServiceName}", Read::Service(service::delete)),
    row(Eas, "StopService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}/stop", Read::Service(service::stop)),
    row(Eas, "StartService", "PUT", "/api/v2/services/{ClusterId}/{ServiceName}/start", Read::Service(service::start)),
    row(
        Eas,
        "RestartService",
        "PUT",
        "/api/v2/services/{ClusterId}/{ServiceName}/restart",
        Read::Service(service::restart),
    ),
    row(
        Eas,
        "ListServiceInstances",
        "GET",
        "/api/v2/services/{ClusterId}/{ServiceName}/instances",
        Read::Service(service::instances),
    )
    .query(eas::INSTANCES),
    row(
        Eas,
        "DescribeServiceEvent",
        "GET",
        "/api/v2/services/{ClusterId}/{ServiceName}/events",
        Read::Service(service::events),
    )
    .query(eas::EVENTS),
    row(Dsw, "CreateInstance", "POST", "/api/v2/instances", Read::Instance(instance::create)).body(dsw::CREATE),
    row(Dsw, "ListInstances", "GET", "/api/v2/instances", Read::Instance(instance::list)).query(dsw::LIST),
    row(Dsw, "GetInstance", "GET", "/api/v2/instances/{InstanceId}", Read::Instance(instance::get)).query(dsw::GET),
    row(Dsw, "UpdateInstance", "PUT", "/api/v2/instances/{InstanceId}", Read::Instance(instance::update))
        .body(dsw::UPDATE),
    row(Dsw, "DeleteInstance", "DELETE", "/api/v2/instances/{InstanceId}", Read::Instance(instance::delete)),
    row(Dsw, "StartInstance", "PUT", "/api/v2/instances/{InstanceId}/start", Read::Instance(instance::start)),
    row(Dsw, "StopInstance", "PUT", "/api/v2/instances/{InstanceId}/stop", Read::Instance(instance::stop))
        .query(dsw::STOP),
    row(Dsw, "GetInstanceEvents", "GET", "/api/v2/instances/{InstanceId}/events", Read::Instance(instance::events))
        .query(dsw::EVENTS),
];
