//! Jobs that are evicted and come back, or do not: what is told of them follows from the engine's decisions.

use engine::transition::Sender;
use engine::unit::id::UserId;
use serde_json::Value;
use serde_json::json;

use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::attach;
use crate::things::bid;
use crate::things::id;
use crate::things::job;
use crate::things::quota;
use crate::things::workspace;

const NOTHING: Value = Value::Null;

fn create(office: &mut Office, body: &Value) -> String {
    id(&office.get("CreateJob", "/api/v1/jobs", body), "JobId")
}

fn get(office: &mut Office, job: &str) -> Value {
    office.get("GetJob", &format!("/api/v1/jobs/{job}"), &NOTHING)
}

/// Status, sub-status and the reason's code.
fn brief(office: &mut Office, job: &str) -> [String; 3] {
    let told = get(office, job);
    ["Status", "SubStatus", "ReasonCode"].map(|field| id(&told, field))
}

/// One field of each thing in a list.
fn each(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| id(one, field)).collect()
}

/// A quota of one machine in which priority 6 to 9 takes from priority 4.
fn contested(office: &mut Office, team: &str) -> String {
    let quota = quota(office, 1);
    attach(office, team, &quota);
    let config = json!({ "QuotaConfig": { "EnableSelfQuotaPreemption": true, "SelfQuotaPreemptionConfig":
        { "PreemptorPriorities": [6, 7, 8, 9], "PreemptedPriorities": [4], "PreemptedProducts": ["DLC"] } } });
    office.get("UpdateQuota", &format!("/api/v1/quotas/{quota}"), &config);
    quota
}

#[test]
fn a_job_is_preempted_waits_and_runs_again() {
    let mut office = Office::new();
    let team = workspace(&mut office, "team");
    let quota = contested(&mut office, &team);
    let of = |priority: i64| job(&json!({ "WorkspaceId": team, "ResourceId": quota, "Priority": priority }));
    let low = create(&mut office, &of(4));
    assert_eq!(brief(&mut office, &low), ["Running", "", ""]);

    let high = create(&mut office, &of(9));
    assert_eq!(brief(&mut office, &low), ["Restarting", "Restarting", "PreemptedBySelfLevel"]);
    assert_eq!(brief(&mut office, &high), ["EnvPreparing", "", ""]);
    let told = get(&mut office, &low);
    let sentence = id(&told, "ReasonMessage");
    assert!(sentence.contains(&high) && sentence.contains(&quota), "{sentence}");
    assert_eq!(each(&told["Pods"], "SubStatus"), ["Evicted"]);
    assert_eq!(told["RestartTimes"], "1/0");
    assert_eq!(each(&told["RestartRecord"], "RestartStatus"), ["Restarting"]);

    office.tick();
    assert_eq!(brief(&mut office, &high), ["Running", "", ""]);
    assert_eq!(brief(&mut office, &low), ["Queuing", "Restarting", "Backoff"]);
    office.tick();
    assert_eq!(brief(&mut office, &low)[..2], ["Queuing", "Restarting"]);
    let told = get(&mut office, &low);
    assert_ne!(told["ReasonCode"], "Backoff", "it is judged again: {told}");
    assert_eq!(each(&told["Pods"][0]["HistoryPods"], "SubStatus"), ["Evicted"]);
    assert_eq!(told["Pods"][0]["Status"], "Pending");

    office.get("StopJob", &format!("/api/v1/jobs/{high}/stop"), &NOTHING);
    for _ in 0..2 {
        office.tick();
    }
    assert_eq!(brief(&mut office, &high), ["Stopped", "", "JobStoppedByUser"]);
    assert_eq!(brief(&mut office, &low), ["Running", "", ""]);
    let told = get(&mut office, &low);
    let history = &told["StatusHistory"];
    assert_eq!(each(history, "Status"), ["Queuing", "Running", "Restarting", "Queuing", "Running"]);
    assert_eq!(each(history, "ReasonCode")[2], "PreemptedBySelfLevel");
    let record = &told["RestartRecord"][0];
    assert_eq!((&record["JobRestartCount"], &record["RestartStatus"]), (&json!(1), &json!("Succeeded")));
    assert_eq!(record["OccurTime"], history[2]["StartTime"]);
    assert_eq!(record["Reason"], sentence.as_str());
    assert!(record["RestartDurationInSec"].as_i64().unwrap() >= 60, "{record}");
    assert_eq!(each(&told["Pods"], "Status"), ["Running"]);
    assert_eq!(each(&told["Pods"][0]["HistoryPods"], "Status"), ["Failed"]);
    let events = office.get("GetJobEvents", &format!("/api/v1/jobs/{low}/events"), &NOTHING);
    let told_then = |line: &&Value| line.as_str().unwrap().contains(&sentence);
    assert_eq!(events["Events"].as_array().unwrap().iter().filter(told_then).count(), 1, "{events}");
}

#[test]
fn a_borrower_without_fault_tolerance_fails_when_what_it_borrows_is_taken_back() {
    let mut office = Office::new();
    let team = workspace(&mut office, "team");
    let (lender, own) = (quota(&mut office, 1), quota(&mut office, 1));
    for quota in [&lender, &own] {
        attach(&mut office, &team, quota);
    }
    let idle = json!({ "WorkspaceId": team, "ResourceId": own, "Settings": { "OversoldType": "ForceQuotaOverSold" } });
    let borrowers = [create(&mut office, &job(&idle)), create(&mut office, &job(&idle))];
    for borrower in &borrowers {
        assert_eq!(brief(&mut office, borrower), ["Running", "", ""]);
    }
    let owner = create(&mut office, &job(&json!({ "WorkspaceId": team, "ResourceId": lender })));
    let statuses = borrowers.each_ref().map(|borrower| brief(&mut office, borrower)[0].clone());
    let taken = &borrowers[statuses.iter().position(|status| status == "Stopping").unwrap()];
    assert_eq!(brief(&mut office, taken), ["Stopping", "", "PreemptedReclaimed"], "it does not come back");
    assert_eq!(get(&mut office, taken)["RestartTimes"], "0/0");
    assert!(statuses.contains(&"Running".to_owned()), "{statuses:?}");
    office.tick();
    assert_eq!(brief(&mut office, taken), ["Failed", "", "PreemptedReclaimed"]);
    assert_eq!(brief(&mut office, &owner), ["Running", "", ""]);
    let told = get(&mut office, taken);
    assert_eq!(told["RestartTimes"], "0/0");
    for (query, count) in [("AcceptQuotaOverSold-true", 0), ("ForceQuotaOverSold", 2)] {
        let list = office.get("ListJobs", &format!("/api/v1/jobs?OversoldInfo={query}"), &NOTHING);
        assert_eq!(list["TotalCount"], count);
    }
    let list = office.get("ListJobs", &format!("/api/v1/jobs?JobId={taken}"), &NOTHING);
    assert_eq!(list["Jobs"][0]["UseOversoldResource"], true, "it ran on idle amounts");
    assert_eq!((&told["Pods"][0]["Status"], &told["Pods"][0]["SubStatus"]), (&json!("Failed"), &json!("Evicted")));
    assert!(told["GmtFailedTime"].is_string() && told["RestartRecord"] == json!([]), "{told}");
}

#[test]
fn a_bid_is_released_bids_again_and_wins_again() {
    let mut office = Office::new();
    let team = workspace(&mut office, "team");
    let mut body = bid(NODE_TYPE, &json!({ "SpotStrategy": "SpotWithPriceLimit", "SpotDiscountLimit": 0.4 }));
    body["WorkspaceId"] = json!(team);
    body["Settings"] = json!({ "EnableErrorMonitoringInAIMaster": true,
        "ErrorMonitoringArgs": "--enable-job-restart=True --max-num-of-job-restart=2" });
    let job = create(&mut office, &body);
    office.tick();
    assert_eq!(brief(&mut office, &job), ["Running", "", ""]);
    let price = |office: &mut Office, price: i64| {
        office.command(json!({ "publish_price": { "offer": NODE_TYPE, "price": price } }));
    };
    // Above the bid for long enough that the average is, and the protection is over.
    price(&mut office, 900_000);
    let mut seen = vec!["Running".to_owned()];
    for minute in 0..400 {
        if minute == 200 {
            price(&mut office, 100_000);
        }
        office.tick();
        let status = id(&get(&mut office, &job), "Status");
        if seen.last() != Some(&status) {
            seen.push(status);
        }
    }
    assert_eq!(seen, ["Running", "Restarting", "Bidding", "Running"]);
    let told = get(&mut office, &job);
    assert_eq!(each(&told["StatusHistory"], "Status"), ["Bidding", "Running", "Restarting", "Bidding", "Running"]);
    assert_eq!(each(&told["StatusHistory"], "ReasonCode")[2], "ReleasedBelowAverage");
    assert_eq!(told["RestartTimes"], "1/2");
    assert_eq!(each(&told["RestartRecord"], "RestartStatus"), ["Succeeded"]);
}

#[test]
fn who_took_the_place_has_no_name_for_members_of_another_workspace() {
    let mut office = Office::new();
    let (mine, other) = (workspace(&mut office, "mine"), workspace(&mut office, "other"));
    let quota = contested(&mut office, &mine);
    attach(&mut office, &other, &quota);
    let members = json!({ "Members": [{ "UserId": "ann", "Roles": ["PAI.AlgoDeveloper"] }] });
    office.get("CreateMember", &format!("/api/v1/workspaces/{mine}/members"), &members);
    let of = |team: &str, priority: i64| {
        job(&json!({ "WorkspaceId": team, "ResourceId": quota, "Priority": priority, "DisplayName": "secret" }))
    };
    let low = create(&mut office, &of(&mine, 4));
    let high = create(&mut office, &of(&other, 9));
    office.sent_by(Sender { user: UserId::new("ann").unwrap(), administers: false });
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(get(&mut office, &low));
        told.push(office.get("GetJobEvents", &format!("/api/v1/jobs/{low}/events"), &NOTHING));
        told.push(office.get("ListQuotaWorkloads", &format!("/api/v1/quotas/{quota}/workloads"), &NOTHING));
        office.tick();
    }
    assert!(id(&told[0], "ReasonMessage").contains("another workspace's job"), "{}", told[0]);
    for one in told {
        assert!(!one.to_string().contains(&high), "{high} in {one}");
    }
}

#[test]
fn the_eviction_that_ends_a_job_is_no_restart() {
    let mut office = Office::new();
    let (lender, own) = (quota(&mut office, 1), quota(&mut office, 1));
    let idle = json!({ "ResourceId": own, "Settings": { "OversoldType": "ForceQuotaOverSold",
        "EnableErrorMonitoringInAIMaster": true, "ErrorMonitoringArgs": "--max-num-of-job-restart=1" } });
    // It borrows what both leave idle in turn, and each takes it back.
    let borrower = create(&mut office, &job(&idle));
    let mut seen = Vec::new();
    let mut owners: Vec<String> = Vec::new();
    for _ in 0..40 {
        let told = get(&mut office, &borrower);
        let now = ["Status", "SubStatus", "RestartTimes"].map(|field| id(&told, field));
        if seen.last() != Some(&now) {
            seen.push(now);
        }
        match (id(&told, "Status").as_str(), owners.len()) {
            ("Running", 0 | 2) => {
                for quota in [&lender, &own] {
                    owners.push(create(&mut office, &job(&json!({ "ResourceId": quota }))));
                }
            }
            ("Queuing", 2) => {
                for owner in &owners {
                    office.get("StopJob", &format!("/api/v1/jobs/{owner}/stop"), &NOTHING);
                }
            }
            _ => {}
        }
        office.tick();
    }
    // A look each minute does not see the grace periods.
    let expected =
        [["Running", "", "0/1"], ["Queuing", "Restarting", "1/1"], ["Running", "", "1/1"], ["Failed", "", "1/1"]];
    seen.retain(|now| now[0] != "Restarting" && now[0] != "Stopping");
    assert_eq!(seen, expected.map(|now| now.map(str::to_owned)));
}
