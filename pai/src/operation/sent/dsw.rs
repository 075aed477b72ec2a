//! What is sent with operations of development instances.

use crate::operation::sent::Field;
use crate::operation::sent::always;
use crate::operation::sent::inside;
use crate::operation::sent::kept;
use crate::operation::sent::off;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const KEEPS: &str = "an instance keeps its size; delete it and create another one";
const NO_BIDS: &str = "only training jobs bid on the spot market; name a quota as ResourceId";
const OWNER: &str = "an instance belongs to who has created it";
const NO_SECRETS: &str = "registry secrets are not stored here; the operator of the machines has them";
const NO_MIGRATION: &str = "an instance that is preempted waits in its queue and starts anew";
const REPLACE: &str = "a field is replaced by sending another value of it";
const NO_RANGES: &str = "an instance is told with what it asks for; a list has no ranges of it";
const NO_TOKENS: &str = "access to an instance is given by the operator of the machines";

const ASSIGN_NODE_SPEC: &[Field] = &[read("NodeNames"), read("AntiAffinityNodeNames")];

const RESOURCE: &[Field] = &[read("CPU"), read("GPU"), read("GPUType"), read("Memory"), kept("SharedMemory")];

pub(crate) const CREATE: &[Field] = &[
    read("InstanceName"),
    read("WorkspaceId"),
    read("ResourceId"),
    read("Priority"),
    read("OversoldType"),
    inside("RequestedResource", RESOURCE),
    read("EcsSpec"),
    inside("AssignNodeSpec", ASSIGN_NODE_SPEC),
    refused("ImageAuth", NO_SECRETS),
    refused("MigrationOptions", NO_MIGRATION),
    refused("SpotSpec", NO_BIDS),
    refused("UserId", OWNER),
    kept("AccessRestrictionRules"),
    kept("Accessibility"),
    kept("Affinity"),
    kept("CloudDisks"),
    kept("CredentialConfig"),
    kept("Datasets"),
    kept("DockerConfig"),
    kept("Driver"),
    kept("DynamicMount"),
    kept("EnvironmentVariables"),
    kept("ImageId"),
    kept("ImageUrl"),
    kept("Labels"),
    kept("Tag"),
    kept("UserCommand"),
    kept("UserVpc"),
    kept("WorkspaceSource"),
];

pub(crate) const UPDATE: &[Field] = &[
    read("Priority"),
    refused("EcsSpec", KEEPS),
    refused("RequestedResource", KEEPS),
    refused("OversoldType", KEEPS),
    refused("AssignNodeSpec", "an instance keeps the nodes that it was created with; delete it and create another one"),
    refused("ImageAuth", NO_SECRETS),
    refused("MigrationOptions", NO_MIGRATION),
    refused("SpotSpec", NO_BIDS),
    refused("UserId", OWNER),
    off("StartInstance", "an instance is started by the operation of that name"),
    off("DisassociateAssignNode", REPLACE),
    off("DisassociateCredential", REPLACE),
    off("DisassociateDatasets", REPLACE),
    off("DisassociateDriver", REPLACE),
    off("DisassociateEnvironmentVariables", REPLACE),
    off("DisassociateForwardInfos", REPLACE),
    off("DisassociateMigrationOptions", REPLACE),
    off("DisassociateSpot", REPLACE),
    off("DisassociateUserCommand", REPLACE),
    off("DisassociateVpc", REPLACE),
    kept("Accessibility"),
    kept("Affinity"),
    kept("CloudDisks"),
    kept("CredentialConfig"),
    kept("Datasets"),
    kept("Driver"),
    kept("DynamicMount"),
    kept("EnvironmentVariables"),
    kept("ImageId"),
    kept("ImageUrl"),
    kept("InstanceName"),
    kept("UserCommand"),
    kept("UserVpc"),
    kept("WorkspaceSource"),
];

pub(crate) const GET: &[Field] = &[always("Fields", "every answer is in full"), refused("Token", NO_TOKENS)];

pub(crate) const LIST: &[Field] = &[
    read("WorkspaceId"),
    read("ResourceId"),
    read("InstanceId"),
    read("InstanceName"),
    read("Status"),
    read("CreateUserId"),
    read("Accessibility"),
    read("AcceleratorType"),
    read("OversoldType"),
    read("OversoldInfo"),
    read("PaymentType"),
    read("Labels"),
    read("Tag"),
    read("CreateTimeAfter"),
    read("CreateTimeBefore"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("GpuType", NO_RANGES),
    refused("ImageName", "an image is known by its id or its address"),
    refused("MaxCpu", NO_RANGES),
    refused("MaxGpu", NO_RANGES),
    refused("MaxGpuMemory", NO_RANGES),
    refused("MaxMemory", NO_RANGES),
    refused("MinCpu", NO_RANGES),
    refused("MinGpu", NO_RANGES),
    refused("MinGpuMemory", NO_RANGES),
    refused("MinMemory", NO_RANGES),
];

pub(crate) const STOP: &[Field] = &[off("SaveImage", "images are stored by the operator of the machines")];

pub(crate) const EVENTS: &[Field] = &[
    read("StartTime"),
    read("EndTime"),
    read("MaxEventsNum"),
    refused("EventLevel", "events have no levels here"),
    refused("Token", NO_TOKENS),
];
