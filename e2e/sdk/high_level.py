#!/usr/bin/env python3
"""Sessions, jobs, training jobs and services by the high-level SDK, `alipai`.

It builds its endpoints from the region and signs without the body unless its factory of clients is told otherwise,
which is all that is replaced here, by a few lines of whoever points it at another server.
"""
import os
import sys
import time
from urllib.parse import urlsplit

import start

start.parser.description = __doc__
arguments = start.arguments()
# Otherwise it looks for a network of the vendor's.
os.environ["PAI_NETWORK_TYPE"] = "PUBLIC"

from alibabacloud_tea_openapi.models import Config  # noqa: E402
from pai.api.client_factory import ClientFactory  # noqa: E402
from pai.estimator import AlgorithmEstimator, Estimator  # noqa: E402
from pai.job import InstanceSpec, SpotSpec, SpotStrategy, TrainingJob, UserVpcConfig  # noqa: E402
from pai.libs.alibabacloud_aiworkspace20210204.models import CreateWorkspaceResourceRequest  # noqa: E402
from pai.libs.alibabacloud_pai_dlc20201203.models import CreateJobRequest  # noqa: E402
from pai.libs.alibabacloud_paistudio20220112.models import CreateQuotaRequest  # noqa: E402
from pai.model import Model, container_serving_spec  # noqa: E402
from pai.predictor import Predictor, ServiceStatus  # noqa: E402
from pai.session import setup_default_session  # noqa: E402
from Tea.exceptions import TeaException  # noqa: E402

ENDPOINT = urlsplit(arguments.base_url).netloc
WAIT_S = 60
NODE_TYPE = "ml.gu7xf.8xlarge-gu108"
IMAGE = f"registry.{start.REGION}.example/pytorch:1.12"


def create_client(service_name, region_id, credential_client, network=None, **more):
    config = Config(region_id=region_id, credential=credential_client, endpoint=ENDPOINT, protocol="http", **more)
    client = ClientFactory.ClientByServiceName[service_name](config)
    # The clients for jobs and services ask for the old signature by themselves.
    client._signature_algorithm = None
    return client


ClientFactory.create_client = create_client
passed = 0


def check(what, holds, told=""):
    global passed
    if not holds:
        sys.exit(f"{what}: {told}")
    passed += 1


def until(what, ask, wanted):
    end = time.time() + WAIT_S
    seen = ask()
    while seen != wanted and time.time() < end:
        time.sleep(0.3)
        seen = ask()
    check(what, seen == wanted, f"still {seen}")


def refused(what, call, *parts):
    """The call is refused with a sentence that has these parts."""
    try:
        call()
    except TeaException as refusal:
        told = f"{refusal.code} {refusal.message}"
        check(what, all(part in told for part in parts), told)
    else:
        sys.exit(f"{what}: it was not refused")


def connect(workspace=None):
    keys = {"access_key_id": arguments.key_id, "access_key_secret": arguments.key_secret}
    return setup_default_session(region_id=start.REGION, workspace_id=workspace, **keys)


def sessions():
    """A session of a new workspace, and the quota that its jobs run in."""
    apart = connect("none")
    name = f"high_{int(time.time() * 1000) % 10**12}"
    workspace = apart.workspace_api.create(name=name, description="high level", env_types=["prod"])
    session = connect(workspace)
    check("the session's workspace", session.workspace_name == name, session.workspace_name)
    check("workspaces by name", [one["WorkspaceId"] for one in session.workspace_api.list(name=name)] == [workspace])
    check("a workspace", session.workspace_api.get(workspace)["Status"] == "ENABLED")
    member = session.workspace_api.add_member(workspace, "ann", ["PAI.AlgoDeveloper"])
    session.workspace_api.add_member_role(workspace, member, "PAI.AlgoOperator")
    roles = session.workspace_api.get_member(workspace, "ann")["Roles"]
    check("a member", sorted(roles) == ["PAI.AlgoDeveloper", "PAI.AlgoOperator"], roles)
    check("members by role", len(session.workspace_api.list_members(workspace, roles=["PAI.AlgoOperator"])) == 1)
    session.workspace_api.remove_member_role(workspace, member, "PAI.AlgoOperator")
    request = {"QuotaName": "high-level", "ResourceType": "Lingjun", "Min": {"NodeSpecs": [{"Type": NODE_TYPE, "Count": 1}]}}
    quota = session._acs_training_client.create_quota(CreateQuotaRequest().from_map(request)).body.quota_id
    resource = {"Name": "high_res", "GroupName": "high", "Spec": {"clusterType": "private", "resourceId": quota}}
    attach = CreateWorkspaceResourceRequest().from_map({"Option": "CreateAndAttach", "Resources": [resource]})
    session._acs_workspace_client.create_workspace_resource(workspace, attach)
    specs = session.job_api.list_ecs_specs(page_size=100).items
    check("instance types", {NODE_TYPE, "ecs.g7.xlarge"} <= {spec["InstanceType"] for spec in specs}, specs)
    check("an instance type for training", session.is_supported_training_instance(NODE_TYPE))
    check("which has GPUs", session.is_gpu_training_instance(NODE_TYPE))
    return session, quota


def jobs(session, quota):
    needs = {"Type": "Worker", "Image": IMAGE, "PodCount": 1, "ResourceConfig": {"GPU": "1", "CPU": "4", "Memory": "16Gi"}}
    request = CreateJobRequest().from_map({
        "WorkspaceId": session.workspace_id, "DisplayName": "listed", "JobType": "PyTorchJob", "ResourceId": quota,
        "UserCommand": "true", "JobSpecs": [needs], "Settings": {"Tags": {"by": "high-level"}},
    })
    job = session._acs_dlc_client.create_job(request).body.job_id
    until("a job", lambda: session.job_api.get(job)["Status"], "Running")
    for what, query in {
        "all": {},
        "by name": {"display_name": "LIST"},
        "by quota and status": {"resource_id": quota, "status": "Running"},
        "by tags, sorted": {"tags": {"by": "high-level"}, "sort_by": "GmtCreateTime", "order": "desc"},
    }.items():
        found = session.job_api.list(**query)
        check(f"jobs {what}", (found.total_count, [one["JobId"] for one in found.items]) == (1, [job]), found.items)
    check("no job of another tag", session.job_api.list(tags={"by": "nobody"}).total_count == 0)
    check("events", len(session.job_api.list_events(job)) >= 2)
    pod = session.job_api.get(job)["Pods"][0]["PodId"]
    refused("logs", lambda: session.job_api.list_logs(job, pod), "UnsupportedOperation", "simulated")
    session.job_api.stop(job)
    until("a stopped job", lambda: session.job_api.get(job)["Status"], "Stopped")
    session.job_api.delete(job)
    check("a deleted job", session.job_api.list().total_count == 0)


def estimator(quota=None, **more):
    described = {
        "image_uri": IMAGE, "command": "python train.py", "hyperparameters": {"lr": 0.1}, "instance_count": 1,
        "environments": {"KEY": "value"}, "base_job_name": "fit", "output_path": "oss://bucket.oss.example/out/",
        "labels": {"team": "vision"}, "max_run_time": 3600,
    }
    if quota:
        described["resource_id"] = quota
        described["instance_spec"] = InstanceSpec(cpu="4", gpu="1", memory="16Gi")
    return Estimator(**{**described, **more})


def training_jobs(session, quota):
    job = estimator(quota, settings={"Priority": 4}).fit({"train": "oss://bucket.oss.example/in/"}, wait=False)
    until("a training job", lambda: TrainingJob.get(job.id).status, "Running")
    told = TrainingJob.get(job.id)
    check("its parameters", [(one.name, one.value) for one in told.hyperparameters] == [("lr", "0.1")])
    check("its output", told.output_path().startswith("oss://bucket.oss.example/out/fit"), told.outputs)
    check("its machines", told.compute_resource.instance_spec.gpu == "1")
    check("training jobs", [one.id for one in TrainingJob.list()] == [job.id])
    check("those that run", [one.id for one in TrainingJob.list(status="Running")] == [job.id])
    check("none of which failed", TrainingJob.list(status="Failed") == [])
    check("its job", session.job_api.get(job.id)["Priority"] == 4)
    refused("its logs", lambda: session.training_job_api.list_logs(job.id), "UnsupportedOperation", "ListTrainingJobLogs")
    session._acs_training_client.stop_training_job(job.id)
    until("a stopped training job", lambda: TrainingJob.get(job.id).status, "Terminated")
    job.wait(interval=1, show_logs=False)

    as_it_goes = SpotSpec(spot_strategy=SpotStrategy.SpotAsPriceGo)
    bid = estimator(instance_type="ecs.g7.xlarge", spot_spec=as_it_goes).fit(wait=False)
    until("a bid", lambda: TrainingJob.get(bid.id).status, "Running")
    session._acs_training_client.stop_training_job(bid.id)
    # Bids on Lingjun name a switch, which the SDK has in its configuration and does not send.
    vpc = UserVpcConfig(vpc_id="vpc-1", security_group_id="sg-1", switch_id="vsw-1")
    spot = SpotSpec(spot_strategy=SpotStrategy.SpotWithPriceLimit, spot_discount_limit=0.4)
    bid = {"instance_type": NODE_TYPE, "spot_spec": spot, "resource_type": "Lingjun", "user_vpc_config": vpc}
    refused("a bid without a switch", lambda: estimator(**bid).fit(wait=False), "BidNetworkMissing", "vSwitch")
    by_name = lambda: AlgorithmEstimator(algorithm_name="kept", algorithm_provider="pai")  # noqa: E731
    refused("an algorithm by name", by_name, "UnsupportedOperation", "ListAlgorithms")


def services(session, quota):
    described = container_serving_spec(command="python serve.py", image_uri=IMAGE, port=8000)
    described.add_option("metadata.quota_id", quota)
    described.add_option("metadata.workspace_id", session.workspace_id)
    name = f"served_{int(time.time())}"
    needs = {"cpu": 2, "memory": 4096, "gpu": 1}
    predictor = Model(inference_spec=described).deploy(service_name=name, instance_count=2, resource_config=needs, wait=False)
    until("a service", lambda: session.service_api.get(name)["Status"], ServiceStatus.Running)
    check("services", name in [one["ServiceName"] for one in session.service_api.list().items])
    check("services by filter", [one["ServiceName"] for one in session.service_api.list(filter=name).items] == [name])
    session.service_api.update(name, {"metadata": {"instance": 3}})
    until("a larger service", lambda: session.service_api.get(name)["TotalInstance"], 3)
    predictor = Predictor(service_name=name)
    predictor.stop_service()
    until("a stopped service", lambda: session.service_api.get(name)["Status"], ServiceStatus.Stopped)
    predictor.start_service(wait=False)
    until("a started service", lambda: session.service_api.get(name)["Status"], ServiceStatus.Running)
    predictor.delete_service()
    check("a deleted service", name not in [one["ServiceName"] for one in session.service_api.list().items])


session, quota = sessions()
jobs(session, quota)
training_jobs(session, quota)
services(session, quota)
print(f"{passed} passed, 0 failed")
