#!/usr/bin/env python3
"""A call without a body, and one with a body, by the asynchronous methods of every product's SDK."""
import asyncio
import sys

import start

start.parser.description = __doc__
arguments = start.arguments()

from alibabacloud_aiworkspace20210204 import models as workspace_models  # noqa: E402
from alibabacloud_aiworkspace20210204.client import Client as WorkspaceClient  # noqa: E402
from alibabacloud_eas20210701 import models as service_models  # noqa: E402
from alibabacloud_eas20210701.client import Client as ServiceClient  # noqa: E402
from alibabacloud_pai_dlc20201203 import models as job_models  # noqa: E402
from alibabacloud_pai_dlc20201203.client import Client as JobClient  # noqa: E402
from alibabacloud_pai_dsw20220101 import models as instance_models  # noqa: E402
from alibabacloud_pai_dsw20220101.client import Client as InstanceClient  # noqa: E402
from alibabacloud_paistudio20220112 import models as quota_models  # noqa: E402
from alibabacloud_paistudio20220112.client import Client as QuotaClient  # noqa: E402
from Tea.exceptions import TeaException  # noqa: E402


async def not_found(call):
    """The call gets as far as a name that nothing has."""
    try:
        await call
    except TeaException as refused:
        if refused.code.endswith("NotFound"):
            return
        raise
    sys.exit("a call on nothing was answered")


async def main():
    config = lambda: start.config(arguments.base_url)  # noqa: E731
    workspaces, quotas, jobs = WorkspaceClient(config()), QuotaClient(config()), JobClient(config())
    services, instances = ServiceClient(config()), InstanceClient(config())
    await workspaces.list_workspaces_async(workspace_models.ListWorkspacesRequest())
    await quotas.list_quotas_async(quota_models.ListQuotasRequest())
    await jobs.list_jobs_async(job_models.ListJobsRequest())
    await services.list_services_async(service_models.ListServicesRequest())
    await instances.list_instances_async(instance_models.ListInstancesRequest())
    for nothing in [
        quotas.delete_quota_async("none"),
        quotas.update_quota_async("none", quota_models.UpdateQuotaRequest(description="x")),
        jobs.stop_job_async("none"),
        jobs.delete_job_async("none"),
        jobs.update_job_async("none", job_models.UpdateJobRequest(priority=1)),
        services.stop_service_async("local", "none"),
        instances.start_instance_async("none"),
        instances.update_instance_async("none", instance_models.UpdateInstanceRequest(priority=1)),
        workspaces.update_workspace_async("none", workspace_models.UpdateWorkspaceRequest(description="x")),
    ]:
        await not_found(nothing)


asyncio.run(main())
print("14 passed, 0 failed")
