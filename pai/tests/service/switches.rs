//! Policies that are switched on without being described.

use serde_json::Value;
use serde_json::json;

use crate::office::NODE_TYPE;
use crate::office::Office;
use crate::things::id;

const NOTHING: Value = Value::Null;

/// The configuration of a quota that was made with this one.
fn made_with(office: &mut Office, config: &Value) -> (String, Value) {
    let body = json!({ "QuotaName": "q", "ResourceType": "Lingjun", "QuotaConfig": config,
        "Min": { "NodeSpecs": [{ "Type": NODE_TYPE, "Count": 1 }] } });
    let quota = id(&office.get("CreateQuota", "/api/v1/quotas", &body), "QuotaId");
    let told = told(office, &quota);
    (quota, told)
}

fn told(office: &mut Office, quota: &str) -> Value {
    office.get("GetQuota", &format!("/api/v1/quotas/{quota}"), &NOTHING)["QuotaConfig"].clone()
}

#[test]
fn a_bare_switch_means_the_example_of_the_documentation() {
    let mut office = Office::new();
    let (_, config) =
        made_with(&mut office, &json!({ "EnableSelfQuotaPreemption": true, "EnableSubQuotaPreemption": true }));
    let self_level =
        json!({ "PreemptorPriorities": [6, 7, 8, 9], "PreemptedPriorities": [4], "PreemptedProducts": ["DLC", "DSW"] });
    assert_eq!(config["SelfQuotaPreemptionConfig"], self_level);
    let child_level = json!({ "PreemptedPriorityUpperBound": 3, "PreemptedPriorities": [1, 2, 3],
        "PreemptedProducts": ["DLC", "DSW"] });
    assert_eq!(config["SubQuotaPreemptionConfig"], child_level);
}

#[test]
fn either_spelling_of_the_child_level_switch_is_on() {
    for spelling in ["EnableSubQuotaPreemption", "EnablePreemptSubquotaWorkloads"] {
        let mut office = Office::new();
        let (quota, config) = made_with(&mut office, &json!({}));
        assert_eq!(config["EnableSubQuotaPreemption"], false);
        office.get("UpdateQuota", &format!("/api/v1/quotas/{quota}"), &json!({ "QuotaConfig": { spelling: true } }));
        let config = told(&mut office, &quota);
        assert_eq!(config["SubQuotaPreemptionConfig"]["PreemptedPriorityUpperBound"], 3, "{spelling}");
        for told in ["EnableSubQuotaPreemption", "EnablePreemptSubquotaWorkloads"] {
            assert_eq!(config[told], true, "{spelling}");
        }
    }
}

#[test]
fn what_a_quota_had_goes_before_what_is_usual() {
    let mut office = Office::new();
    let policy = json!({ "PreemptedPriorityUpperBound": 2, "PreemptedProducts": ["EAS"] });
    let (quota, _) =
        made_with(&mut office, &json!({ "EnableSubQuotaPreemption": true, "SubQuotaPreemptionConfig": policy }));
    for is_on in [false, true] {
        let body = json!({ "QuotaConfig": { "EnableSubQuotaPreemption": is_on } });
        office.get("UpdateQuota", &format!("/api/v1/quotas/{quota}"), &body);
    }
    let config = told(&mut office, &quota);
    assert_eq!(config["SubQuotaPreemptionConfig"]["PreemptedPriorityUpperBound"], 2);
    assert_eq!(config["SubQuotaPreemptionConfig"]["PreemptedProducts"], json!(["EAS"]));
}
