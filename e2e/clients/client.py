"""Submits, follows, explains, scales, bids and cancels with what openapi-python-client makes of the document.

What is sent and read goes through the models alone: a command or an event that the generator had dropped has none.
"""

import sys

from tidegate import AuthenticatedClient, Client
from tidegate.api.commands import send_command
from tidegate.api.history import list_entries
from tidegate.api.jobs import explain_job
from tidegate.api.market import list_offers
from tidegate.api.service import get_health
from tidegate.api.state import get_snapshot
from tidegate.models import (
    AmountByName,
    CancelJob,
    CommandCancelJob,
    CommandScaleQuotas,
    CommandSubmitJob,
    Entry,
    Envelope,
    EventEnded,
    EventJobSubmitted,
    EventQuotasScaled,
    EventStarted,
    Health,
    JobStatus,
    JobWaits,
    Network,
    PodGroup,
    Receipt,
    Refusal,
    ScaleMode,
    ScaleQuotas,
    ScaleTarget,
    Snapshot,
    SpotRequest,
    SpotStrategy,
    SubmitJob,
)

GPU = 1_000
URL, KEY, CLUSTER, OFFER = sys.argv[1:]
client = AuthenticatedClient(base_url=URL, token=KEY, raise_on_unexpected_status=True)
sent = 0


def gpus(count):
    return AmountByName.from_dict({"gpu": count * GPU})


def ask(command):
    global sent
    sent += 1
    envelope = Envelope(format_=1, id=f"python-{sent}", command=command)
    return send_command.sync(CLUSTER, client=client, body=envelope)


def send(command):
    answer = ask(command)
    assert isinstance(answer, Receipt), answer
    return answer


def submission(job, count, **more):
    pods = [PodGroup(amount=gpus(count))]
    return CommandSubmitJob(submit_job=SubmitJob(job=job, quota="team", pods=pods, **more))


def has(receipt, kind):
    return any(isinstance(event, kind) for event in receipt.events)


assert isinstance(get_health.sync(client=Client(base_url=URL)), Health)

# Submit: one job fills the quota, another one waits.
first = send(submission("python-runs", 8))
assert has(first, EventJobSubmitted) and has(first, EventStarted), first
second = send(submission("python-waits", 2))
assert not has(second, EventStarted), second

# Follow: the entry of the second command stands after the first one's revision.
entries = list_entries.sync(CLUSTER, client=client, after=first.revision, min_revision=second.revision)
assert [entry.revision for entry in entries] == [second.revision], entries
assert isinstance(entries[0], Entry) and entries[0].envelope.command.submit_job.job == "python-waits"
snapshot = get_snapshot.sync(CLUSTER, client=client, min_revision=second.revision)
assert isinstance(snapshot, Snapshot) and snapshot.revision >= second.revision

# Explain.
waits = explain_job.sync(CLUSTER, "python-waits", client=client)
assert isinstance(waits, JobWaits) and waits.reason and waits.hold.attempts, waits
runs = explain_job.sync(CLUSTER, "python-runs", client=client)
assert isinstance(runs, JobStatus), runs
unknown = explain_job.sync(CLUSTER, "nobody's", client=client)
assert isinstance(unknown, Refusal) and unknown.code == "unknown", unknown

# Scale.
targets = [ScaleTarget(quota="team", min_=gpus(7))]
assert has(send(CommandScaleQuotas(ScaleQuotas(targets=targets, mode=ScaleMode.DRAIN))), EventQuotasScaled)

# Bid.
network = Network(vpc="vpc-1", vswitch="vsw-1", security_group="sg-1")
spot = SpotRequest(offer=OFFER, strategy=SpotStrategy.WITH_PRICE_LIMIT, discount_percent=50, network=network)
whole = [PodGroup(amount=AmountByName())]
assert has(send(CommandSubmitJob(SubmitJob(job="python-bids", spot=spot, pods=whole))), EventJobSubmitted)
[offer] = list_offers.sync(CLUSTER, client=client, min_revision=send(submission("python-later", 1)).revision)
assert offer.offer == OFFER and len(offer.waiting) + len(offer.running) == 1, offer

# Cancel.
assert has(send(CommandCancelJob(CancelJob(job="python-runs"))), EventEnded)
refused = ask(CommandCancelJob(CancelJob(job="nobody's")))
assert isinstance(refused, Refusal) and refused.rejection is not None, refused

print(f"python: {sent} commands")
