//! What is sent with operations of workspaces.

use crate::operation::sent::Field;
use crate::operation::sent::always;
use crate::operation::sent::inside;
use crate::operation::sent::kept;
use crate::operation::sent::only;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const WHOLE: &str = "every answer is in full";
const EMPTY: &str = "none are kept here, so the list is empty";
const NO_BILLING_GROUPS: &str = "groups that a bill is split by are not known here";
const NO_PRODUCTS: &str = "the resources of a workspace are quotas, whatever the product";
const OF_SENDER: &str = "the answer is what the sender's roles allow";

pub(crate) const CREATE: &[Field] = &[
    read("WorkspaceName"),
    read("DisplayName"),
    read("Description"),
    kept("EnvTypes"),
    refused("ResourceGroupId", NO_BILLING_GROUPS),
];

pub(crate) const GET: &[Field] = &[always("Verbose", WHOLE)];

pub(crate) const LIST: &[Field] = &[
    read("WorkspaceIds"),
    read("WorkspaceName"),
    read("Status"),
    read("UserId"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    always("Fields", WHOLE),
    always("Verbose", WHOLE),
    only("SortBy", &["GmtCreateTime", "GmtModifiedTime"], "workspaces come in the order of their creation"),
    refused("ModuleList", "every workspace has all modules"),
    only("Option", &["GetWorkspaces"], "there are no limits on workspaces"),
    refused("ResourceGroupId", NO_BILLING_GROUPS),
];

pub(crate) const UPDATE: &[Field] = &[read("DisplayName"), read("Description")];

pub(crate) const ADD_MEMBERS: &[Field] = &[inside("Members", &[read("UserId"), read("Roles")])];

pub(crate) const LIST_MEMBERS: &[Field] =
    &[read("Roles"), read("MemberName"), read("UserId"), read("PageNumber"), read("PageSize")];

pub(crate) const GET_MEMBER: &[Field] = &[read("UserId"), read("MemberId")];

pub(crate) const REMOVE_MEMBERS: &[Field] = &[read("MemberIds")];

const RESOURCE: &[Field] = &[
    read("WorkspaceId"),
    read("Spec"),
    read("ResourceType"),
    kept("Name"),
    kept("GroupName"),
    kept("EnvType"),
    kept("IsDefault"),
    kept("Labels"),
    refused("ProductType", NO_PRODUCTS),
    refused("Quotas", "quotas of the data warehouse are not kept here; name a quota in Spec.resourceId"),
];

pub(crate) const ATTACH: &[Field] = &[
    only("Option", &["CreateAndAttach", "Attach"], "a resource is the quota that is attached"),
    inside("Resources", RESOURCE),
];

pub(crate) const UPDATE_RESOURCE: &[Field] = &[
    read("ResourceIds"),
    read("GroupName"),
    read("ResourceType"),
    kept("IsDefault"),
    kept("Labels"),
    kept("Spec"),
    refused("ProductType", NO_PRODUCTS),
];

pub(crate) const DETACH: &[Field] = &[
    read("ResourceIds"),
    read("GroupName"),
    read("ResourceType"),
    only("Option", &["DetachAndDelete", "Detach"], "a resource is the quota that is attached"),
    refused("Labels", "resources are detached by ResourceIds or GroupName"),
    refused("ProductType", NO_PRODUCTS),
];

pub(crate) const LIST_RESOURCES: &[Field] = &[
    read("WorkspaceId"),
    read("ResourceTypes"),
    read("ResourceName"),
    read("GroupName"),
    read("QuotaIds"),
    read("Labels"),
    read("PageNumber"),
    read("PageSize"),
    always("Verbose", WHOLE),
    always("VerboseFields", WHOLE),
    only("Option", &["ListResourceByWorkspace", "ListResource"], "a resource is the quota that is attached"),
    refused("ProductTypes", NO_PRODUCTS),
];

pub(crate) const GET_PERMISSION: &[Field] = &[
    refused("Accessibility", OF_SENDER),
    refused("CallerAccessKeyId", OF_SENDER),
    refused("CallerSecurityToken", OF_SENDER),
    refused("CallerType", OF_SENDER),
    refused("CallerUid", OF_SENDER),
    refused("Creator", OF_SENDER),
    refused("Labels", OF_SENDER),
    refused("Option", OF_SENDER),
    refused("Resource", OF_SENDER),
    refused("SecurityToken", OF_SENDER),
];

pub(crate) const LIST_USERS: &[Field] = &[read("UserId"), read("UserName")];

pub(crate) const LIST_ROLES: &[Field] = &[
    read("RoleIds"),
    read("RoleName"),
    read("Status"),
    read("PageNumber"),
    read("PageSize"),
    always("VerboseFields", WHOLE),
    refused("Order", "the five roles come in the order of what they may do"),
    refused("RoleType", "all five roles are the product's own"),
    refused("SortBy", "the five roles come in the order of what they may do"),
];

pub(crate) const LIST_CONFIGS: &[Field] = &[
    always("CategoryName", EMPTY),
    always("ConfigKeys", EMPTY),
    always("Labels", EMPTY),
    always("Options", EMPTY),
    always("Verbose", EMPTY),
];

pub(crate) const GET_DEFAULT: &[Field] = &[always("Verbose", WHOLE)];

pub(crate) const SET_DEFAULT: &[Field] = &[read("WorkspaceId")];

pub(crate) const LIST_WAREHOUSE_QUOTAS: &[Field] = &[always("Name", EMPTY)];
