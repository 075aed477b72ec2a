#!/usr/bin/env python3
"""Many threads with a client each, and one that polls with pauses in between: no call may fail.

Each thread submits jobs, asks for them, lists them and stops them, as fast as it is answered. A key may not send more
than so many requests in a second, and who is told to wait waits. The pauses are longer than what a local runtime keeps
connections for.
"""
import sys
import threading
import time
from collections import Counter

import start

start.parser.description = __doc__
start.parser.add_argument("--threads", type=int, default=50)
start.parser.add_argument("--seconds", type=int, default=10)
start.parser.add_argument("--pause", type=float, default=6)
arguments = start.arguments()

from alibabacloud_aiworkspace20210204.client import Client as WorkspaceClient  # noqa: E402
from alibabacloud_aiworkspace20210204.models import CreateWorkspaceResourceRequest  # noqa: E402
from alibabacloud_pai_dlc20201203.client import Client as JobClient  # noqa: E402
from alibabacloud_pai_dlc20201203.models import CreateJobRequest, GetJobRequest, ListJobsRequest  # noqa: E402
from alibabacloud_paistudio20220112.client import Client as QuotaClient  # noqa: E402
from alibabacloud_paistudio20220112.models import CreateQuotaRequest  # noqa: E402
from alibabacloud_tea_openapi.exceptions import ThrottlingException  # noqa: E402

NODE_TYPE = "ml.gu7xf.8xlarge-gu108"
SHOWN = 5
TOLD_TO_WAIT = "told to wait"

workspace = start.workspace(arguments.base_url)
needed = {"QuotaName": "load", "ResourceType": "Lingjun", "Min": {"NodeSpecs": [{"Type": NODE_TYPE, "Count": 1}]}}
quota = QuotaClient(start.config(arguments.base_url)).create_quota(CreateQuotaRequest().from_map(needed)).body.quota_id
resource = {"Name": "load_res", "GroupName": "load", "Spec": {"clusterType": "private", "resourceId": quota}}
attach = CreateWorkspaceResourceRequest().from_map({"Option": "CreateAndAttach", "Resources": [resource]})
WorkspaceClient(start.config(arguments.base_url)).create_workspace_resource(workspace, attach)

calls = Counter()
waits = []
faults = []
lock = threading.Lock()
end = time.time() + arguments.seconds


def answered(ask):
    """The answer; who is told to wait, because all threads have one key, waits as long as it is told and asks again."""
    while True:
        try:
            return ask().body
        except ThrottlingException as refusal:
            with lock:
                calls[TOLD_TO_WAIT] += 1
            time.sleep(refusal.retry_after / 1000)


def call(what, ask):
    begin = time.time()
    try:
        answer = answered(ask)
    except Exception as fault:  # noqa: BLE001
        with lock:
            faults.append(f"{what}: {type(fault).__name__} {fault}")
        return None
    with lock:
        calls[what] += 1
        waits.append(time.time() - begin)
    return answer


def work(number):
    client = JobClient(start.config(arguments.base_url))
    role = {"Type": "Worker", "Image": "image", "PodCount": 1, "ResourceConfig": {"GPU": "1", "CPU": "1", "Memory": "1Gi"}}
    request = CreateJobRequest().from_map({
        "WorkspaceId": workspace, "ResourceId": quota, "DisplayName": f"load-{number}", "JobType": "PyTorchJob",
        "UserCommand": "true", "JobSpecs": [role],
    })
    chosen = ListJobsRequest(workspace_id=workspace, display_name=f"load-{number}", status="Running,Queuing")
    while time.time() < end:
        made = call("CreateJob", lambda: client.create_job(request))
        if made is None:
            continue
        call("GetJob", lambda: client.get_job(made.job_id, GetJobRequest()))
        call("ListJobs", lambda: client.list_jobs(chosen))
        call("StopJob", lambda: client.stop_job(made.job_id))


def poll():
    client = JobClient(start.config(arguments.base_url))
    while time.time() < end:
        call("a poll", lambda: client.list_jobs(ListJobsRequest(workspace_id=workspace)))
        time.sleep(arguments.pause)


threads = [threading.Thread(target=poll), *(threading.Thread(target=work, args=[at]) for at in range(arguments.threads))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
waits.sort()
told = ", ".join(f"{count} {what}" for what, count in sorted(calls.items()))
middle, slowest = (f"{waits[at] * 1000:.0f} ms" for at in (len(waits) // 2, -1)) if waits else ("none", "none")
print(f"{arguments.threads} threads for {arguments.seconds} s: {told}; half of them within {middle}, all within {slowest}")
for fault in faults[:SHOWN]:
    print(fault)
print(f"{sum(calls.values()) - calls[TOLD_TO_WAIT]} passed, {len(faults)} failed")
sys.exit(1 if faults or not calls["a poll"] else 0)
