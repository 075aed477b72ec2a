//! The operations of the SDKs that are not served.

use crate::operation::product::Product;

/// Operations of the SDKs that have nothing to answer with here: whose they are, their names, and the reason.
pub const UNSERVED: [(Product, &str, &str); 26] = [
    (
        Product::Dlc,
        "GetJobMetrics GetMetrics GetToken GetWebTerminal GetRayDashboard GetDashboard",
        "the scheduler does not see what runs inside of pods; those who run them do",
    ),
    (Product::Dlc, "GetJobSanityCheckResult ListJobSanityCheckResults", "machines are not checked by the scheduler"),
    (
        Product::Dlc,
        "CreateJobTemplate DeleteJobTemplate GetJobTemplate ListJobTemplates SetJobTemplateDefaultVersion \
         UpdateJobTemplate",
        "templates are not kept here; send the whole job with CreateJob",
    ),
    (Product::Dlc, "CreateSignal GetSignal ListSignals", "there is no channel into running jobs"),
    (
        Product::Dlc,
        "CreateTensorboard DeleteTensorboard GetTensorboard GetTensorboardSharedUrl ListTensorboards \
         StartTensorboard StopTensorboard UpdateTensorboard",
        "nothing but jobs runs here; a TensorBoard is submitted as one",
    ),
    (Product::Dlc, "TagResources UntagResources ListTagResources", "tags are sent with a job's Settings"),
    (
        Product::Studio,
        "DeleteResourceGroup",
        "quotas and the history name a resource group for ever; a pool is emptied with the native put_group",
    ),
    (
        Product::Studio,
        "CreateResourceGroupMachineGroup DeleteMachineGroup DeleteResourceGroupMachineGroup GetMachineGroup \
         GetResourceGroupMachineGroup ListResourceGroupMachineGroups ReleaseMachineGroup \
         UpdateResourceGroupMachineGroup",
        "machines are not ordered in groups here; nodes belong to resource groups, see ListNodes",
    ),
    (
        Product::Studio,
        "GetJobViewMetrics GetMetrics GetNodeGPUMetrics GetNodeMetrics GetNodeViewMetrics \
         GetQuotaJobViewMetrics GetQuotaMetrics GetQuotaNodeMetrics GetQuotaNodeViewMetrics \
         GetQuotaRangeUserViewMetrics GetQuotaUserViewMetrics GetRangeUserViewMetrics GetResourceGroupMetrics \
         GetToken GetUserViewMetrics ListNodeGPUMetrics",
        "machines measure this, the scheduler does not; see ListNodes and ListQuotaActiveUserUsages for use",
    ),
    (
        Product::Studio,
        "GetJobsStatisticsByQuota GetJobsStatisticsByResourceGroup GetQueueInfos GetQuotaQueueInfo",
        "what waits and runs in a quota, with places in its queue, is told by ListQuotaWorkloads",
    ),
    (
        Product::Studio,
        "GetQuotaTopo ListQuotaUsers",
        "a quota's children are told by ListQuotas, its users by ListQuotaActiveUserUsages",
    ),
    (
        Product::Studio,
        "GetSpotStockPreview ListSpotsStockPreview",
        "what is left of instance types, and at which discount, is told by ListEcsSpecs",
    ),
    (
        Product::Studio,
        "CheckInstanceWebTerminal CreateInstanceWebTerminal GetTrainingJobErrorInfo GetTrainingJobLatestMetrics \
         ListTrainingJobInstanceEvents ListTrainingJobInstanceMetrics ListTrainingJobLogs ListTrainingJobMetrics \
         ListTrainingJobOutputModels",
        "the scheduler does not see what runs inside of a training job; those who run its pods do",
    ),
    (
        Product::Studio,
        "DeleteQuotaLabels ListTagResources TagResources UntagResources UpdateQuotaLabels",
        "a quota's labels are sent whole with UpdateQuota",
    ),
    (
        Product::Workspace,
        "ChangeResourceGroup CreateDatasetJobConfig DeleteDatasetJobConfig GetDatasetJobConfig \
         ListDatasetJobConfigs UpdateDatasetJobConfig",
        "data sets, and groups that a bill is split by, are not known here; a job names what it mounts",
    ),
    (
        Product::Workspace,
        "CreateProductOrders ListProducts",
        "nothing is ordered here: the machines belong to the cluster",
    ),
    (
        Product::Workspace,
        "CreateWorkspaceRole UpdateWorkspaceRole DeleteWorkspaceRoles",
        "the roles are the five of ListWorkspaceRoles, and what each may do is fixed",
    ),
    (
        Product::Workspace,
        "GetConfig UpdateConfig UpdateConfigs DeleteConfig ListUserConfigs SetUserConfigs DeleteUserConfig",
        "limits by configuration are not enforced here, so none is accepted; quotas and roles are what limits",
    ),
    (
        Product::Eas,
        "CreateServiceAutoScaler DeleteServiceAutoScaler DescribeServiceAutoScaler UpdateServiceAutoScaler \
         DeleteServiceInstances ReleaseService CreateVirtualResource DeleteVirtualResource \
         DescribeVirtualResource ListVirtualResource UpdateVirtualResource CreateResource DeleteResource \
         DescribeResource ListResources UpdateResource DescribeServiceLog DescribeSpotDiscountHistory",
        "a service here has a number of instances in a quota, and traffic is not known to the scheduler",
    ),
    (
        Product::Dsw,
        "DeleteInstances StopInstances GetResourceGroupStatistics ListInstanceStatistics ListEcsSpecs \
         CreateInstanceSnapshot GetInstanceMetrics GetToken",
        "instances are told of one by one, and live in quotas: see ListInstances and GetQuota",
    ),
    (
        Product::Dlc,
        "CreateRayHistoryServer DeleteRayHistoryServer GetRayHistoryServer ListRayHistoryServers \
         StartRayHistoryServer StopRayHistoryServer",
        "the scheduler does not store the output of jobs",
    ),
    (
        Product::Workspace,
        "AcceptDataworksEvent AddImage AddImageLabels CreateCodeSource CreateConnection CreateDataset \
         CreateDatasetFileMetas CreateDatasetJob CreateDatasetLabels CreateDatasetVersion \
         CreateDatasetVersionLabels CreateExperiment CreateImageBuild CreateModel CreateModelLabels \
         CreateModelVersion CreateModelVersionLabels CreatePrompt CreateRun DeleteCodeSource DeleteConnection \
         DeleteDataset DeleteDatasetFileMetas DeleteDatasetJob DeleteDatasetLabels DeleteDatasetVersion \
         DeleteDatasetVersionLabels DeleteExperiment DeleteExperimentLabel DeleteModel DeleteModelLabels \
         DeleteModelVersion DeleteModelVersionLabels DeletePrompt DeleteRun DeleteRunLabel GetCodeSource \
         GetConnection GetDataset GetDatasetFileMeta GetDatasetFileMetasStatistics GetDatasetJob \
         GetDatasetVersion GetExperiment GetImage GetInstanceJob GetModel GetModelVersion GetPrompt GetRun \
         ListCodeSources ListConnections ListDatasetFileMetas ListDatasetJobs ListDatasetVersions \
         ListDatasets ListExperiment ListFeatures ListImageLabels ListImages ListModelVersions ListModels \
         ListPrompts ListRunMetrics ListRuns LogRunMetrics PublishCodeSource PublishDataset PublishImage \
         RemoveImage RemoveImageLabels SetExperimentLabels StopDatasetJob UpdateCodeSource UpdateConnection \
         UpdateDataset UpdateDatasetFileMetas UpdateDatasetJob UpdateDatasetVersion UpdateExperiment \
         UpdateModel UpdateModelVersion UpdatePrompt UpdateRun ValidateConnection",
        "data sets, images, models, code and experiments are not kept here; a job names what it mounts and runs",
    ),
    (
        Product::Studio,
        "CreateAlgorithm CreateAlgorithmVersion DeleteAlgorithm DeleteAlgorithmVersion GetAlgorithm \
         GetAlgorithmVersion ListAlgorithmVersions ListAlgorithms UpdateAlgorithm UpdateAlgorithmVersion",
        "algorithms are not kept here; send what one runs as AlgorithmSpec of CreateTrainingJob",
    ),
    (
        Product::Studio,
        "DeleteTrainingJobLabels UpdateTrainingJobLabels",
        "a training job keeps the labels that it was submitted with",
    ),
    (
        Product::Eas,
        "AttachGatewayDomain CloneService CommitService CreateAclPolicy CreateAppService CreateBenchmarkTask \
         CreateGateway CreateGatewayIntranetLinkedVpc CreateGatewayIntranetLinkedVpcPeer \
         CreateResourceInstances CreateResourceLog CreateServiceCronScaler CreateServiceMirror \
         DeleteAclPolicy DeleteBenchmarkTask DeleteGateway DeleteGatewayIntranetLinkedVpc \
         DeleteGatewayIntranetLinkedVpcPeer DeleteResourceDLink DeleteResourceInstanceLabel \
         DeleteResourceInstances DeleteResourceLog DeleteServiceCronScaler DeleteServiceLabel \
         DeleteServiceMirror DescribeBenchmarkTask DescribeBenchmarkTaskReport DescribeGateway DescribeGroup \
         DescribeGroupEndpoints DescribeMachineSpec DescribeRegions DescribeResourceDLink DescribeResourceLog \
         DescribeServiceCronScaler DescribeServiceDiagnosis DescribeServiceEndpoints \
         DescribeServiceInstanceDiagnosis DescribeServiceMirror DescribeServiceSignedUrl DetachGatewayDomain \
         DevelopService ListAclPolicy ListBenchmarkTask ListGateway ListGatewayDomains \
         ListGatewayIntranetLinkedVpc ListGatewayIntranetLinkedVpcPeer ListGatewayIntranetSupportedZone \
         ListGroups ListResourceInstanceWorker ListResourceInstances ListResourceServices \
         ListServiceContainers ListServiceVersions ListTenantAddons ReinstallTenantAddon StartBenchmarkTask \
         StopBenchmarkTask UpdateAppService UpdateBenchmarkTask UpdateGateway UpdateResourceDLink \
         UpdateResourceInstance UpdateResourceInstanceLabel UpdateServiceCronScaler UpdateServiceInstance \
         UpdateServiceLabel UpdateServiceMirror UpdateServiceSafetyLock UpdateServiceVersion",
        "gateways, traffic, versions and machines of services are not known to the scheduler; a service runs in a quota",
    ),
    (
        Product::Dsw,
        "CreateDiagnosis CreateIdleInstanceCuller CreateInstanceShutdownTimer CreateSanityCheckTask \
         CreateTempFile CreateTempFileTask DeleteIdleInstanceCuller DeleteInstanceLabels \
         DeleteInstanceShutdownTimer DeleteInstanceSnapshot DeleteTempFile DeleteTempFileTask \
         DeleteTempFileTasks GetIdleInstanceCuller GetInstanceShutdownTimer GetInstanceSnapshot GetLifecycle \
         GetMetrics GetSanityCheckTask GetTempFile GetTempFileTask GetUserCommand GetUserConfig \
         ListInstanceSnapshot ListSystemLogs ListTempFiles UpdateInstanceLabels UpdateTempFile \
         UpdateTempFileTask",
        "the scheduler does not control what runs inside instances, or when they are switched off",
    ),
];
