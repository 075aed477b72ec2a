//! What is refused is refused with a status, a code and a sentence.

use engine::transition::Sender;
use engine::unit::id::UserId;
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

const NOTHING: Value = Value::Null;

#[test]
fn names_that_nothing_has() {
    let mut office = Office::new();
    for (action, target, refusal) in [
        ("GetJob", "/api/v1/jobs/dlc1", "404 JobNotFound: there is no job dlc1"),
        ("StopJob", "/api/v1/jobs/dlc1/stop", "404 JobNotFound: there is no job dlc1"),
        ("GetQuota", "/api/v1/quotas/q1", "404 QuotaNotFound: there is no quota q1"),
        ("DeleteQuota", "/api/v1/quotas/q1", "404 QuotaNotFound: there is no quota q1"),
        ("ListQuotaWorkloads", "/api/v1/quotas/q1/workloads", "404 QuotaNotFound: there is no quota q1"),
        ("GetWorkspace", "/api/v1/workspaces/12", "404 WorkspaceNotFound: there is no workspace 12"),
        ("ListMembers", "/api/v1/workspaces/12/members", "404 WorkspaceNotFound: there is no workspace 12"),
        ("GetResourceGroup", "/api/v1/resources/rg", "404 ResourceGroupNotFound: there is no resource group rg"),
        ("ListNodes", "/api/v1/nodes?ResourceGroupIds=rg", "404 ResourceGroupNotFound: there is no resource group rg"),
        ("ListNodePods", "/api/v1/nodes/n/Pods", "404 NodeNotFound: there is no node n"),
        (
            "GetSpotPriceHistory",
            "/api/v1/spots/x/pricehistory",
            "404 InstanceTypeNotFound: there is no instance type x",
        ),
        ("DescribeService", "/api/v2/services/r/s", "404 ServiceNotFound: there is no service s"),
        ("GetInstance", "/api/v2/instances/i", "404 InstanceNotFound: there is no instance i"),
        ("GetDefaultWorkspace", "/api/v1/defaultWorkspaces", "404 WorkspaceNotFound: there is no workspace by default"),
    ] {
        assert_eq!(office.refusal(action, target, &NOTHING), refusal);
    }
}

#[test]
fn resources_of_another_kind_of_machines() {
    let mut office = Office::new();
    let (q, w) = (quota(&mut office, 1), workspace(&mut office, "wwww"));
    let path = format!("/api/v1/workspaces/{w}/resources");
    let resource = json!({ "GroupName": "res", "ResourceType": "Lingjun", "Spec": { "resourceId": q } });
    office.get("CreateWorkspaceResource", &path, &json!({ "Resources": [resource] }));
    let refusal =
        |name: &str, kind: &str| format!("404 ResourceNotFound: there is no resource {name} of ResourceType {kind:?}");
    let asked = office.refusal("DeleteWorkspaceResource", &format!("{path}?GroupName=res&ResourceType=ECS"), &NOTHING);
    assert_eq!(asked, refusal("res", "ECS"));
    let changes = json!({ "GroupName": "res", "ResourceType": "Flink" });
    assert_eq!(office.refusal("UpdateWorkspaceResource", &path, &changes), refusal("res", "Flink"));
}

#[test]
fn jobs() {
    let mut office = Office::new();
    let create = |office: &mut Office, body: &Value| office.refusal("CreateJob", "/api/v1/jobs", body);
    let starts = |refusal: String, start: &str| assert!(refusal.starts_with(start), "{refusal}");
    starts(create(&mut office, &job(&json!({}))), "400 UnsupportedResource: there are no public resources here");
    starts(create(&mut office, &job(&json!({ "ResourceId": "nowhere" }))), "404 QuotaNotFound: ");
    starts(create(&mut office, &job(&json!({ "WorkspaceId": "1" }))), "400 UnsupportedResource: ");
    let (q, w) = (quota(&mut office, 1), workspace(&mut office, "wwww"));
    starts(create(&mut office, &job(&json!({ "ResourceId": q, "WorkspaceId": w }))), "409 QuotaStatusNotSupported: ");
    starts(create(&mut office, &job(&json!({ "ResourceId": q, "WorkspaceId": "1" }))), "404 WorkspaceNotFound: ");
    for (instance, spot, start) in [
        (NODE_TYPE, json!({ "SpotDiscountLimit": 0.4, "SpotPriceLimit": 0.1 }), "400 BidBothLimits: "),
        (NODE_TYPE, json!({}), "400 BidNoLimit: "),
        (NODE_TYPE, json!({ "SpotPriceLimit": 0.1 }), "400 BidPriceOnLingjun: "),
        (NODE_TYPE, json!({ "SpotDiscountLimit": 0.45 }), "400 BidDiscountStep: "),
        (NODE_TYPE, json!({ "SpotDiscountLimit": 0.455 }), "400 BidDiscountStep: "),
        (ECS_TYPE, json!({ "SpotDiscountLimit": 0.4 }), "400 BidDiscountOnGeneral: "),
        (ECS_TYPE, json!({ "SpotPriceLimit": 1 }), "400 BidPriceOutsideMarket: "),
        ("ecs.none", json!({ "SpotPriceLimit": 1 }), "404 InstanceTypeNotFound: "),
    ] {
        let mut sent = spot;
        sent["SpotStrategy"] = json!("SpotWithPriceLimit");
        starts(create(&mut office, &bid(instance, &sent)), start);
    }
    let mut two = bid(NODE_TYPE, &json!({ "SpotStrategy": "SpotAsPriceGo" }));
    let other = json!({ "EcsSpec": ECS_TYPE, "SpotSpec": { "SpotStrategy": "SpotAsPriceGo" } });
    two["JobSpecs"].as_array_mut().unwrap().push(other);
    starts(create(&mut office, &two), "400 InvalidParameter: all of JobSpecs");
    assert_eq!(office.get("ListJobs", "/api/v1/jobs", &NOTHING)["TotalCount"], 0, "nothing was half done");
}

#[test]
fn quotas() {
    let mut office = Office::new();
    let root = quota(&mut office, 16);
    let child = |nodes: i64, more: &Value| {
        let mut body = json!({ "QuotaName": "c", "ParentQuotaId": root, "ResourceType": "Lingjun",
            "Min": { "NodeSpecs": [{ "Type": NODE_TYPE, "Count": nodes }] } });
        for (field, value) in more.as_object().unwrap() {
            body[field] = value.clone();
        }
        body
    };
    let mut refusal = |body: &Value| office.refusal("CreateQuota", "/api/v1/quotas", body);
    assert!(refusal(&child(17, &json!({}))).starts_with("400 QuotaInsufficient: "));
    assert!(refusal(&child(1, &json!({ "ResourceType": "ECS" }))).starts_with("400 InvalidParameter: ResourceType"));
    let unknown = json!({ "Min": { "NodeSpecs": [{ "Type": "ml.none", "Count": 1 }] } });
    let told = refusal(&child(1, &unknown));
    assert!(told.starts_with("400 InvalidNodeType: ") && told.contains(NODE_TYPE), "{told}");
    let policy = |preemptors: i64, preempted: i64| {
        json!({ "QuotaConfig": { "EnableSelfQuotaPreemption": true, "SelfQuotaPreemptionConfig":
            { "PreemptorPriorities": [preemptors], "PreemptedPriorities": [preempted], "PreemptedProducts": ["DLC"] } } })
    };
    assert!(refusal(&child(1, &policy(4, 6))).starts_with("400 InvalidQuotaConfig: "));
    assert!(refusal(&child(1, &policy(10, 6))).starts_with("400 InvalidParameter: QuotaConfig.SelfQuota"));
    let made = id(&office.get("CreateQuota", "/api/v1/quotas", &child(2, &json!({}))), "QuotaId");
    let told = office.refusal("DeleteQuota", &format!("/api/v1/quotas/{root}"), &NOTHING);
    assert!(told.starts_with("409 QuotaStatusNotSupported: ") && told.contains(&made), "{told}");
    let team = workspace(&mut office, "team");
    attach(&mut office, &team, &made);
    let told = office.refusal("DeleteQuota", &format!("/api/v1/quotas/{made}"), &NOTHING);
    assert!(told.contains("attached") && told.contains(&team), "{told}");
}

#[test]
fn workspaces_and_members() {
    let mut office = Office::new();
    let team = workspace(&mut office, "team");
    let again = office.refusal("CreateWorkspace", "/api/v1/workspaces", &json!({ "WorkspaceName": "team" }));
    assert!(again.starts_with("409 WorkspaceNameAlreadyExists: "), "{again}");
    let members = format!("/api/v1/workspaces/{team}/members");
    office.get("CreateMember", &members, &json!({ "Members": [{ "UserId": "ann", "Roles": ["PAI.AlgoDeveloper"] }] }));
    let last = office.refusal("RemoveMemberRole", &format!("{members}/ann/roles/PAI.AlgoDeveloper"), &NOTHING);
    assert!(last.starts_with("400 InvalidParameter: ann would have no role"), "{last}");
    let two = json!({ "Members": [{ "UserId": "bea", "Roles": ["PAI.AlgoDeveloper"] },
        { "UserId": "a\nb", "Roles": ["PAI.AlgoDeveloper"] }] });
    assert!(office.refusal("CreateMember", &members, &two).starts_with("400 InvalidParameter: "));
    let told = office.get("ListMembers", &members, &NOTHING);
    assert_eq!(told["TotalCount"], 1, "all members or none of them");
    let lead = json!({ "Members": [{ "UserId": "lea", "Roles": ["PAI.WorkspaceAdmin"] }] });
    office.get("CreateMember", &members, &lead);
    office.sent_by(Sender { user: UserId::new("lea").unwrap(), administers: false });
    let above = json!({ "Members": [{ "UserId": "bea", "Roles": ["PAI.AlgoDeveloper"] },
        { "UserId": "cid", "Roles": ["PAI.WorkspaceOwner"] }] });
    assert!(office.refusal("CreateMember", &members, &above).starts_with("403 Forbidden: "));
    assert_eq!(office.get("ListMembers", &members, &NOTHING)["TotalCount"], 2, "nor half of them");
    let gone = office.refusal("DeleteMembers", &format!("{members}?MemberIds=ann,nobody"), &NOTHING);
    assert_eq!(gone, "404 MemberNotFound: there is no member nobody");
    assert_eq!(office.get("ListMembers", &members, &NOTHING)["TotalCount"], 2);
    // Who goes first may not send the second alone; both go together.
    office.get("DeleteMembers", &format!("{members}?MemberIds=lea,ann"), &NOTHING);
    office.sent_by(Sender { user: UserId::new("root").unwrap(), administers: true });
    assert_eq!(office.get("ListMembers", &members, &NOTHING)["TotalCount"], 0);
}

/// A developer of one workspace, with a job of theirs, and a job of another workspace.
fn two_teams(office: &mut Office) -> (String, String, String) {
    let (mine, other) = (workspace(office, "mine"), workspace(office, "other"));
    let shared = quota(office, 4);
    for team in [&mine, &other] {
        attach(office, team, &shared);
    }
    let members = json!({ "Members": [{ "UserId": "ann", "Roles": ["PAI.AlgoDeveloper"] }] });
    office.get("CreateMember", &format!("/api/v1/workspaces/{mine}/members"), &members);
    let theirs = job(&json!({ "WorkspaceId": other, "ResourceId": shared }));
    let theirs = id(&office.get("CreateJob", "/api/v1/jobs", &theirs), "JobId");
    office.sent_by(Sender { user: UserId::new("ann").unwrap(), administers: false });
    (other, shared, theirs)
}

#[test]
fn what_another_workspace_has_does_not_exist() {
    let mut office = Office::new();
    let (other, shared, theirs) = two_teams(&mut office);
    let gone =
        |refusal: String, noun: &str| assert!(refusal.starts_with(&format!("404 {noun}NotFound: ")), "{refusal}");
    for action in ["GetJob", "StopJob", "DeleteJob", "UpdateJob", "GetJobEvents"] {
        let end = match action {
            "StopJob" => "/stop",
            "GetJobEvents" => "/events",
            _ => "",
        };
        gone(office.refusal(action, &format!("/api/v1/jobs/{theirs}{end}"), &NOTHING), "Job");
    }
    gone(office.refusal("GetWorkspace", &format!("/api/v1/workspaces/{other}"), &NOTHING), "Workspace");
    gone(office.refusal("ListMembers", &format!("/api/v1/workspaces/{other}/members"), &NOTHING), "Workspace");
    gone(office.refusal("ListResources", &format!("/api/v1/resources?WorkspaceId={other}"), &NOTHING), "Workspace");
    let sneak = job(&json!({ "WorkspaceId": other, "ResourceId": shared }));
    gone(office.refusal("CreateJob", "/api/v1/jobs", &sneak), "Workspace");
    assert_eq!(office.get("ListJobs", "/api/v1/jobs", &NOTHING)["TotalCount"], 0);
    assert_eq!(office.get("ListWorkspaces", "/api/v1/workspaces", &NOTHING)["TotalCount"], 1);
    let path = format!("/api/v1/quotas/{shared}");
    let told = office.get("GetQuota", &path, &NOTHING);
    assert_eq!(told["Workspaces"].as_array().unwrap().len(), 1);
    assert_eq!(told["QuotaDetails"]["AllocatedQuota"]["GPU"], "8", "amounts are told");
    assert_eq!(office.get("ListQuotaWorkloads", &format!("{path}/workloads"), &NOTHING)["TotalCount"], 0);
    assert_eq!(office.get("ListQuotaActiveUserUsages", &format!("{path}/activeuserusages"), &NOTHING)["TotalCount"], 0);
    let pods: Vec<Value> = (0..16)
        .map(|at| office.get("ListNodePods", &format!("/api/v1/nodes/node-{at}/Pods"), &NOTHING))
        .flat_map(|told| told["NodePodInfos"].as_array().unwrap().clone())
        .collect();
    assert_eq!((pods.len(), &pods[0]["WorkloadId"], &pods[0]["PodName"]), (1, &NOTHING, &NOTHING));
}

#[test]
fn what_a_role_does_not_allow_is_forbidden() {
    let mut office = Office::new();
    let (_, shared, _) = two_teams(&mut office);
    let path = format!("/api/v1/quotas/{shared}");
    let min = json!({ "NodeSpecs": [{ "Type": NODE_TYPE, "Count": 1 }] });
    for (action, target, body) in [
        ("DeleteQuota", path.clone(), NOTHING),
        ("ScaleQuota", format!("{path}/action/scale"), json!({ "Min": min })),
        ("UpdateQuota", path.clone(), json!({ "QueueStrategy": "PaiStrategyStrictFIFO" })),
        (
            "CreateQuota",
            "/api/v1/quotas".to_owned(),
            json!({ "QuotaName": "q", "ResourceType": "Lingjun", "Min": min }),
        ),
        ("CreateWorkspace", "/api/v1/workspaces".to_owned(), json!({ "WorkspaceName": "mine_too" })),
        ("CreateResourceGroup", "/api/v1/resources".to_owned(), json!({ "Name": "g" })),
        ("UpdateResourceGroup", "/api/v1/resources/rg-1".to_owned(), json!({ "Name": "g" })),
        ("OperateNode", "/api/v1/nodes/node-1".to_owned(), json!({ "Operation": "Cordon" })),
    ] {
        let refusal = office.refusal(action, &target, &body);
        assert!(refusal.starts_with("403 Forbidden: "), "{action}: {refusal}");
    }
    let mine = office.get("ListWorkspaces", "/api/v1/workspaces", &NOTHING);
    let mine = id(&mine["Workspaces"][0], "WorkspaceId");
    let raise = office.refusal(
        "AddMemberRole",
        &format!("/api/v1/workspaces/{mine}/members/ann/roles/PAI.WorkspaceOwner"),
        &NOTHING,
    );
    assert!(raise.starts_with("403 Forbidden: "), "{raise}");
    let set = office.refusal("UpdateDefaultWorkspace", "/api/v1/defaultWorkspaces", &json!({ "WorkspaceId": mine }));
    assert!(set.starts_with("403 Forbidden: "), "{set}");
}
