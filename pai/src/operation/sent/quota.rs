//! What is sent with operations of quotas.

use crate::operation::sent::Field;
use crate::operation::sent::always;
use crate::operation::sent::inside;
use crate::operation::sent::kept;
use crate::operation::sent::off;
use crate::operation::sent::only;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const WHOLE: &str = "every answer is in full";
const NO_RANGE: &str = "places in a queue are found anew whenever somebody looks";

const NODE_SPEC: &[Field] = &[
    read("Type"),
    read("Count"),
    refused("BindingPolicy", "a quota is an amount; which nodes its jobs run on is up to the placement"),
    refused("HyperType", "how nodes are connected is not known here"),
];

const MIN: &[Field] = &[inside("NodeSpecs", NODE_SPEC)];

const SELF_LEVEL: &[Field] = &[read("PreemptorPriorities"), read("PreemptedPriorities"), read("PreemptedProducts")];

const CHILD_LEVEL: &[Field] =
    &[read("PreemptedPriorityUpperBound"), read("PreemptedPriorities"), read("PreemptedProducts")];

const OVERSOLD: &[Field] = &[read("Disabled"), kept("DisabledBy")];

const QUOTA_CONFIG: &[Field] = &[
    read("EnableSelfQuotaPreemption"),
    inside("SelfQuotaPreemptionConfig", SELF_LEVEL),
    read("EnableSubQuotaPreemption"),
    read("EnablePreemptSubquotaWorkloads"),
    inside("SubQuotaPreemptionConfig", CHILD_LEVEL),
    inside("OversoldUsageConfig", OVERSOLD),
    refused("ACS", "quotas of container services are not kept here"),
    only("EnableGPUShare", &["true"], "pods of every quota may ask for a part of a GPU"),
    refused("ResourceSpecs", "how large a pod may be is not limited by workspace"),
    refused("WorkloadTypes", "a quota takes jobs of every module"),
    kept("ClusterId"),
    kept("ControlPlaneClusterId"),
    kept("DefaultGPUDriver"),
    kept("EniCacheConfig"),
    kept("IsEncryptedResource"),
    kept("SandboxCacheConfig"),
    kept("SupportGPUDrivers"),
    kept("SupportRDMA"),
    kept("UseCase"),
    kept("UserVpc"),
];

pub(crate) const CREATE: &[Field] = &[
    read("QuotaName"),
    read("ParentQuotaId"),
    read("ResourceGroupIds"),
    read("ResourceType"),
    read("QueueStrategy"),
    inside("Min", MIN),
    inside("QuotaConfig", QUOTA_CONFIG),
    kept("Description"),
    kept("Labels"),
    only("AllocateStrategy", &["ByNodeSpecs", "ByNodeSpec"], "quotas are counted in nodes of a type"),
    refused("ClusterSpec", "a quota has no cluster of its own; submit what runs in it as jobs"),
];

pub(crate) const UPDATE: &[Field] = &[
    read("QueueStrategy"),
    inside("QuotaConfig", QUOTA_CONFIG),
    kept("QuotaName"),
    kept("Description"),
    kept("Labels"),
    off("PropagateDefaultGPUDriver", "GPU drivers are installed by the operator of the machines"),
];

pub(crate) const SCALE: &[Field] =
    &[inside("Min", MIN), refused("ResourceGroupIds", "a root quota keeps the groups that it draws on")];

pub(crate) const GET: &[Field] =
    &[always("Verbose", WHOLE), off("WithNodeMeta", "the nodes of a quota are told by ListNodes")];

pub(crate) const LIST: &[Field] = &[
    read("ParentQuotaId"),
    read("QuotaIds"),
    read("QuotaName"),
    read("WorkspaceIds"),
    read("WorkspaceName"),
    read("ResourceType"),
    read("Statuses"),
    read("Labels"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    always("Verbose", WHOLE),
    only("LayoutMode", &["list"], "quotas are told one by one, with ParentQuotaId and SubQuotas"),
    refused("ClusterType", "a quota has no cluster of its own"),
    refused("GPUType", "the machines of a quota are told in its Min"),
    refused("HasResource", "what a quota has is told in its QuotaDetails"),
    refused("Versions", "quotas have no versions here"),
];

const RANGE: &[Field] = &[read("StartTime"), read("EndTime")];

pub(crate) const WORKLOADS: &[Field] = &[
    read("SubQuotaIds"),
    read("WorkloadIds"),
    read("WorkloadNames"),
    read("WorkloadType"),
    read("WorkloadStatuses"),
    read("Status"),
    read("WorkspaceIds"),
    read("UserIds"),
    read("ShowOwn"),
    read("Priority"),
    read("Position"),
    read("UseOversoldResource"),
    read("NodeName"),
    inside("WorkloadCreatedTimeRange", RANGE),
    inside("GmtEnqueuedTimeRange", RANGE),
    inside("GmtDequeuedTimeRange", RANGE),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("BeforeWorkloadId", "every job is told with its Position"),
    refused("GmtPositionModifiedTimeRange", NO_RANGE),
    refused("InstanceId", "a job is named by WorkloadIds"),
    off("WithHistoricalData", "jobs that have ended are told by ListJobs"),
];

pub(crate) const USAGES: &[Field] = &[
    read("UserId"),
    read("Username"),
    read("WorkspaceId"),
    read("SelfOnly"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("WorkloadCount", "every user is told with the number of their jobs"),
];
