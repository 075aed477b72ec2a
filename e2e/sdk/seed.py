#!/usr/bin/env python3
"""Runs one of the scripts of the seed `preemptible-jobs` as it stands there, with endpoint, region and ids filled in.

Afterwards the script's own client asks for the job, and each status that it has is printed once, until it runs.
"""
import argparse
import os
import re
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
parser.add_argument("--seed", required=True)
parser.add_argument("--variant", required=True, choices=["SpotDiscountLimit", "SpotPriceLimit"])
arguments = parser.parse_args()
# The credentials' client reads these when it is imported.
os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"] = arguments.key_id
os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = arguments.key_secret

from alibabacloud_aiworkspace20210204.client import Client as WorkspaceClient  # noqa: E402
from alibabacloud_aiworkspace20210204.models import CreateWorkspaceRequest  # noqa: E402
from alibabacloud_credentials.client import Client as CredentialClient  # noqa: E402
from alibabacloud_pai_dlc20201203.models import GetJobRequest  # noqa: E402
from alibabacloud_tea_openapi.models import Config  # noqa: E402

REGION = "cn-wulanchabu"
ENDPOINT = urlsplit(arguments.base_url).netloc
WAIT_S = 60
FIRST_LINE = "#!/usr/bin/env python3"
LAST_LINE = "print(f'jobId is {job_id}')"


def workspace():
    config = Config(credential=CredentialClient(), region_id=REGION, endpoint=ENDPOINT, protocol="http")
    name = f"spot_{int(time.time() * 1000) % 10**12}"
    return WorkspaceClient(config).create_workspace(CreateWorkspaceRequest(workspace_name=name)).body.workspace_id


def script():
    """The script of the variant; what is changed in it is listed here, and each of it must be there."""
    with open(arguments.seed, encoding="utf-8") as file:
        rest = file.read().split(FIRST_LINE)[1:]
    scripts = [text[: text.index(LAST_LINE) + len(LAST_LINE)] for text in rest]
    [text] = [text for text in scripts if f'"{arguments.variant}"' in text]
    blanks = [
        (r"'pai-dlc\.\{\}\.aliyuncs\.com'\.format\(region_id\)", repr(ENDPOINT)),
        (r"<region-id>", REGION),
        (r"'12\*\*\*\*'", repr(workspace())),
        (r"(vpc|vsw|sg)-(\w+)\*\*\*\*", r"\1-\2"),
    ]
    for pattern, filled in blanks:
        text, count = re.subn(pattern, filled, text)
        if count == 0:
            sys.exit(f"the seed's script has no {pattern}")
    return text


names = {}
exec(compile(script(), arguments.variant, "exec"), names)  # noqa: S102
seen = []
end = time.time() + WAIT_S
while "Running" not in seen:
    job = names["dlc_client"].get_job(names["job_id"], GetJobRequest()).body
    if job.status not in seen:
        seen.append(job.status)
        print(f"get_job: {job.status} {job.reason_code or ''}".rstrip(), flush=True)
    if time.time() > end:
        sys.exit(f"still {job.status}: {job.reason_message}")
    time.sleep(0.2)
