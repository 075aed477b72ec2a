//! What is sent with operations of inference services. Their descriptions are texts to the SDKs.

use crate::operation::sent::Field;
use crate::operation::sent::off;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const NO_TRAFFIC: &str = "the scheduler does not see what runs inside pods, or what reaches them";
const NO_GROUPS: &str = "services are not grouped here";
const ALL_IN_QUOTAS: &str = "every service here runs in a quota, see QuotaId";

pub(crate) const CREATE: &[Field] =
    &[read("WorkspaceId"), read("Labels"), off("Develop", "a service here runs; a development instance is one of DSW")];

pub(crate) const UPDATE: &[Field] = &[read("UpdateType")];

pub(crate) const LIST: &[Field] = &[
    read("QuotaId"),
    read("WorkspaceId"),
    read("ServiceName"),
    read("Filter"),
    read("ServiceStatus"),
    read("ServiceUid"),
    read("Label"),
    read("Sort"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("Gateway", NO_TRAFFIC),
    refused("GroupName", NO_GROUPS),
    refused("ParentServiceUid", NO_GROUPS),
    refused("ResourceName", ALL_IN_QUOTAS),
    refused("ResourceType", ALL_IN_QUOTAS),
    refused("Role", NO_GROUPS),
    refused("ServiceType", "the type of a service stands in its ServiceConfig, which is not looked into"),
];

pub(crate) const INSTANCES: &[Field] = &[
    read("Filter"),
    read("InstanceName"),
    read("InstanceStatus"),
    read("IsSpot"),
    read("PageNumber"),
    read("PageSize"),
    refused("HostIP", NO_TRAFFIC),
    refused("InstanceIP", NO_TRAFFIC),
    refused("InstanceType", "all instances of a service are of one size"),
    refused("Order", "instances come in the order of their numbers"),
    refused("ResourceType", ALL_IN_QUOTAS),
    refused("Role", "all instances of a service have one role"),
    refused("Sort", "instances come in the order of their numbers"),
];

pub(crate) const EVENTS: &[Field] = &[
    read("StartTime"),
    read("EndTime"),
    read("EventType"),
    read("PageNum"),
    read("PageSize"),
    refused("InstanceName", "the events of a service are of all its instances"),
];
