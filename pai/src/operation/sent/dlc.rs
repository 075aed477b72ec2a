//! What is sent with operations of training jobs.

use crate::operation::sent::Field;
use crate::operation::sent::inside;
use crate::operation::sent::kept;
use crate::operation::sent::off;
use crate::operation::sent::only;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const KEEPS: &str = "a job keeps what it was submitted with; stop it and submit another one";
const NO_TEMPLATES: &str = "templates are not kept here; send the whole job";
const NO_TOPOLOGY: &str = "how nodes are connected is not known here";
pub(super) const NOT_CHECKED: &str = "machines are not checked by the scheduler";
pub(super) const NO_TIDE: &str = "the idle resources of a cluster are those that OversoldType asks for";
pub(super) const NOT_RESERVED: &str = "the pods of a job leave their machines when it ends";

pub(super) const RESOURCE_CONFIG: &[Field] =
    &[read("CPU"), read("GPU"), read("GPUType"), read("Memory"), kept("SharedMemory")];

const SPOT_SPEC: &[Field] = &[read("SpotStrategy"), read("SpotDiscountLimit"), read("SpotPriceLimit")];

const ASSIGN_NODE_SPEC: &[Field] = &[
    read("EnableAssignNode"),
    read("NodeNames"),
    read("AntiAffinityNodeNames"),
    refused("HyperNodes", NO_TOPOLOGY),
    refused("AntiAffinityHyperNodes", NO_TOPOLOGY),
];

const JOB_SPEC: &[Field] = &[
    read("Type"),
    read("PodCount"),
    read("EcsSpec"),
    inside("ResourceConfig", RESOURCE_CONFIG),
    inside("SpotSpec", SPOT_SPEC),
    read("UseSpotInstance"),
    read("QuotaId"),
    read("OversoldType"),
    inside("AssignNodeSpec", ASSIGN_NODE_SPEC),
    refused("AutoScalingSpec", "a job has the pods that it asks for; submit it natively with a minimum of pods"),
    refused("ElasticSpotSpecs", "a job bids on one instance type, which is its EcsSpec"),
    refused("HyperNodeSchedulingConfig", NO_TOPOLOGY),
    refused("StartupDependencies", "all pods of a job start together"),
    kept("ConsiderInSuccessPolicy"),
    kept("Driver"),
    kept("ExtraPodSpec"),
    kept("Image"),
    kept("ImageConfig"),
    kept("IsCheif"),
    kept("IsChief"),
    kept("LocalMountSpecs"),
    kept("RestartPolicy"),
    kept("ServiceSpec"),
    kept("SystemDisk"),
    kept("UserCommand"),
];

const SETTINGS: &[Field] = &[
    read("OversoldType"),
    read("EnableErrorMonitoringInAIMaster"),
    read("ErrorMonitoringArgs"),
    off("AllowUnschedulableNodes", "a cordoned node takes no new pods of anybody"),
    refused("ElasticSpotJobMaxRestartTimes", "how often a job restarts is said in ErrorMonitoringArgs"),
    off("EnableSanityCheck", NOT_CHECKED),
    off("EnableTideResource", NO_TIDE),
    only("JobReservedMinutes", &["0"], NOT_RESERVED),
    refused("JobReservedPolicy", NOT_RESERVED),
    refused("TerminationGracePeriodSeconds", "the grace period is that of the quota"),
    kept("AdvancedSettings"),
    kept("AllocateAllRDMADevices"),
    kept("BusinessUserId"),
    kept("Caller"),
    kept("DataJuicerConfig"),
    kept("DisableEcsStockCheck"),
    kept("Driver"),
    kept("EnableCPUAffinity"),
    kept("EnableDSWDev"),
    kept("EnableOssAppend"),
    kept("EnableRDMA"),
    kept("ModelConfig"),
    kept("PipelineId"),
    kept("SanityCheckArgs"),
    kept("Shell"),
    kept("Tags"),
];

pub(super) const USER_VPC: &[Field] =
    &[read("VpcId"), read("SwitchId"), read("SecurityGroupId"), kept("DefaultRoute"), kept("ExtendedCIDRs")];

pub(crate) const CREATE_JOB: &[Field] = &[
    read("WorkspaceId"),
    read("DisplayName"),
    read("JobType"),
    read("ResourceId"),
    read("Priority"),
    read("JobMaxRunningTimeMinutes"),
    inside("JobSpecs", JOB_SPEC),
    inside("Settings", SETTINGS),
    inside("UserVpc", USER_VPC),
    refused("ElasticSpec", "a job has the pods that it asks for; submit it natively with a minimum of pods"),
    only("SchedulingStrategy", &["Auto"], "the order of a queue is the QueueStrategy of its quota"),
    refused("TemplateId", NO_TEMPLATES),
    refused("TemplateVersion", NO_TEMPLATES),
    kept("UserCommand"),
    kept("Accessibility"),
    kept("CodeSource"),
    kept("CredentialConfig"),
    kept("CustomEnvs"),
    kept("DataSources"),
    kept("DebuggerConfigContent"),
    kept("Description"),
    kept("Envs"),
    kept("Options"),
    kept("SuccessPolicy"),
    kept("ThirdpartyLibDir"),
    kept("ThirdpartyLibs"),
];

pub(crate) const UPDATE_JOB: &[Field] = &[
    read("Priority"),
    kept("Accessibility"),
    kept("Description"),
    refused("JobSpecs", KEEPS),
    refused("UserCommand", KEEPS),
];

pub(crate) const GET_JOB: &[Field] = &[read("NeedDetail")];

pub(crate) const LIST_JOBS: &[Field] = &[
    read("WorkspaceId"),
    read("FromAllWorkspaces"),
    read("JobId"),
    read("JobIds"),
    read("DisplayName"),
    read("ResourceId"),
    read("ResourceIds"),
    read("ResourceQuotaName"),
    read("Status"),
    read("JobType"),
    read("UserIdForFilter"),
    read("Username"),
    read("ShowOwn"),
    read("OversoldInfo"),
    read("PaymentType"),
    read("Tags"),
    read("Accessibility"),
    read("BusinessUserId"),
    read("Caller"),
    read("PipelineId"),
    read("Description"),
    read("ImageSearch"),
    read("UserCommandSearch"),
    read("StartTime"),
    read("EndTime"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("DisplayNameSearchMode", "DisplayName is looked for anywhere in a name, whatever the case"),
    read("EnableAssignNode"),
    refused("NumericRangeField", "a list has no numbers to choose by"),
    refused("NumericRangeMax", "a list has no numbers to choose by"),
    refused("NumericRangeMin", "a list has no numbers to choose by"),
    refused("ReasonSearch", "why a job waits is found out job by job, see GetJob"),
    refused("TemplateId", NO_TEMPLATES),
    only("TimeRangeField", &["GmtCreateTime"], "StartTime and EndTime are of the creation"),
];

pub(crate) const GET_JOB_EVENTS: &[Field] = &[read("StartTime"), read("EndTime"), read("MaxEventsNum")];

pub(crate) const GET_POD_EVENTS: &[Field] = &[
    read("StartTime"),
    read("EndTime"),
    read("MaxEventsNum"),
    refused("PodUid", "a pod has the events of its job, of all its runs"),
];

/// Lines of a log have no times of their own.
const NO_TIMES: &str = "what a job prints is kept without times; MaxLines says how many of its last lines are told";

pub(crate) const GET_POD_LOGS: &[Field] = &[
    read("PodUid"),
    read("MaxLines"),
    refused("StartTime", NO_TIMES),
    refused("EndTime", NO_TIMES),
    off("DownloadToFile", "the answer has the lines; files are not made here"),
    refused("Containers", "a pod is one command here, without containers"),
];

pub(crate) const LIST_ECS_SPECS: &[Field] = &[
    read("InstanceTypes"),
    read("ResourceType"),
    read("AcceleratorType"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
];
