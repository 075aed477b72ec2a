//! What is sent with operations of training jobs that are made of algorithms.

use crate::operation::sent::Field;
use crate::operation::sent::dlc;
use crate::operation::sent::inside;
use crate::operation::sent::kept;
use crate::operation::sent::off;
use crate::operation::sent::only;
use crate::operation::sent::read;
use crate::operation::sent::refused;

const NO_ALGORITHMS: &str = "algorithms are not kept here; send what it runs as AlgorithmSpec";
const NO_TOKENS: &str = "who may see a training job is said by the roles in its workspace";

const ALGORITHM_SPEC: &[Field] = &[
    read("JobType"),
    kept("CodeDir"),
    kept("Command"),
    kept("ComputeResource"),
    kept("Customization"),
    kept("HyperParameters"),
    kept("Image"),
    kept("InputChannels"),
    kept("MetricDefinitions"),
    kept("OutputChannels"),
    kept("ProgressDefinitions"),
    kept("ResourceRequirements"),
    kept("SupportedInstanceTypes"),
    kept("SupportsDistributedTraining"),
];

const COMPUTE_RESOURCE: &[Field] = &[
    read("EcsCount"),
    read("EcsSpec"),
    read("InstanceCount"),
    inside("InstanceSpec", dlc::RESOURCE_CONFIG),
    read("ResourceId"),
    inside("SpotSpec", &[read("SpotStrategy"), read("SpotDiscountLimit")]),
    read("UseSpotInstance"),
];

const SETTINGS: &[Field] = &[
    read("OversoldType"),
    read("EnableErrorMonitoringInAIMaster"),
    read("ErrorMonitoringArgs"),
    read("Priority"),
    off("EnableSanityCheck", dlc::NOT_CHECKED),
    off("EnableTideResource", dlc::NO_TIDE),
    only("JobReservedMinutes", &["0"], dlc::NOT_RESERVED),
    refused("JobReservedPolicy", dlc::NOT_RESERVED),
    kept("AIMasterType"),
    kept("AdvancedSettings"),
    kept("BusinessUserId"),
    kept("Caller"),
    kept("Driver"),
    kept("EnableOssAppend"),
    kept("EnableRDMA"),
    kept("PipelineId"),
    kept("SanityCheckArgs"),
    kept("Tags"),
];

pub(crate) const CREATE: &[Field] = &[
    read("WorkspaceId"),
    read("TrainingJobName"),
    inside("AlgorithmSpec", ALGORITHM_SPEC),
    inside("ComputeResource", COMPUTE_RESOURCE),
    inside("AssignNodeSpec", &[read("EnableAssignNode"), read("NodeNames"), read("AntiAffinityNodeNames")]),
    read("ResourceType"),
    read("Priority"),
    inside("Settings", SETTINGS),
    inside("Scheduler", &[read("MaxRunningTimeInSeconds"), read("MaxRunningTimeInMinutes")]),
    inside("UserVpc", dlc::USER_VPC),
    refused("AlgorithmName", NO_ALGORITHMS),
    refused("AlgorithmProvider", NO_ALGORITHMS),
    refused("AlgorithmVersion", NO_ALGORITHMS),
    kept("CodeDir"),
    kept("CredentialConfig"),
    kept("Environments"),
    kept("ExperimentConfig"),
    kept("HyperParameters"),
    kept("InputChannels"),
    kept("Labels"),
    kept("OutputChannels"),
    kept("PythonRequirements"),
    kept("RoleArn"),
    kept("TrainingJobDescription"),
];

pub(crate) const LIST: &[Field] = &[
    read("WorkspaceId"),
    read("TrainingJobId"),
    read("TrainingJobName"),
    read("Status"),
    read("Labels"),
    read("StartTime"),
    read("EndTime"),
    read("SortBy"),
    read("Order"),
    read("PageNumber"),
    read("PageSize"),
    refused("AlgorithmName", NO_ALGORITHMS),
    refused("AlgorithmProvider", NO_ALGORITHMS),
    only("IsTempAlgo", &["true"], NO_ALGORITHMS),
];

pub(crate) const GET: &[Field] = &[refused("Token", NO_TOKENS)];

pub(crate) const EVENTS: &[Field] =
    &[read("StartTime"), read("EndTime"), read("PageNumber"), read("PageSize"), refused("Token", NO_TOKENS)];
