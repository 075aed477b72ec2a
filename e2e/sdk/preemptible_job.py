#!/usr/bin/env python3
"""Two preemptible jobs, one with a discount and one with a price, submitted and followed with the DLC SDK."""
import argparse
import os
import sys
import time
from urllib.parse import urlsplit

# The SDK sends even loop-back traffic through a proxy, and looks for a metadata service when it has no key.
for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
    os.environ.pop(name, None)
os.environ.setdefault("ALIBABA_CLOUD_ECS_METADATA_DISABLED", "true")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("base_url")
parser.add_argument("--key-id", required=True)
parser.add_argument("--key-secret", required=True)
arguments = parser.parse_args()
# The credentials' client reads these when it is imported.
os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"] = arguments.key_id
os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = arguments.key_secret

from alibabacloud_aiworkspace20210204.client import Client as WorkspaceClient  # noqa: E402
from alibabacloud_aiworkspace20210204.models import CreateWorkspaceRequest  # noqa: E402
from alibabacloud_credentials.client import Client as CredentialClient  # noqa: E402
from alibabacloud_pai_dlc20201203.client import Client as JobClient  # noqa: E402
from alibabacloud_pai_dlc20201203.models import CreateJobRequest, GetJobRequest  # noqa: E402
from alibabacloud_tea_openapi.models import Config  # noqa: E402

REGION = "cn-wulanchabu"
WAIT_S = 60
WANTED = {
    "discount": ("ml.gu7xf.8xlarge-gu108", {"SpotDiscountLimit": 0.4}, ["Bidding", "Running"]),
    "price": ("ecs.g7.xlarge", {"SpotPriceLimit": 0.011}, ["Queuing", "Running"]),
}


def config():
    endpoint = urlsplit(arguments.base_url).netloc
    return Config(credential=CredentialClient(), region_id=REGION, endpoint=endpoint, protocol="http")


def submit(client, workspace, instance, limit):
    spot = {"SpotStrategy": "SpotWithPriceLimit", **limit}
    worker = {"Type": "Worker", "Image": f"registry.{REGION}.example/pytorch:1.12", "PodCount": 1}
    request = CreateJobRequest().from_map({
        "WorkspaceId": workspace,
        "DisplayName": "preemptible",
        "JobType": "PyTorchJob",
        "JobSpecs": [{**worker, "EcsSpec": instance, "SpotSpec": spot}],
        "UserVpc": {"VpcId": "vpc-1", "SwitchId": "vsw-1", "SecurityGroupId": "sg-1"},
        "UserCommand": "echo hello && sleep 30",
    })
    return client.create_job(request).body.job_id


def statuses(client, job):
    """What the job has been, once it runs."""
    end = time.time() + WAIT_S
    while time.time() < end:
        body = client.get_job(job, GetJobRequest(need_detail=True)).body
        if body.status == "Running":
            return [entry.status for entry in body.status_history]
        time.sleep(0.3)
    sys.exit(f"{job} is {body.status} ({body.reason_code}: {body.reason_message})")


name = f"spot_{int(time.time()) % 10**9}"
workspace = WorkspaceClient(config()).create_workspace(CreateWorkspaceRequest(workspace_name=name)).body.workspace_id
client = JobClient(config())
for variant, (instance, limit, expected) in WANTED.items():
    job = submit(client, workspace, instance, limit)
    print(f"{variant}: jobId is {job}", flush=True)
    seen = statuses(client, job)
    print(f"{variant}: {' -> '.join(seen)}", flush=True)
    if seen != expected:
        sys.exit(f"expected {' -> '.join(expected)}")
print("2 passed, 0 failed")
