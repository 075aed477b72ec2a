//! One story in which every operation is called, with what it must say.

use std::collections::BTreeSet;

use engine::unit::time::Millis;
use pai::operation::table::ROWS;
use serde_json::Value;
use serde_json::json;

use crate::logs;
use crate::office::ECS_TYPE;
use crate::office::NODE_TYPE;
use crate::office::Office;

const NOTHING: Value = Value::Null;

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("{field} is no text: {value}"))
}

fn min(nodes: i64) -> Value {
    json!({ "NodeSpecs": [{ "Type": NODE_TYPE, "Count": nodes }] })
}

/// Ids of what the story is about.
struct Cast {
    workspace: String,
    root: String,
    child: String,
}

fn cast(office: &mut Office) -> Cast {
    let made = office.get(
        "CreateWorkspace",
        "/api/v1/workspaces",
        &json!({ "WorkspaceName": "team_a", "DisplayName": "Team A", "Description": "工作空间", "EnvTypes": ["prod"] }),
    );
    let workspace = text(&made, "WorkspaceId").to_owned();
    assert!(workspace.parse::<u64>().is_ok(), "{workspace}");
    let root = office.get(
        "CreateQuota",
        "/api/v1/quotas",
        &json!({ "QuotaName": "Quota1", "ResourceType": "Lingjun", "Min": min(16), "Labels": [{ "Key": "team", "Value": "A" }],
            "QuotaConfig": { "EnableSelfQuotaPreemption": true, "SelfQuotaPreemptionConfig":
                { "PreemptorPriorities": [6, 7, 8, 9], "PreemptedPriorities": [4], "PreemptedProducts": ["DLC", "DSW"] },
                "EnableSubQuotaPreemption": true, "SubQuotaPreemptionConfig":
                { "PreemptedPriorityUpperBound": 3, "PreemptedProducts": ["PAI-DLC", "dsw"] } } }),
    );
    let root = text(&root, "QuotaId").to_owned();
    let child = office.get(
        "CreateQuota",
        "/api/v1/quotas",
        &json!({ "QuotaName": "Quota1.1", "ParentQuotaId": root, "ResourceType": "Lingjun", "Min": min(6) }),
    );
    let child = text(&child, "QuotaId").to_owned();
    for quota in [&root, &child] {
        office.get(
            "CreateWorkspaceResource",
            &format!("/api/v1/workspaces/{workspace}/resources"),
            &json!({ "Option": "CreateAndAttach", "Resources": [{ "WorkspaceId": workspace, "Name": "res", "GroupName": quota,
                "EnvType": "prod", "ResourceType": "Lingjun", "Labels": [], "Quotas": [],
                "Spec": { "clusterType": "private", "resourceId": quota, "resourceName": "Quota1" } }] }),
        );
    }
    Cast { workspace, root, child }
}

fn quota_job(cast: &Cast, quota: &str, gpus: i64, more: &Value) -> Value {
    let mut job = json!({ "WorkspaceId": cast.workspace, "DisplayName": "train", "JobType": "PyTorchJob",
        "ResourceId": quota, "UserCommand": "python train.py", "Envs": { "A": "b" },
        "JobSpecs": [{ "Type": "Worker", "Image": "registry.local/x:1", "PodCount": gpus / 8,
            "ResourceConfig": { "CPU": "8", "GPU": "8", "Memory": "64Gi" } }] });
    for (field, value) in more.as_object().unwrap() {
        job[field] = value.clone();
    }
    job
}

fn spot_job(cast: &Cast, instance: &str, limit: &Value) -> Value {
    let mut spot = json!({ "SpotStrategy": "SpotWithPriceLimit" });
    for (field, value) in limit.as_object().unwrap() {
        spot[field] = value.clone();
    }
    json!({ "WorkspaceId": cast.workspace, "DisplayName": "sample-spot-job", "JobType": "PyTorchJob", "UserCommand": "true",
        "JobSpecs": [{ "Type": "Worker", "Image": "i", "PodCount": 1, "EcsSpec": instance, "SpotSpec": spot }],
        "UserVpc": { "VpcId": "vpc", "SwitchId": "vsw", "SecurityGroupId": "sg" } })
}

fn create_job(office: &mut Office, body: &Value) -> String {
    text(&office.get("CreateJob", "/api/v1/jobs", body), "JobId").to_owned()
}

fn get_job(office: &mut Office, job: &str) -> Value {
    office.get("GetJob", &format!("/api/v1/jobs/{job}?NeedDetail=True"), &NOTHING)
}

#[test]
fn every_operation_is_served_and_its_answer_fits() {
    let mut office = Office::new();
    let cast = cast(&mut office);
    workspaces(&mut office, &cast);
    quotas(&mut office, &cast);
    machines(&mut office);
    jobs(&mut office, &cast);
    trainings(&mut office, &cast);
    services(&mut office, &cast);
    instances(&mut office, &cast);
    ends(&mut office, &cast);
    // What jobs print is told of a cluster whose jobs agents run.
    let mut workshop = Office::new();
    logs::told(&mut workshop);
    let served: BTreeSet<&str> =
        office.served.iter().chain(&workshop.served).map(|(_, action)| action.as_str()).collect();
    let missing: Vec<&str> = ROWS.iter().map(|row| row.action).filter(|action| !served.contains(action)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn workspaces(office: &mut Office, cast: &Cast) {
    let Cast { workspace, root, .. } = cast;
    let path = |rest: &str| format!("/api/v1/workspaces/{workspace}{rest}");
    let told = office.get("GetWorkspace", &path("?Verbose=True"), &NOTHING);
    assert_eq!((text(&told, "WorkspaceName"), text(&told, "Description")), ("team_a", "工作空间"));
    assert_eq!(text(&told, "Status"), "ENABLED");
    office.get("UpdateWorkspace", &path(""), &json!({ "DisplayName": "A" }));
    let told = office.get("GetWorkspace", &path(""), &NOTHING);
    assert_eq!((text(&told, "DisplayName"), text(&told, "Description")), ("A", "工作空间"));
    let list = office.get("ListWorkspaces", &format!("/api/v1/workspaces?WorkspaceIds={workspace},1"), &NOTHING);
    assert_eq!(list["TotalCount"], 1);

    let members = json!({ "Members": [{ "UserId": "2001", "Roles": ["PAI.WorkspaceAdmin"] },
        { "UserId": "2002", "Roles": ["PAI.AlgoDeveloper"] }] });
    let made = office.get("CreateMember", &path("/members"), &members);
    assert_eq!(made["Members"][0]["Roles"], json!(["PAI.WorkspaceAdmin"]));
    office.get("AddMemberRole", &path("/members/2001/roles/PAI.AlgoDeveloper"), &NOTHING);
    let member = office.get("GetMember", &path("/member?UserId=2001"), &NOTHING);
    assert_eq!(member["Roles"], json!(["PAI.WorkspaceAdmin", "PAI.AlgoDeveloper"]));
    office.get("RemoveMemberRole", &path("/members/2001/roles/PAI.AlgoDeveloper"), &NOTHING);
    let list = office.get("ListMembers", &path("/members?Roles=PAI.AlgoDeveloper&PageSize=1"), &NOTHING);
    assert_eq!((&list["TotalCount"], &list["Members"][0]["UserId"]), (&json!(1), &json!("2002")));
    office.get("DeleteMembers", &path("/members?MemberIds=2002"), &NOTHING);
    let users = office.get("ListWorkspaceUsers", &path("/users"), &NOTHING);
    assert_eq!(users["Users"], json!([{ "UserId": "2001", "UserName": "2001" }]));

    let permissions = office.get("ListPermissions", &path("/permissions"), &NOTHING);
    assert!(permissions["TotalCount"].as_i64() >= Some(10));
    office.get("GetPermission", &path("/permissions/PaiDLC:CreateJob"), &NOTHING);
    assert_eq!(office.get("ListWorkspaceRoles", &path("/roles"), &NOTHING)["TotalCount"], 5);
    office.get("GetWorkspaceRole", &path("/roles/PAI.AlgoDeveloper"), &NOTHING);
    assert_eq!(office.get("ListConfigs", &path("/configs"), &NOTHING)["TotalCount"], 0);
    office.get("UpdateDefaultWorkspace", "/api/v1/defaultWorkspaces", &json!({ "WorkspaceId": workspace }));
    let default = office.get("GetDefaultWorkspace", "/api/v1/defaultWorkspaces", &NOTHING);
    assert_eq!(text(&default, "WorkspaceId"), workspace);
    office.get("ListQuotas", "/api/v1/quotas", &NOTHING);

    let list = office.get("ListResources", &format!("/api/v1/resources?WorkspaceId={workspace}"), &NOTHING);
    assert_eq!(list["TotalCount"], 2);
    let ids: Vec<&str> =
        list["Resources"].as_array().unwrap().iter().map(|one| text(&one["Spec"], "resourceId")).collect();
    assert!(ids.contains(&root.as_str()));
    office.get("UpdateWorkspaceResource", &path("/resources"), &json!({ "GroupName": root, "IsDefault": true }));
    let list = office.get("ListResources", &format!("/api/v1/resources?GroupName={root}"), &NOTHING);
    assert_eq!(list["Resources"][0]["IsDefault"], true);
}

fn quotas(office: &mut Office, cast: &Cast) {
    let Cast { workspace, root, child } = cast;
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{root}?Verbose=True"), &NOTHING);
    assert_eq!(told["Min"], min(16));
    assert_eq!(told["QuotaDetails"]["DesiredMinQuota"]["GPU"], "128");
    assert_eq!(told["QuotaDetails"]["DesiredMinQuota"]["Memory"], "16384Gi");
    assert_eq!(told["QuotaConfig"]["SelfQuotaPreemptionConfig"]["PreemptorPriorities"], json!([6, 7, 8, 9]));
    assert_eq!(told["QuotaConfig"]["SubQuotaPreemptionConfig"]["PreemptedPriorityUpperBound"], 3);
    assert_eq!(told["QuotaConfig"]["SubQuotaPreemptionConfig"]["PreemptedProducts"], json!(["DLC", "DSW"]));
    assert_eq!(told["SubQuotas"], json!([{ "QuotaId": child, "QuotaName": "Quota1.1" }]));
    assert_eq!(told["Workspaces"][0]["WorkspaceId"], json!(workspace));
    assert_eq!(told["ResourceGroupIds"], json!(["rg-1"]));

    let off = json!({ "QuotaConfig": { "EnableSubQuotaPreemption": false, "ResourceSpecs": [] } });
    office.get("UpdateQuota", &format!("/api/v1/quotas/{root}"), &off);
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{root}"), &NOTHING);
    assert_eq!(told["QuotaConfig"]["EnableSubQuotaPreemption"], false);
    assert_eq!(told["QuotaConfig"]["EnableSelfQuotaPreemption"], true, "what is not named stays");
    assert_eq!(text(&told, "QuotaName"), "Quota1");
    let on = json!({ "QuotaConfig": { "EnableSubQuotaPreemption": true } });
    office.get("UpdateQuota", &format!("/api/v1/quotas/{root}"), &on);
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{root}"), &NOTHING);
    assert_eq!(told["QuotaConfig"]["SubQuotaPreemptionConfig"]["PreemptedPriorityUpperBound"], 3, "it is remembered");

    let count = |office: &mut Office, query: &str| {
        office.get("ListQuotas", &format!("/api/v1/quotas/?{query}"), &NOTHING)["TotalCount"].as_i64().unwrap()
    };
    assert_eq!(count(office, "ResourceType=Lingjun"), 2);
    assert_eq!(count(office, "ParentQuotaId="), 1);
    assert_eq!(count(office, &format!("ParentQuotaId={root}")), 1);
    assert_eq!(count(office, &format!("QuotaIds={root},{child}&QuotaName=quota1.")), 1);
    assert_eq!(count(office, &format!("WorkspaceIds={workspace}")), 2);
    assert_eq!(count(office, "ResourceType=ECS"), 0);

    office.get("ScaleQuota", &format!("/api/v1/quotas/{child}/action/scale"), &json!({ "Min": min(7) }));
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{child}"), &NOTHING);
    assert_eq!((&told["Min"], &told["QuotaDetails"]["DesiredMinQuota"]["GPU"]), (&min(7), &json!("56")));
    // The native surface scales to what is no whole number of nodes; then the amount is told, and no count.
    office.command(json!({ "scale_quotas": { "targets": [{ "quota": child, "min": { "gpu": 50_000, "cpu": 896_000, "memory": 7_340_032 } }] } }));
    let told = office.get("GetQuota", &format!("/api/v1/quotas/{child}"), &NOTHING);
    assert_eq!((&told["Min"], &told["QuotaDetails"]["DesiredMinQuota"]["GPU"]), (&NOTHING, &json!("50")));
    office.get("ScaleQuota", &format!("/api/v1/quotas/{child}/action/scale"), &json!({ "Min": min(6) }));
}

fn machines(office: &mut Office) {
    let made =
        office.get("CreateResourceGroup", "/api/v1/resources", &json!({ "Name": "more", "ResourceType": "Ecs" }));
    let group = text(&made, "ResourceGroupID").to_owned();
    office.get("UpdateResourceGroup", &format!("/api/v1/resources/{group}"), &json!({ "Description": "spare" }));
    let told = office.get("GetResourceGroup", &format!("/api/v1/resources/{group}"), &NOTHING);
    assert_eq!((text(&told, "Name"), text(&told, "Description")), ("more", "spare"));
    assert_eq!(office.get("ListResourceGroups", "/api/v1/resources?ResourceType=Lingjun", &NOTHING)["TotalCount"], 1);
    let total = office.get("GetResourceGroupTotal", "/api/v1/resources/data/total?ResourceGroupID=rg-1", &NOTHING);
    assert_eq!((&total["totalGPU"], &total["totalCPU"]), (&json!(128), &json!(2048)));
    office.get("GetResourceGroupRequest", "/api/v1/resources/data/request?ResourceGroupID=rg-1", &NOTHING);
    let nodes = office.get("ListNodes", "/api/v1/nodes?ResourceGroupIds=rg-1&PageSize=3&PageNumber=2", &NOTHING);
    assert_eq!((nodes["TotalCount"].as_i64(), nodes["Nodes"].as_array().unwrap().len()), (Some(16), 3));
    let types = office.get("ListNodeTypes", "/api/v1/nodetypes?ResourceGroupIds=rg-1", &NOTHING);
    assert_eq!(types["Statistics"], json!([{ "NodeType": NODE_TYPE, "TotalCount": 16 }]));
    for (operation, status) in [("Cordon", "SchedulingDisabled"), ("Uncordon", "Ready")] {
        office.get("OperateNode", "/api/v1/nodes/node-15", &json!({ "Operation": operation }));
        let nodes = office.get("ListNodes", "/api/v1/nodes?ResourceGroupIds=rg-1&NodeNames=node-15", &NOTHING);
        assert_eq!(text(&nodes["Nodes"][0], "NodeStatus"), status);
    }
    let specs = office.get("ListEcsSpecs", "/api/v1/ecsspecs?ResourceType=Lingjun&AcceleratorType=GPU", &NOTHING);
    assert_eq!(specs["TotalCount"], 1);
    assert_eq!(specs["EcsSpecs"][0]["NonProtectSpotDiscount"], 0.3);
    let prices = office.get("GetSpotPriceHistory", &format!("/api/v1/spots/{NODE_TYPE}/pricehistory"), &NOTHING);
    assert_eq!(prices["SpotPriceHistory"][0]["SpotDiscount"], 0.3);
}

fn jobs(office: &mut Office, cast: &Cast) {
    let aimaster = json!({ "Settings": { "OversoldType": "ForceQuotaOverSold", "EnableErrorMonitoringInAIMaster": true,
        "ErrorMonitoringArgs": "--max-num-of-job-restart=5" } });
    let idle = create_job(office, &quota_job(cast, &cast.child, 8, &aimaster));
    let told = get_job(office, &idle);
    assert_eq!((text(&told, "Status"), text(&told, "RestartTimes")), ("Running", "0/5"));
    assert_eq!(told["Settings"]["OversoldType"], "ForceQuotaOverSold");
    assert_eq!(told["Envs"], json!({ "A": "b" }));
    assert_eq!(told["Pods"][0]["Status"], "Running");
    assert!(text(&told["Pods"][0], "NodeName").starts_with("node-"));
    office.get("UpdateJob", &format!("/api/v1/jobs/{idle}"), &json!({ "Priority": 3, "Description": "new" }));
    let told = get_job(office, &idle);
    assert_eq!((told["Priority"].as_i64(), text(&told, "Description")), (Some(3), "new"));
    let named =
        create_job(office, &quota_job(cast, &cast.child, 48, &json!({ "DisplayName": "idle-ok 空闲", "Priority": 5 })));
    let waits = create_job(office, &quota_job(cast, &cast.child, 8, &json!({ "DisplayName": "late", "Priority": 2 })));
    let told = get_job(office, &waits);
    assert_eq!((text(&told, "Status"), text(&told, "ReasonCode")), ("Queuing", "QuotaFull"));
    assert!(text(&told, "ReasonMessage").contains("GPUs"), "{told}");

    let path = format!("/api/v1/quotas/{}/workloads?WorkloadType=dlc", cast.child);
    let queue = office.get("ListQuotaWorkloads", &path, &NOTHING);
    let of = |queue: &Value, job: &str| {
        let list = queue["Workloads"].as_array().unwrap();
        list.iter().find(|one| one["WorkloadId"] == job).cloned().unwrap()
    };
    assert_eq!((text(&of(&queue, &waits), "Status"), of(&queue, &waits)["Position"].as_i64()), ("Enqueued", Some(1)));
    assert_eq!((text(&of(&queue, &waits), "Code"), text(&of(&queue, &named), "Status")), ("QuotaFull", "Dequeued"));
    assert_eq!(of(&queue, &idle)["UseOversoldResource"], true);
    let usage =
        office.get("ListQuotaActiveUserUsages", &format!("/api/v1/quotas/{}/activeuserusages", cast.child), &NOTHING);
    assert_eq!(usage["QuotaUserUsages"][0]["Resources"]["Submitted"]["GPU"], "64");
    assert_eq!(usage["QuotaUserUsages"][0]["Resources"]["Used"]["GPU"], "56");
    let pods = (0..16)
        .map(|at| office.get("ListNodePods", &format!("/api/v1/nodes/node-{at}/Pods?ResourceGroupId=rg-1"), &NOTHING));
    let infos: Vec<Value> = pods.flat_map(|told| told["NodePodInfos"].as_array().unwrap().clone()).collect();
    assert_eq!(infos.iter().filter(|info| info["WorkloadId"] == idle.as_str()).count(), 1);

    lists(office, cast, &idle, &named);
    bids(office, cast);
    let events = office.get("GetJobEvents", &format!("/api/v1/jobs/{idle}/events?MaxEventsNum=10"), &NOTHING);
    assert!(events["Events"].as_array().unwrap().len() >= 2);
    office.get("GetPodEvents", &format!("/api/v1/jobs/{idle}/pods/{idle}-worker-0/events"), &NOTHING);
    for job in [idle, named, waits] {
        office.get("StopJob", &format!("/api/v1/jobs/{job}/stop"), &NOTHING);
        office.now = office.now + Millis::MINUTE;
        office.tick();
        let told = get_job(office, &job);
        assert_eq!((text(&told, "Status"), text(&told, "ReasonCode")), ("Stopped", "JobStoppedByUser"));
        office.get("DeleteJob", &format!("/api/v1/jobs/{job}"), &NOTHING);
        assert_eq!(office.ask("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING).0, 404);
    }
}

fn trainings(office: &mut Office, cast: &Cast) {
    let described = json!({ "WorkspaceId": cast.workspace, "TrainingJobName": "fit",
        "AlgorithmSpec": { "Command": ["true"], "Image": "i" },
        "ComputeResource": { "ResourceId": cast.child, "InstanceSpec": { "GPU": "8" } } });
    let made = office.get("CreateTrainingJob", "/api/v1/trainingjobs", &described);
    let path = format!("/api/v1/trainingjobs/{}", text(&made, "TrainingJobId"));
    assert_eq!(text(&office.get("GetTrainingJob", &path, &NOTHING), "Status"), "Running");
    assert_eq!(office.get("ListTrainingJobs", "/api/v1/trainingjobs", &NOTHING)["TotalCount"], 1);
    office.get("ListTrainingJobEvents", &path_with(&path, "events"), &NOTHING);
    office.get("StopTrainingJob", &path_with(&path, "stop"), &NOTHING);
    office.now = office.now + Millis::MINUTE;
    office.tick();
    office.get("DeleteTrainingJob", &path, &NOTHING);
}

fn lists(office: &mut Office, cast: &Cast, idle: &str, named: &str) {
    let jobs = |office: &mut Office, query: &str| {
        let list = office.get("ListJobs", &format!("/api/v1/jobs?{query}"), &NOTHING);
        let ids = list["Jobs"].as_array().unwrap().iter().map(|job| text(job, "JobId").to_owned());
        (ids.collect::<Vec<_>>(), list["TotalCount"].as_i64().unwrap())
    };
    let workspace = format!("WorkspaceId={}", cast.workspace);
    assert_eq!(jobs(office, &format!("{workspace}&DisplayName=ok+%E7%A9%BA%E9%97%B2")), (vec![named.to_owned()], 1));
    assert_eq!(jobs(office, &format!("{workspace}&OversoldInfo=ForceQuotaOverSold")), (vec![idle.to_owned()], 1));
    assert_eq!(jobs(office, &format!("ResourceId={}&Status=Queuing", cast.child)).1, 1);
    assert_eq!(jobs(office, &format!("ResourceId={}", cast.root)).1, 0);
    assert_eq!(jobs(office, "JobType=MPIJob").1, 0);
    let (page, total) = jobs(office, &format!("{workspace}&PageSize=2&SortBy=DisplayName&Order=asc"));
    assert_eq!((page.len(), total, page[0].as_str()), (2, 3, named));
    assert_eq!(jobs(office, "StartTime=2026-01-01T00:00:00Z&EndTime=2026-01-02T00:00:00Z").1, 0);
    assert_eq!(jobs(office, "ShowOwn=True").1, 3);
}

fn bids(office: &mut Office, cast: &Cast) {
    let by_discount = create_job(office, &spot_job(cast, NODE_TYPE, &json!({ "SpotDiscountLimit": 0.4 })));
    let low = create_job(office, &spot_job(cast, NODE_TYPE, &json!({ "SpotDiscountLimit": 0.2 })));
    let by_price = create_job(office, &spot_job(cast, ECS_TYPE, &json!({ "SpotPriceLimit": 0.011 })));
    office.tick();
    let told = get_job(office, &by_discount);
    assert_eq!(
        (text(&told, "Status"), told["JobSpecs"][0]["SpotSpec"]["SpotDiscountLimit"].as_f64()),
        ("Running", Some(0.4))
    );
    let statuses = told["StatusHistory"].as_array().unwrap().iter().map(|one| text(one, "Status"));
    assert_eq!(statuses.collect::<Vec<_>>(), ["Bidding", "Running"]);
    let told = get_job(office, &low);
    assert_eq!((text(&told, "Status"), text(&told, "ReasonCode")), ("Bidding", "BelowMarket"));
    assert_eq!(text(&get_job(office, &by_price), "Status"), "Running");
}

fn services(office: &mut Office, cast: &Cast) {
    let config = json!({ "metadata": { "name": "infer_a", "instance": 2, "cpu": 8, "gpu": 8, "memory": 64_000,
        "quota_id": cast.root, "workspace_id": cast.workspace }, "options": { "priority": 9 }, "containers": [{ "image": "i" }] });
    let path = "/api/v2/services/local/infer_a";
    let made = office.get("CreateService", &format!("/api/v2/services?WorkspaceId={}", cast.workspace), &config);
    assert_eq!(text(&made, "ServiceName"), "infer_a");
    let told = office.get("DescribeService", path, &NOTHING);
    assert_eq!(
        (text(&told, "Status"), told["RunningInstance"].as_i64(), told["Gpu"].as_i64(), told["Memory"].as_i64()),
        ("Running", Some(2), Some(8), Some(64_000))
    );
    let count = |office: &mut Office, query: &str| {
        office.get("ListServices", &format!("/api/v2/services?{query}"), &NOTHING)["TotalCount"].as_i64().unwrap()
    };
    assert_eq!((count(office, &format!("QuotaId={}", cast.root)), count(office, "QuotaId=other")), (1, 0));
    office.get("UpdateService", path, &json!({ "containers": [{ "image": "j" }] }));
    assert_eq!(
        office.get("DescribeService", path, &NOTHING)["CurrentVersion"],
        1,
        "an image does not concern scheduling"
    );
    office.get("UpdateService", path, &json!({ "metadata": { "instance": 3 } }));
    let told = office.get("DescribeService", path, &NOTHING);
    assert_eq!((told["CurrentVersion"].as_i64(), told["TotalInstance"].as_i64()), (Some(1), Some(3)));
    assert!(text(&told, "ServiceConfig").contains("\"image\":\"j\""));
    assert_eq!(office.get("ListServiceInstances", path_with(path, "instances").as_str(), &NOTHING)["TotalCount"], 3);
    office.get("DescribeServiceEvent", &path_with(path, "events"), &NOTHING);
    office.get("RestartService", &path_with(path, "restart"), &NOTHING);
    office.get("StopService", &path_with(path, "stop"), &NOTHING);
    office.tick();
    assert_eq!(text(&office.get("DescribeService", path, &NOTHING), "Status"), "Stopped");
    office.get("StartService", &path_with(path, "start"), &NOTHING);
    assert_eq!(office.get("DescribeService", path, &NOTHING)["CurrentVersion"], 3);
    office.get("DeleteService", path, &NOTHING);
    assert_eq!(office.ask("DescribeService", path, &NOTHING).0, 404);
}

fn path_with(path: &str, what: &str) -> String {
    format!("{path}/{what}")
}

fn instances(office: &mut Office, cast: &Cast) {
    let body = json!({ "InstanceName": "dev_a", "WorkspaceId": cast.workspace, "ResourceId": cast.child, "Priority": 2,
        "ImageUrl": "registry.local/x:1", "OversoldType": "ForbiddenQuotaOverSold",
        "RequestedResource": { "CPU": "8", "GPU": "8", "Memory": "64Gi" } });
    let made = office.get("CreateInstance", "/api/v2/instances", &body);
    assert_eq!(made["Success"], true);
    let path = format!("/api/v2/instances/{}", text(&made, "InstanceId"));
    let told = office.get("GetInstance", &path, &NOTHING);
    assert_eq!((text(&told, "Status"), text(&told, "ImageUrl")), ("Running", "registry.local/x:1"));
    office.get("UpdateInstance", &path, &json!({ "InstanceName": "dev_b", "Priority": 4 }));
    let told = office.get("GetInstance", &path, &NOTHING);
    assert_eq!((text(&told, "InstanceName"), told["Priority"].as_i64()), ("dev_b", Some(4)));
    let list = office.get("ListInstances", "/api/v2/instances?ResourceId=ALL&Status=Running&SortBy=Priority", &NOTHING);
    assert_eq!(list["TotalCount"], 1);
    office.get("StopInstance", &path_with(&path, "stop"), &NOTHING);
    office.tick();
    assert_eq!(text(&office.get("GetInstance", &path, &NOTHING), "Status"), "Stopped");
    office.get("StartInstance", &path_with(&path, "start"), &NOTHING);
    assert_eq!(text(&office.get("GetInstance", &path, &NOTHING), "Status"), "Running");
    office.get("GetInstanceEvents", &path_with(&path, "events"), &NOTHING);
    office.get("DeleteInstance", &path, &NOTHING);
    office.tick();
}

fn ends(office: &mut Office, cast: &Cast) {
    let Cast { workspace, root, child } = cast;
    for job in office.get("ListJobs", "/api/v1/jobs?PageSize=100", &NOTHING)["Jobs"].as_array().unwrap().clone() {
        office.get("StopJob", &format!("/api/v1/jobs/{}/stop", text(&job, "JobId")), &NOTHING);
    }
    office.now = office.now + Millis::MINUTE;
    office.tick();
    for quota in [child, root] {
        let path = format!(
            "/api/v1/workspaces/{workspace}/resources?GroupName={quota}&ResourceType=Lingjun&Option=DetachAndDelete"
        );
        office.get("DeleteWorkspaceResource", &path, &NOTHING);
        office.get("DeleteQuota", &format!("/api/v1/quotas/{quota}"), &NOTHING);
    }
    office.get("DeleteWorkspace", &format!("/api/v1/workspaces/{workspace}"), &NOTHING);
}
