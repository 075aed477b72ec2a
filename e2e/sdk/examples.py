#!/usr/bin/env python3
"""The examples of the product's pages on quotas, preemption and idle resources, end to end, by the SDKs alone.

Three teams share 128 GPUs: inference in a parent quota takes from training in its children, quotas are scaled, a job of
a high priority takes from one of a low one, and a job on idle resources gives way to those who lent them.
"""
import sys
import time

import start

start.parser.description = __doc__
arguments = start.arguments()

import json  # noqa: E402

from alibabacloud_aiworkspace20210204.client import Client as WorkspaceClient  # noqa: E402
from alibabacloud_aiworkspace20210204.models import (  # noqa: E402
    CreateMemberRequest,
    CreateWorkspaceRequest,
    CreateWorkspaceResourceRequest,
    ListMembersRequest,
)
from alibabacloud_eas20210701.client import Client as ServiceClient  # noqa: E402
from alibabacloud_eas20210701.models import CreateServiceRequest  # noqa: E402
from alibabacloud_pai_dlc20201203.client import Client as JobClient  # noqa: E402
from alibabacloud_pai_dlc20201203.models import CreateJobRequest, GetJobRequest, ListJobsRequest  # noqa: E402
from alibabacloud_pai_dsw20220101.client import Client as InstanceClient  # noqa: E402
from alibabacloud_pai_dsw20220101.models import CreateInstanceRequest, GetInstanceRequest, StopInstanceRequest  # noqa: E402
from alibabacloud_paistudio20220112.client import Client as QuotaClient  # noqa: E402
from alibabacloud_paistudio20220112.models import (  # noqa: E402
    CreateQuotaRequest,
    GetQuotaRequest,
    ScaleQuotaRequest,
    UpdateQuotaRequest,
)

WAIT_S = 90
NODE_TYPE = "ml.gu7xf.8xlarge-gu108"
GPUS_OF_NODE = 8
NEEDS = {"GPU": "8", "CPU": "8", "Memory": "64Gi"}
SET = str(int(time.time()) % 10**8)

config = lambda: start.config(arguments.base_url)  # noqa: E731
workspaces, quotas, jobs = WorkspaceClient(config()), QuotaClient(config()), JobClient(config())
services, instances = ServiceClient(config()), InstanceClient(config())
passed = 0
begin = time.time()


def check(what, seen, wanted):
    global passed
    if seen != wanted:
        sys.exit(f"{what}: {seen}, expected {wanted}")
    passed += 1
    print(f"{time.time() - begin:5.0f} s  {what}: {seen}", flush=True)


def until(what, ask, wanted):
    end = time.time() + WAIT_S
    while ask() != wanted and time.time() < end:
        time.sleep(0.3)
    check(what, ask(), wanted)


def nodes(gpus):
    return {"NodeSpecs": [{"Type": NODE_TYPE, "Count": gpus // GPUS_OF_NODE}]}


def quota(name, gpus, parent=None, config=None):
    fields = {"QuotaName": name, "ResourceType": "Lingjun", "Min": nodes(gpus), "ParentQuotaId": parent, "QuotaConfig": config}
    return quotas.create_quota(CreateQuotaRequest().from_map(fields)).body.quota_id


def gpus(quota):
    [spec] = quotas.get_quota(quota, GetQuotaRequest()).body.min.node_specs
    return spec.count * GPUS_OF_NODE


def team(letter, quota):
    """A workspace with an administrator, whose quota this is."""
    made = CreateWorkspaceRequest(workspace_name=f"workspace_{letter}_{SET}", env_types=["prod"])
    workspace = workspaces.create_workspace(made).body.workspace_id
    resource = {"Name": f"res_{letter}", "GroupName": f"group_{letter}", "EnvType": "prod", "ResourceType": "Lingjun",
                "WorkspaceId": workspace, "Spec": {"clusterType": "private", "resourceId": quota}}
    attach = CreateWorkspaceResourceRequest().from_map({"Option": "CreateAndAttach", "Resources": [resource]})
    workspaces.create_workspace_resource(workspace, attach)
    members = [{"UserId": f"lead-{letter}", "Roles": ["PAI.WorkspaceAdmin"]}]
    workspaces.create_member(workspace, CreateMemberRequest().from_map({"Members": members}))
    return workspace


def submit(workspace, quota, priority, pods=1, **settings):
    request = CreateJobRequest().from_map({
        "WorkspaceId": workspace, "ResourceId": quota, "DisplayName": f"train-{priority}", "JobType": "PyTorchJob",
        "Priority": priority, "UserCommand": "python train.py", "Settings": settings,
        "JobSpecs": [{"Type": "Worker", "Image": "image", "PodCount": pods, "ResourceConfig": NEEDS}],
    })
    return jobs.create_job(request).body.job_id


def get(job):
    return jobs.get_job(job, GetJobRequest()).body


def evictions(job):
    """Why a job has been stopped to be started again."""
    return [entry.reason_code for entry in get(job).status_history if entry.status == "Restarting"]


def listed(workspace, job):
    """What a list says of a job: `In quota` or `Not in quota` is a field of lists."""
    [found] = jobs.list_jobs(ListJobsRequest(workspace_id=workspace, job_ids=job)).body.jobs
    return found


def stop(*all_of_them):
    for job in all_of_them:
        jobs.stop_job(job)
    for job in all_of_them:
        until("stopped", lambda: get(job).status, "Stopped")


def three_teams():
    """A parent of 128 GPUs with the switch of child-level preemption and two children, a workspace for each."""
    root = quota("Quota1", 128, config={"EnableSubQuotaPreemption": True})
    children = quota("Quota1.1", 48, root), quota("Quota1.2", 80, root)
    teams = [team(letter, of) for letter, of in zip("abc", (root, *children))]
    for letter, workspace in zip("abc", teams):
        members = workspaces.list_members(workspace, ListMembersRequest(roles="PAI.WorkspaceAdmin")).body.members
        check(f"administrator of workspace-{letter}", [one.user_id for one in members], [f"lead-{letter}"])
    switched = quotas.get_quota(root, GetQuotaRequest()).body.quota_config
    check("the switch alone", switched.enable_sub_quota_preemption, True)
    return root, children, teams


def inference_preempts_training(root, children, teams):
    training = submit(teams[1], children[0], 3, pods=6)
    notebook = CreateInstanceRequest().from_map({
        "InstanceName": "notebook", "WorkspaceId": teams[2], "ResourceId": children[1], "Priority": 5,
        "ImageUrl": "image", "RequestedResource": NEEDS,
    })
    notebook = instances.create_instance(notebook).body.instance_id
    filling = submit(teams[2], children[1], 5, pods=9)
    until("training of Team B", lambda: get(training).status, "Running")
    until("training of Team C", lambda: get(filling).status, "Running")
    described = {"metadata": {"name": f"infer_{SET}", "instance": 1, "cpu": 8, "gpu": 8, "memory": 65_536,
                              "workspace_id": teams[0], "quota_id": root}, "options": {"priority": 6}}
    services.create_service(CreateServiceRequest(body=json.dumps(described)))
    service = lambda: services.describe_service(start.REGION, f"infer_{SET}").body  # noqa: E731
    until("inference of Team A", lambda: service().running_instance, 1)
    until("what made room for it", lambda: evictions(training), ["PreemptedByChildLevel"])
    check("who was not preemptible", get(filling).status, "Running")
    until("the notebook", lambda: instances.get_instance(notebook, GetInstanceRequest()).body.status, "Running")
    services.delete_service(start.REGION, f"infer_{SET}")
    instances.stop_instance(notebook, StopInstanceRequest())
    until("the notebook", lambda: instances.get_instance(notebook, GetInstanceRequest()).body.status, "Stopped")
    stop(training, filling)


def scale(children):
    for child, to in [(children[1], 72), (children[0], 56)]:
        quotas.scale_quota(child, ScaleQuotaRequest().from_map({"Min": nodes(to)}))
        check("scaled", gpus(child), to)


def high_priority_preempts_low(quota, workspace, sibling, other):
    configured = {"EnableSelfQuotaPreemption": True, "SelfQuotaPreemptionConfig": {
        "PreemptorPriorities": [6, 7, 8, 9], "PreemptedPriorities": [4], "PreemptedProducts": ["DLC", "DSW"]}}
    quotas.update_quota(quota, UpdateQuotaRequest().from_map({"QuotaConfig": configured}))
    low = submit(workspace, quota, 4, pods=gpus(quota) // GPUS_OF_NODE, EnableErrorMonitoringInAIMaster=True)
    until("a low priority", lambda: get(low).status, "Running")
    # What the sibling does not use would serve the high priority without an eviction.
    beside = submit(other, sibling, 5, pods=gpus(sibling) // GPUS_OF_NODE)
    middle = submit(workspace, quota, 5)
    high = submit(workspace, quota, 6)
    until("a high priority", lambda: get(high).status, "Running")
    until("why the low one stopped", lambda: evictions(low), ["PreemptedBySelfLevel"])
    stop(middle, high, low, beside)


def idle_resources(children, teams):
    """Team B borrows from Quota1.2 until Team C needs it."""
    own = submit(teams[1], children[0], 5, pods=7)
    until("in quota", lambda: get(own).status, "Running")
    monitored = {"OversoldType": "ForceQuotaOverSold", "EnableErrorMonitoringInAIMaster": True}
    returns = submit(teams[1], children[0], 1, OversoldType="AcceptQuotaOverSold", EnableErrorMonitoringInAIMaster=True)
    ends = submit(teams[1], children[0], 1, OversoldType="ForceQuotaOverSold")
    again = submit(teams[1], children[0], 1, **monitored)
    borrowers = (returns, ends, again)
    for job in borrowers:
        until("on idle resources", lambda: get(job).status, "Running")
        check("not in quota", listed(teams[1], job).use_oversold_resource, True)
    check("in quota", listed(teams[1], own).use_oversold_resource, False)
    owner = submit(teams[2], children[1], 5, pods=9)
    until("who lent", lambda: get(owner).status, "Running")
    until("a borrower without fault tolerance", lambda: get(ends).status, "Failed")
    check("its pod", get(ends).pods[0].sub_status, "Evicted")
    for job in (returns, again):
        until("a borrower that returns", lambda: get(job).status, "Queuing")
        check("restarts", get(job).restart_times.split("/")[0], "1")
    stop(owner)
    for job in (returns, again):
        until("a borrower again", lambda: get(job).status, "Running")
    stop(returns, again, own)


root, children, teams = three_teams()
inference_preempts_training(root, children, teams)
scale(children)
high_priority_preempts_low(children[0], teams[1], children[1], teams[2])
idle_resources(children, teams)
print(f"{passed} passed, 0 failed")
