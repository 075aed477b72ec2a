//! Lists by everything that can be asked for: what is found, and that nothing else is.

use serde_json::Value;
use serde_json::json;

use crate::office::ECS_TYPE;
use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::attach;
use crate::things::bid;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;
use engine::transition::Sender;
use engine::unit::id::UserId;

const NOTHING: Value = Value::Null;

/// A field of each thing that a list finds.
fn found(office: &mut Office, action: &str, target: &str, list: &str, field: &str) -> Vec<String> {
    let told = office.get(action, target, &NOTHING);
    told[list].as_array().unwrap().iter().map(|one| id(one, field)).collect()
}

fn jobs(office: &mut Office, query: &str) -> Vec<String> {
    found(office, "ListJobs", &format!("/api/v1/jobs?{query}&SortBy=DisplayName&Order=asc"), "Jobs", "DisplayName")
}

fn submit(office: &mut Office, quota: &str, name: &str, more: &Value) {
    let mut body = job(&json!({ "ResourceId": quota, "DisplayName": name }));
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    office.get("CreateJob", "/api/v1/jobs", &body);
}

/// A job of each kind: on a full quota of two machines and on the market, of two users.
fn cluster() -> (Office, String) {
    let mut office = Office::new();
    let quota = quota(&mut office, 2);
    let said = json!({ "Tags": { "team": "A", "run": "1" }, "Caller": "pipeline", "PipelineId": "p-1",
        "BusinessUserId": "b-1" });
    let spec = json!([{ "Image": "registry.local/Torch:2", "ResourceConfig": { "GPU": "8" } }]);
    submit(&mut office, &quota, "a", &json!({ "Settings": said, "Accessibility": "PUBLIC", "JobSpecs": spec }));
    submit(&mut office, &quota, "b", &json!({ "Settings": { "Tags": { "team": "B" } }, "Description": "The second" }));
    submit(&mut office, &quota, "c", &json!({ "UserCommand": "python Train.py", "Accessibility": "PRIVATE" }));
    office.sent_by(Sender { user: UserId::new("ann").unwrap(), administers: true });
    let mut spot = bid(ECS_TYPE, &json!({ "SpotStrategy": "SpotWithPriceLimit", "SpotPriceLimit": 0.02 }));
    spot["DisplayName"] = json!("d");
    office.get("CreateJob", "/api/v1/jobs", &spot);
    office.tick();
    (office, quota)
}

#[test]
fn jobs_by_what_was_sent_with_them() {
    let (mut office, _) = cluster();
    let all = ["a", "b", "c", "d"];
    for (query, names) in [
        ("", &all[..]),
        ("Tags=%7B%22team%22%3A%22A%22%7D", &["a"]),
        ("Tags=%7B%22team%22%3A%22A%22%2C%22run%22%3A%221%22%7D", &["a"]),
        ("Tags=%7B%22team%22%3A%22A%22%2C%22run%22%3A%222%22%7D", &[]),
        ("Tags=%7B%22team%22%3A%22C%22%7D", &[]),
        ("Caller=pipeline", &["a"]),
        ("PipelineId=p-1", &["a"]),
        ("PipelineId=p-2", &[]),
        ("BusinessUserId=b-1", &["a"]),
        ("Accessibility=public", &["a"]),
        ("Accessibility=PRIVATE", &["c"]),
        ("Description=second", &["b"]),
        ("ImageSearch=torch", &["a"]),
        ("UserCommandSearch=train.PY", &["c"]),
        ("UserCommandSearch=true&Tags=%7B%22team%22%3A%22B%22%7D", &["b"]),
    ] {
        assert_eq!(jobs(&mut office, query), names, "{query}");
    }
}

#[test]
fn jobs_by_what_the_engine_knows() {
    let (mut office, quota) = cluster();
    for (query, names) in [
        ("Status=Running", &["a", "b", "d"][..]),
        ("Status=running%2CQueuing", &["a", "b", "c", "d"]),
        ("Status=queuing", &["c"]),
        ("Status=Stopped,Failed", &[]),
        ("Username=ann", &["d"]),
        ("UserIdForFilter=1000", &["a", "b", "c"]),
        ("UserIdForFilter=1000&Username=ann", &[]),
        ("ShowOwn=True", &["d"]),
        ("PaymentType=Spot", &["d"]),
        ("PaymentType=PrePaid", &["a", "b", "c"]),
        ("PaymentType=PostPaid", &[]),
        ("ResourceQuotaName=q", &["a", "b", "c"]),
        ("ResourceQuotaName=other", &[]),
        ("JobType=MPIJob,PyTorchJob", &["a", "b", "c", "d"]),
        ("FromAllWorkspaces=True&WorkspaceId=1", &["a", "b", "c", "d"]),
        ("WorkspaceId=1", &[]),
        ("StartTime=2100-01-01T00:00:00Z", &[]),
    ] {
        assert_eq!(jobs(&mut office, query), names, "{query}");
    }
    assert_eq!(jobs(&mut office, &format!("ResourceId={quota}&ResourceQuotaName=q")), ["a", "b", "c"]);
    let told = office.refusal("ListJobs", "/api/v1/jobs?Status=Runing", &NOTHING);
    assert!(
        told.starts_with("400 InvalidParameter: query.Status is \"Runing\"; it must be one or several of Cr"),
        "{told}"
    );
    let told = office.refusal("ListJobs", "/api/v1/jobs?ReasonSearch=quota", &NOTHING);
    assert!(told.starts_with("400 UnsupportedOperation: ListJobs with ReasonSearch is not served here: "), "{told}");
}

#[test]
fn workloads() {
    let (mut office, quota) = cluster();
    let path = format!("/api/v1/quotas/{quota}/workloads");
    let now = "2100-01-01T00%3A00%3A00Z";
    let range = |name: &str| format!("{name}.StartTime=2026-01-01T00%3A00%3A00Z&{name}.EndTime={now}");
    let after = |name: &str| format!("{name}.StartTime={now}");
    let (created, enqueued, dequeued) = ("WorkloadCreatedTimeRange", "GmtEnqueuedTimeRange", "GmtDequeuedTimeRange");
    for (query, names) in [
        (String::new(), &["a", "b", "c"][..]),
        ("Status=Enqueued".to_owned(), &["c"]),
        ("Status=dequeued".to_owned(), &["a", "b"]),
        ("WorkloadStatuses=queuing,Stopped".to_owned(), &["c"]),
        ("WorkloadNames=a,c".to_owned(), &["a", "c"]),
        ("WorkloadType=dlc,eas".to_owned(), &["a", "b", "c"]),
        ("WorkloadType=eas".to_owned(), &[]),
        ("ShowOwn=True".to_owned(), &[]),
        ("Position=1".to_owned(), &["c"]),
        ("Position=2".to_owned(), &[]),
        ("SortBy=GmtCreatedTime&Order=desc".to_owned(), &["c", "b", "a"]),
        (range(created), &["a", "b", "c"]),
        (after(created), &[]),
        (range(enqueued), &["a", "b", "c"]),
        (after(enqueued), &[]),
        (range(dequeued), &["a", "b"]),
        (after(dequeued), &[]),
    ] {
        let target = format!("{path}?{query}");
        assert_eq!(found(&mut office, "ListQuotaWorkloads", &target, "Workloads", "WorkloadName"), names, "{query}");
    }
    let on = |office: &mut Office, node: &str| {
        found(office, "ListQuotaWorkloads", &format!("{path}?NodeName={node}"), "Workloads", "WorkloadName")
    };
    let all: Vec<String> = (0..16).flat_map(|at| on(&mut office, &format!("node-{at}"))).collect();
    assert_eq!(all.len(), 2, "{all:?}");
    let usages = format!("/api/v1/quotas/{quota}/activeuserusages");
    for (query, names) in [("", &["1000"][..]), ("?Username=ann", &[]), ("?SortBy=UsedGPU&Order=desc", &["1000"])] {
        let target = format!("{usages}{query}");
        assert_eq!(found(&mut office, "ListQuotaActiveUserUsages", &target, "QuotaUserUsages", "UserId"), names);
    }
}

#[test]
fn quotas_and_workspaces() {
    let mut office = Office::new();
    let make = |office: &mut Office, name: &str, nodes: i64, team: &str| {
        let min = json!({ "NodeSpecs": [{ "Type": NODE_TYPE, "Count": nodes }] });
        let labels = json!([{ "Key": "team", "Value": team }, { "Key": "all", "Value": "yes" }]);
        let body = json!({ "QuotaName": name, "ResourceType": "Lingjun", "Min": min, "Labels": labels });
        let made = id(&office.get("CreateQuota", "/api/v1/quotas", &body), "QuotaId");
        office.tick();
        made
    };
    let (large, small) = (make(&mut office, "large", 4, "A"), make(&mut office, "small", 2, "B"));
    let team = workspace(&mut office, "team_one");
    attach(&mut office, &team, &large);
    office.get("UpdateQuota", &format!("/api/v1/quotas/{large}"), &json!({ "Description": "changed" }));
    for (query, names) in [
        ("", &["large", "small"][..]),
        ("Labels=team=A", &["large"]),
        ("Labels=team=B,all=yes", &["small"]),
        ("Labels=team=A,all=no", &[]),
        ("Statuses=Ready,Creating", &["large", "small"]),
        ("Statuses=Creating", &[]),
        ("WorkspaceName=TEAM", &["large"]),
        ("WorkspaceName=none", &[]),
        ("SortBy=GPU", &["small", "large"]),
        ("SortBy=GPU&Order=desc", &["large", "small"]),
        ("SortBy=GmtCreatedTime&Order=desc", &["small", "large"]),
        ("SortBy=GmtModifiedTime", &["small", "large"]),
        ("SortBy=QuotaName&Order=desc", &["small", "large"]),
        ("LayoutMode=List", &["large", "small"]),
    ] {
        assert_eq!(
            found(&mut office, "ListQuotas", &format!("/api/v1/quotas/?{query}"), "Quotas", "QuotaName"),
            names,
            "{query}"
        );
    }
    for (query, count) in [("Labels=a=b", 0), ("QuotaIds=none", 0), (&*format!("QuotaIds={large},{small}"), 1)] {
        let told = office.get("ListResources", &format!("/api/v1/resources?{query}"), &NOTHING);
        assert_eq!(told["TotalCount"], count, "{query}");
    }
    let members = json!({ "Members": [{ "UserId": "ann", "Roles": ["PAI.AlgoDeveloper"] },
        { "UserId": "annette", "Roles": ["PAI.WorkspaceGuest"] }] });
    office.get("CreateMember", &format!("/api/v1/workspaces/{team}/members"), &members);
    for (action, target, count) in [
        ("ListWorkspaces", "/api/v1/workspaces?UserId=ann".to_owned(), 1),
        ("ListWorkspaces", "/api/v1/workspaces?UserId=bea".to_owned(), 0),
        ("ListWorkspaces", "/api/v1/workspaces?Status=enabled".to_owned(), 1),
        ("ListWorkspaces", "/api/v1/workspaces?Status=FROZEN".to_owned(), 0),
        ("ListMembers", format!("/api/v1/workspaces/{team}/members?UserId=ann"), 1),
        ("ListMembers", format!("/api/v1/workspaces/{team}/members?MemberName=ann"), 2),
        ("ListWorkspaceUsers", format!("/api/v1/workspaces/{team}/users?UserId=ann"), 1),
        ("ListWorkspaceRoles", format!("/api/v1/workspaces/{team}/roles?RoleName=PAI.AlgoDeveloper"), 1),
        (
            "ListWorkspaceRoles",
            format!("/api/v1/workspaces/{team}/roles?RoleIds=PAI.AlgoDeveloper,PAI.WorkspaceGuest"),
            2,
        ),
        ("ListWorkspaceRoles", format!("/api/v1/workspaces/{team}/roles?Status=DISABLED"), 0),
    ] {
        assert_eq!(office.get(action, &target, &NOTHING)["TotalCount"], count, "{target}");
    }
}

#[test]
fn machines() {
    let (mut office, _) = cluster();
    office.get("OperateNode", "/api/v1/nodes/node-3", &json!({ "Operation": "Cordon", "ResourceGroupId": "rg-1" }));
    let nodes = |office: &mut Office, query: &str| {
        let target = format!("/api/v1/nodes?ResourceGroupIds=rg-1&PageSize=100&{query}");
        found(office, "ListNodes", &target, "Nodes", "NodeName")
    };
    assert_eq!(nodes(&mut office, "NodeStatuses=SchedulingDisabled"), ["node-3"]);
    assert_eq!(nodes(&mut office, "NodeStatuses=ready").len(), 15);
    assert_eq!(nodes(&mut office, "ResourceGroupName=none").len(), 0);
    assert_eq!(nodes(&mut office, "SortBy=NodeName&Order=desc")[0], "node-9");
    let other = office.get("CreateResourceGroup", "/api/v1/resources", &json!({ "Name": "other" }));
    let other = id(&other, "ResourceGroupID");
    let wrong = json!({ "Operation": "Cordon", "ResourceGroupId": other });
    let told = office.refusal("OperateNode", "/api/v1/nodes/node-1", &wrong);
    assert_eq!(told, "404 NodeNotFound: there is no node node-1");
    let pods = |office: &mut Office, query: &str| {
        let targets = (0..16).map(|at| format!("/api/v1/nodes/node-{at}/Pods?{query}"));
        let told: Vec<Value> = targets.map(|target| office.get("ListNodePods", &target, &NOTHING)).collect();
        told.iter().map(|told| told["NodePodInfos"].as_array().unwrap().len()).sum::<usize>()
    };
    assert_eq!((pods(&mut office, "ResourceGroupId=rg-1&GPUIndexes=0,3"), pods(&mut office, "GPUIndexes=12")), (2, 0));
    let names = |office: &mut Office, query: &str| {
        found(office, "ListResourceGroups", &format!("/api/v1/resources?{query}"), "ResourceGroups", "Name")
    };
    assert_eq!(names(&mut office, "SortBy=Name"), ["other", "rg-1"]);
    assert_eq!(names(&mut office, "Status=Creating"), Vec::<String>::new());
}

#[test]
fn services_and_instances() {
    let mut office = Office::new();
    let quota = quota(&mut office, 2);
    for (name, team) in [("infer_a", "A"), ("infer_b", "B")] {
        let config = json!({ "metadata": { "name": name, "instance": 2, "gpu": 8, "quota_id": quota } });
        let labels = format!("/api/v2/services?Labels=%7B%22team%22%3A%22{team}%22%7D");
        office.get("CreateService", &labels, &config);
        office.tick();
    }
    for (query, names) in [
        ("Label=%7B%22team%22%3A%22A%22%7D", &["infer_a"][..]),
        ("Label=%7B%22team%22%3A%22C%22%7D", &[]),
        ("ServiceStatus=running,stopped", &["infer_a"]),
        ("ServiceStatus=Waiting", &["infer_b"]),
        ("ServiceName=infer&Filter=_b", &["infer_b"]),
        ("ServiceUid=none", &[]),
        ("Sort=CreateTime&Order=desc", &["infer_b", "infer_a"]),
    ] {
        let target = format!("/api/v2/services?{query}");
        assert_eq!(found(&mut office, "ListServices", &target, "Services", "ServiceName"), names, "{query}");
    }
    let told = office.get("DescribeService", "/api/v2/services/local/infer_a", &NOTHING);
    assert_eq!(told["Labels"], json!([{ "LabelKey": "team", "LabelValue": "A" }]));
    let path = "/api/v2/services/local/infer_a";
    for (query, count) in [
        ("instances?InstanceStatus=running", 2),
        ("instances?InstanceStatus=Pending", 0),
        ("instances?InstanceName=-1", 1),
        ("instances?IsSpot=True", 0),
        ("events?EventType=Warning", 0),
        ("events?StartTime=2100-01-01T00:00:00Z", 0),
    ] {
        let action = if query.starts_with("events") { "DescribeServiceEvent" } else { "ListServiceInstances" };
        assert_eq!(office.get(action, &format!("{path}/{query}"), &NOTHING)["TotalCount"], count, "{query}");
    }
    let page = office.get("ListServiceInstances", &format!("{path}/instances?PageSize=1&PageNumber=2"), &NOTHING);
    assert_eq!((page["TotalCount"].as_i64(), page["Instances"].as_array().unwrap().len()), (Some(2), 1));
    office.get("StopService", &format!("{path}/stop"), &NOTHING);
    office.tick();

    let tags = json!([{ "Key": "team", "Value": "A" }]);
    for (name, more) in
        [("dev_a", json!({ "Labels": tags, "Tag": tags, "Accessibility": "PUBLIC" })), ("dev_b", json!({}))]
    {
        let mut body = json!({ "InstanceName": name, "ResourceId": quota, "RequestedResource": { "CPU": "1" } });
        for (field, value) in more.as_object().unwrap() {
            body[field] = value.clone();
        }
        office.get("CreateInstance", "/api/v2/instances", &body);
        office.tick();
    }
    let one = "%5B%7B%22Key%22%3A%22team%22%2C%22Value%22%3A%22A%22%7D%5D";
    for (query, names) in [
        ("Order=asc", &["dev_a", "dev_b"][..]),
        ("Labels=%7B%22team%22%3A%22A%22%7D", &["dev_a"]),
        (&*format!("Tag={one}"), &["dev_a"]),
        ("Accessibility=PUBLIC", &["dev_a"]),
        ("CreateUserId=1000&Order=asc", &["dev_a", "dev_b"]),
        ("CreateUserId=ann", &[]),
        ("AcceleratorType=GPU", &[]),
        ("PaymentType=PayAsYouGo", &[]),
        ("OversoldInfo=ForceQuotaOverSold", &[]),
        ("OversoldType=ForbiddenQuotaOverSold&Order=asc", &["dev_a", "dev_b"]),
        ("Status=queuing,RUNNING&Order=asc", &["dev_a", "dev_b"]),
        ("Status=Stopped", &[]),
        ("CreateTimeAfter=2100-01-01T00:00:00Z", &[]),
        ("InstanceId=none", &[]),
    ] {
        let target = format!("/api/v2/instances?{query}");
        assert_eq!(found(&mut office, "ListInstances", &target, "Instances", "InstanceName"), names, "{query}");
    }
}

#[test]
fn lists_in_a_query_come_in_one_text_or_by_number() {
    let mut office = Office::new();
    let w = workspace(&mut office, "wwww");
    let path = format!("/api/v1/workspaces/{w}/members");
    let member = |name: &str, role: &str| json!({ "UserId": name, "Roles": [role] });
    let members =
        [member("ann", "PAI.AlgoOperator"), member("bob", "PAI.AlgoDeveloper"), member("eve", "PAI.WorkspaceGuest")];
    office.get("CreateMember", &path, &json!({ "Members": members }));
    let mut count = |query: &str| office.get("ListMembers", &format!("{path}?{query}"), &NOTHING)["TotalCount"].clone();
    assert_eq!(count("Roles=PAI.AlgoOperator,PAI.AlgoDeveloper"), 2);
    assert_eq!(count("Roles.1=PAI.AlgoOperator&Roles.2=PAI.AlgoDeveloper"), 2);
    assert_eq!(count("Roles.1=PAI.AlgoOperator"), 1);
    let gap = office.refusal("ListMembers", &format!("{path}?Roles.2=PAI.AlgoOperator"), &NOTHING);
    assert!(gap.starts_with("400 InvalidParameter: query.Roles is "), "{gap}");
}
