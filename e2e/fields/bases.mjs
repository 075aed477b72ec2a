// For each operation a request that is answered, so that whatever is refused is refused for the field that is added.
import { ECS_TYPE, NODE_TYPE } from "../server.mjs";

const DLC = "2020-12-03";
const AIWORKSPACE = "2021-02-04";
const STUDIO = "2022-01-12";
const EAS = "2021-07-01";
const DSW = "2022-01-01";
const REGION = "local";

const MIN = { NodeSpecs: [{ Type: NODE_TYPE, Count: 1 }] };
const NEEDS = { CPU: "1", GPU: "1", Memory: "1Gi" };
let made = 0;
/** A name that nothing has. */
const fresh = (kind) => `${kind}_${(made += 1)}`;

/** One of everything that operations are about. */
export async function furnish(client) {
  const post = (version, action, target, content) => client.get(version, action, "POST", target, content);
  const workspace = async () => (await post(AIWORKSPACE, "CreateWorkspace", "/api/v1/workspaces", { WorkspaceName: fresh("team") })).WorkspaceId;
  const quota = async () => (await post(STUDIO, "CreateQuota", "/api/v1/quotas", { QuotaName: fresh("quota"), ResourceType: "Lingjun", Min: MIN })).QuotaId;
  const attach = async (WorkspaceId, resourceId) => {
    const resource = { Name: fresh("res"), GroupName: "group", Spec: { clusterType: "private", resourceId } };
    const { Resources } = await post(AIWORKSPACE, "CreateWorkspaceResource", `/api/v1/workspaces/${WorkspaceId}/resources`, { Resources: [resource] });
    return Resources[0].Id;
  };
  const things = { WorkspaceId: await workspace(), QuotaId: await quota(), Other: await quota(), attach };
  things.ResourceIds = await attach(things.WorkspaceId, things.QuotaId);
  things.Elsewhere = await workspace();
  await post(AIWORKSPACE, "CreateMember", `/api/v1/workspaces/${things.WorkspaceId}/members`, { Members: [{ UserId: "ann", Roles: ["PAI.AlgoDeveloper"] }] });
  await client.get(AIWORKSPACE, "UpdateDefaultWorkspace", "PUT", "/api/v1/defaultWorkspaces", { WorkspaceId: things.WorkspaceId });
  const { JobId } = await post(DLC, "CreateJob", "/api/v1/jobs", job(things));
  await post(EAS, "CreateService", "/api/v2/services", service(things, "kept"));
  const { TrainingJobId } = await post(STUDIO, "CreateTrainingJob", "/api/v1/trainingjobs", training(things));
  const { InstanceId } = await post(DSW, "CreateInstance", "/api/v2/instances", instance(things));
  return { ...things, JobId, TrainingJobId, InstanceId, PodId: `${JobId}-worker-0`, ServiceName: "kept" };
}

const job = ({ WorkspaceId, QuotaId }) => ({
  WorkspaceId, ResourceId: QuotaId, DisplayName: "job", JobType: "PyTorchJob", UserCommand: "true",
  JobSpecs: [{ Type: "Worker", Image: "image", PodCount: 1, ResourceConfig: NEEDS }],
});
const training = ({ WorkspaceId, QuotaId }) => ({
  WorkspaceId, TrainingJobName: "training",
  AlgorithmSpec: { Image: "image", Command: ["true"] },
  ComputeResource: { ResourceId: QuotaId, InstanceCount: 1, InstanceSpec: NEEDS },
});
const service = ({ WorkspaceId, QuotaId }, name) => ({ metadata: { name, instance: 1, cpu: 1, gpu: 1, memory: 1024, workspace_id: WorkspaceId, quota_id: QuotaId } });
const instance = ({ WorkspaceId, QuotaId }) => ({ WorkspaceId, ResourceId: QuotaId, InstanceName: fresh("i"), ImageUrl: "image", RequestedResource: NEEDS });

const role = (more) => ({ JobSpecs: [{ ...job({}).JobSpecs[0], ...more }] });
const NETWORK = { VpcId: "vpc-1", SwitchId: "vsw-1", SecurityGroupId: "sg-1" };
const bid = (EcsSpec, SpotStrategy) => ({
  ...role({ ResourceConfig: undefined, EcsSpec, SpotSpec: { SpotStrategy } }),
  ResourceId: undefined,
  UserVpc: NETWORK,
});
const trainingBid = (SpotStrategy) => ({
  ComputeResource: { EcsSpec: NODE_TYPE, EcsCount: 1, SpotSpec: { SpotStrategy } },
  UserVpc: NETWORK,
});
const bound = { QuotaConfig: { SubQuotaPreemptionConfig: { PreemptedPriorityUpperBound: 3 } } };
/** What a field does not go without, in the body. */
const BESIDE = {
  "CreateJob JobSpecs.AssignNodeSpec.EnableAssignNode": role({ AssignNodeSpec: { NodeNames: "node-0" } }),
  "CreateJob JobSpecs.SpotSpec.SpotDiscountLimit": bid(NODE_TYPE, "SpotWithPriceLimit"),
  "CreateJob JobSpecs.SpotSpec.SpotPriceLimit": bid(ECS_TYPE, "SpotWithPriceLimit"),
  "CreateJob JobSpecs.UseSpotInstance": bid(NODE_TYPE, "SpotAsPriceGo"),
  "CreateTrainingJob AssignNodeSpec.EnableAssignNode": { AssignNodeSpec: { NodeNames: "node-0" } },
  "CreateTrainingJob ComputeResource.SpotSpec.SpotDiscountLimit": trainingBid("SpotWithPriceLimit"),
  "CreateTrainingJob ComputeResource.UseSpotInstance": trainingBid("SpotAsPriceGo"),
  "CreateQuota QuotaConfig.SubQuotaPreemptionConfig.PreemptedProducts": bound,
  "UpdateQuota QuotaConfig.SubQuotaPreemptionConfig.PreemptedProducts": bound,
};
/** How a thing is removed that takes what others need. */
export const UNDONE = { CreateQuota: ({ QuotaId }) => [STUDIO, "DeleteQuota", "DELETE", `/api/v1/quotas/${QuotaId}`] };

/** What an operation cannot do without: what is in its path, its query and its body. */
export function base(action, things, field) {
  const { WorkspaceId, QuotaId, Other, Elsewhere, JobId, PodId, InstanceId, ServiceName, ResourceIds, TrainingJobId } = things;
  const path = {
    WorkspaceId, QuotaId, JobId, PodId, InstanceId, ServiceName, TrainingJobId,
    ClusterId: REGION, NodeId: "node-15", InstanceType: NODE_TYPE, ResourceGroupID: "rg-1",
    MemberId: "ann", RoleName: "PAI.AlgoOperator", RoleId: "PAI.AlgoOperator", PermissionCode: "PaiDLC:ListJobs",
  };
  const more = {
    CreateJob: { body: job(things) },
    CreateQuota: { body: { QuotaName: fresh("quota"), ResourceType: "Lingjun", Min: MIN } },
    ScaleQuota: { body: { Min: MIN }, path: { QuotaId: Other } },
    UpdateQuota: { path: { QuotaId: Other } },
    CreateResourceGroup: { body: { Name: fresh("group") } },
    OperateNode: { body: { Operation: "Uncordon" } },
    CreateWorkspace: { body: { WorkspaceName: fresh("team") } },
    CreateMember: { body: { Members: [{ UserId: fresh("user"), Roles: ["PAI.AlgoDeveloper"] }] } },
    CreateWorkspaceResource: { path: { WorkspaceId: Elsewhere }, body: { Resources: [{ Name: fresh("res"), GroupName: "group", Spec: { clusterType: "private", resourceId: Other } }] } },
    UpdateWorkspaceResource: { body: { GroupName: "group", ResourceIds: [ResourceIds] } },
    DeleteWorkspaceResource: { query: { ResourceIds: "none" } },
    UpdateDefaultWorkspace: { body: { WorkspaceId } },
    CreateInstance: { body: instance(things) },
    CreateService: { body: service(things, fresh("service")) },
    UpdateService: { body: { metadata: { cpu: 1 } } },
    ListNodes: { query: { ResourceGroupIds: "rg-1" } },
    ListNodePods: { path: { NodeId: "node-0" } },
    ListNodeTypes: { query: { ResourceGroupIds: "rg-1" } },
    ListResources: { query: { WorkspaceId } },
    GetResourceGroupTotal: { query: { ResourceGroupID: "rg-1" } },
    GetResourceGroupRequest: { query: { ResourceGroupID: "rg-1" } },
    CreateTrainingJob: { body: training(things) },
    GetMember: { query: { UserId: "ann" } },
  }[action];
  const body = BESIDE[`${action} ${field}`];
  return { query: {}, ...more, body: body ? { ...more?.body, ...body } : more?.body, path: { ...path, ...more?.path } };
}
