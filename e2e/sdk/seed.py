#!/usr/bin/env python3
"""Runs one of the scripts of the seed `preemptible-jobs` as it stands there, with endpoint, region and ids filled in.

Afterwards the script's own client asks for the job, and each status that it has is printed once, until it runs.
"""
import re
import sys
import time
from urllib.parse import urlsplit

import start

start.parser.description = __doc__
start.parser.add_argument("--seed", required=True)
start.parser.add_argument("--variant", required=True, choices=["SpotDiscountLimit", "SpotPriceLimit"])
arguments = start.arguments()

from alibabacloud_pai_dlc20201203.models import GetJobRequest  # noqa: E402

ENDPOINT = urlsplit(arguments.base_url).netloc
WAIT_S = 60
FIRST_LINE = "#!/usr/bin/env python3"
LAST_LINE = "print(f'jobId is {job_id}')"


def script():
    """The script of the variant; what is changed in it is listed here, and each of it must be there."""
    with open(arguments.seed, encoding="utf-8") as file:
        rest = file.read().split(FIRST_LINE)[1:]
    scripts = [text[: text.index(LAST_LINE) + len(LAST_LINE)] for text in rest]
    [text] = [text for text in scripts if f'"{arguments.variant}"' in text]
    blanks = [
        (r"'pai-dlc\.\{\}\.aliyuncs\.com'\.format\(region_id\)", repr(ENDPOINT)),
        (r"<region-id>", start.REGION),
        (r"'12\*\*\*\*'", repr(start.workspace(arguments.base_url))),
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
