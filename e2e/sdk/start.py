"""What the scripts begin with: the key where the SDK looks for it, and a workspace to submit jobs to."""
import argparse
import os
import time
from urllib.parse import urlsplit

REGION = "cn-wulanchabu"

# The SDK sends even loop-back traffic through a proxy, and looks for a metadata service when it has no key.
for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
    os.environ.pop(name, None)
os.environ.setdefault("ALIBABA_CLOUD_ECS_METADATA_DISABLED", "true")

parser = argparse.ArgumentParser()
parser.add_argument("base_url")
parser.add_argument("--key-id", required=True)
parser.add_argument("--key-secret", required=True)


def arguments():
    """What the command line says. The credentials' client reads the key when it is imported, so that comes after this."""
    read = parser.parse_args()
    os.environ["ALIBABA_CLOUD_ACCESS_KEY_ID"] = read.key_id
    os.environ["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = read.key_secret
    return read


def config(base_url):
    from alibabacloud_credentials.client import Client as CredentialClient
    from alibabacloud_tea_openapi.models import Config

    endpoint = urlsplit(base_url).netloc
    return Config(credential=CredentialClient(), region_id=REGION, endpoint=endpoint, protocol="http")


def workspace(base_url):
    """The id of a new workspace."""
    from alibabacloud_aiworkspace20210204.client import Client
    from alibabacloud_aiworkspace20210204.models import CreateWorkspaceRequest

    name = f"spot_{int(time.time() * 1000) % 10**12}"
    return Client(config(base_url)).create_workspace(CreateWorkspaceRequest(workspace_name=name)).body.workspace_id
