#!/usr/bin/env python3
"""Two preemptible jobs, one with a discount and one with a price, submitted and followed with the DLC SDK."""
import sys
import time

import start

start.parser.description = __doc__
arguments = start.arguments()

from alibabacloud_pai_dlc20201203.client import Client as JobClient  # noqa: E402
from alibabacloud_pai_dlc20201203.models import CreateJobRequest, GetJobRequest  # noqa: E402

WAIT_S = 60
WANTED = {
    "discount": ("ml.gu7xf.8xlarge-gu108", {"SpotDiscountLimit": 0.4}, ["Bidding", "Running"]),
    "price": ("ecs.g7.xlarge", {"SpotPriceLimit": 0.011}, ["Queuing", "Running"]),
}


def submit(client, workspace, instance, limit):
    spot = {"SpotStrategy": "SpotWithPriceLimit", **limit}
    worker = {"Type": "Worker", "Image": f"registry.{start.REGION}.example/pytorch:1.12", "PodCount": 1}
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


workspace = start.workspace(arguments.base_url)
client = JobClient(start.config(arguments.base_url))
for variant, (instance, limit, expected) in WANTED.items():
    job = submit(client, workspace, instance, limit)
    print(f"{variant}: jobId is {job}", flush=True)
    seen = statuses(client, job)
    print(f"{variant}: {' -> '.join(seen)}", flush=True)
    if seen != expected:
        sys.exit(f"expected {' -> '.join(expected)}")
print("2 passed, 0 failed")
