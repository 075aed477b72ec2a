//! What is sent with operations of resource groups, nodes and prices.

use crate::operation::sent::Field;
use crate::operation::sent::always;
use crate::operation::sent::off;
use crate::operation::sent::only;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const WHOLE: &str = "every answer is in full";
const ONE_PROVIDER: &str = "machines are put into groups by the cluster's administrator";
const NO_NETWORK: &str = "jobs name their own network";
const NO_VERSIONS: &str = "resource groups have no versions here";
const NO_TAGS: &str = "resource groups have no tags here";
const NO_TOPOLOGY: &str = "where nodes stand and how they are connected is not known here";
const NO_HEALTH: &str = "the scheduler does not measure the health of machines";
const NOT_COUNTED: &str = "every node is told with its number of pods and jobs";
const BY_QUOTA: &str = "nodes are listed by QuotaId or ResourceGroupIds";
const OWN_ORDER: &str = "nodes are sorted by SortBy";

pub(crate) const CREATE_GROUP: &[Field] = &[
    read("Name"),
    read("Description"),
    read("ResourceType"),
    refused("ComputingResourceProvider", ONE_PROVIDER),
    refused("Tag", NO_TAGS),
    refused("UserVpc", NO_NETWORK),
    refused("Version", NO_VERSIONS),
];

pub(crate) const UPDATE_GROUP: &[Field] = &[
    read("Name"),
    read("Description"),
    off("Unbind", "machines are taken out of a group by the native delete_node"),
    refused("UserVpc", NO_NETWORK),
];

pub(crate) const GET_GROUP: &[Field] =
    &[off("IsAIWorkspaceDataEnabled", "workspaces are told by ListWorkspaces"), refused("Tag", NO_TAGS)];

pub(crate) const LIST_GROUPS: &[Field] = &[
    read("ResourceGroupIDs"),
    read("Name"),
    read("ResourceType"),
    read("Status"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    always("ShowAll", "every list is of all groups"),
    refused("ComputingResourceProvider", ONE_PROVIDER),
    refused("HasResource", "every group is told with its NodeCount"),
    refused("Versions", NO_VERSIONS),
];

pub(crate) const GROUP_TOTAL: &[Field] = &[read("ResourceGroupID")];

pub(crate) const GROUP_REQUEST: &[Field] =
    &[read("ResourceGroupID"), refused("PodStatus", "what is told is held by pods that run or stop")];

pub(crate) const LIST_NODES: &[Field] = &[
    read("QuotaId"),
    read("ResourceGroupIds"),
    read("ResourceGroupName"),
    read("NodeNames"),
    read("NodeTypes"),
    read("NodeStatuses"),
    read("GPUType"),
    read("AcceleratorType"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    always("Verbose", WHOLE),
    only("LayoutMode", &["list"], "nodes are told one by one"),
    refused("AvailabilityZone", NO_TOPOLOGY),
    refused("CliqueID", NO_TOPOLOGY),
    refused("DiskPL", "the disks of nodes are not known here"),
    refused("FilterByQuotaId", BY_QUOTA),
    refused("FilterByResourceGroupIds", BY_QUOTA),
    refused("HealthCount", NO_HEALTH),
    refused("HealthRate", NO_HEALTH),
    refused("HyperNode", NO_TOPOLOGY),
    refused("HyperZone", NO_TOPOLOGY),
    refused("MachineGroupIds", "machines are not ordered in groups here"),
    refused("OrderInstanceIds", OWN_ORDER),
    refused("OrderStatuses", OWN_ORDER),
    refused("PaymentType", "nodes belong to the cluster and are not paid for"),
    refused("PodNum", NOT_COUNTED),
    refused("ReasonCodes", NO_HEALTH),
    refused("WorkloadNum", NOT_COUNTED),
    refused("WorkspaceId", BY_QUOTA),
];

pub(crate) const LIST_TYPES: &[Field] =
    &[read("QuotaId"), read("ResourceGroupIds"), read("NodeTypes"), read("GPUType"), read("AcceleratorType")];

pub(crate) const LIST_PODS: &[Field] = &[
    read("ResourceGroupId"),
    read("GPUIndexes"),
    refused("OversoldTypes", "the jobs on idle amounts are told by ListQuotaWorkloads with UseOversoldResource"),
];

pub(crate) const OPERATE: &[Field] = &[
    read("Operation"),
    read("ResourceGroupId"),
    refused("OperationParameters", "nodes are cordoned and uncordoned, which has no parameters"),
];

pub(crate) const PRICES: &[Field] = &[
    read("StartTime"),
    read("EndTime"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    only("SortBy", &["GmtCreatedTime"], "prices are told in the order of time"),
    refused("SpotDuration", "an instance type has one price, whatever its protection period"),
];
