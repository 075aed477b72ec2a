//! Requests that cannot be read are refused with the field, its value and what it could be.

use pai::operation::read;
use pai::problem::Problem;
use pai::request::Request;

/// The refusal of a request: status, code and sentence.
fn refusal(version: &str, action: &str, method: &str, target: &str, body: &str) -> String {
    let headers = [("x-acs-version", version), ("x-acs-action", action)]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect::<Vec<_>>();
    let request = Request { method, target, headers: &headers, body: body.as_bytes() };
    let Problem { status, code, message, wait: _ } = read(&request).unwrap_err().into();
    format!("{status} {code}: {message}")
}

fn job(body: &str) -> String {
    refusal("2020-12-03", "CreateJob", "POST", "/api/v1/jobs", body)
}

fn job_with(field: &str, value: &str) -> String {
    let mut body = serde_json::json!({
        "DisplayName": "j", "JobType": "PyTorchJob", "UserCommand": "true",
        "JobSpecs": [{ "ResourceConfig": { "GPU": "1" } }],
    });
    let value: serde_json::Value = serde_json::from_str(value).unwrap();
    let mut at = &mut body;
    for part in field.split('.') {
        at = match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[part],
        };
    }
    *at = value;
    job(&body.to_string())
}

#[test]
fn routing() {
    let list = |version, action, method, target| refusal(version, action, method, target, "");
    assert_eq!(list("", "ListJobs", "GET", "/api/v1/jobs"), "400 MissingParameter: x-acs-version is missing");
    assert_eq!(list("2020-12-03", "", "GET", "/api/v1/jobs"), "400 MissingParameter: x-acs-action is missing");
    assert_eq!(
        list("2020-12-04", "ListJobs", "GET", "/api/v1/jobs"),
        "400 InvalidVersion: no product here has the version \"2020-12-04\""
    );
    assert_eq!(
        list("2020-12-03", "ListQuotas", "GET", "/api/v1/quotas/"),
        "404 InvalidAction.NotFound: version 2020-12-03 has no operation \"ListQuotas\""
    );
    assert_eq!(
        list("2020-12-03", "GetJobMetrics", "GET", "/api/v1/jobs/j/metrics"),
        "400 UnsupportedOperation: GetJobMetrics is not served here: the scheduler does not see what runs inside of \
         pods; those who run them do"
    );
}

#[test]
fn path_and_method_are_those_of_the_action() {
    let list = |method, target| refusal("2022-01-12", "ListQuotas", method, target, "");
    let expected = "404 InvalidPath: ListQuotas is sent as GET /api/v1/quotas/";
    for (method, target) in [("POST", "/api/v1/quotas/"), ("GET", "/api/v1/quotas"), ("GET", "/api/v1/quotas/q")] {
        assert_eq!(list(method, target), expected, "{method} {target}");
    }
    let get = |target| refusal("2020-12-03", "GetJob", "GET", target, "");
    for target in ["/api/v1/jobs/", "/api/v1/jobs/j/", "/api/v1/jobs/%FF", "/api/v1/jobs/%2", "/api/v1/job/j"] {
        assert_eq!(get(target), "404 InvalidPath: GetJob is sent as GET /api/v1/jobs/{JobId}", "{target}");
    }
}

#[test]
fn bodies() {
    assert!(job("{").starts_with("400 InvalidBody: the body must be a JSON object: EOF"));
    assert_eq!(job("[]"), "400 InvalidBody: the body must be a JSON object: it is not an object");
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(40), "]".repeat(40));
    assert_eq!(job(&deep), "400 InvalidBody: the body must be a JSON object: it is nested deeper than 32 levels");
    assert!(job(&format!(r#"{{"a":{}"#, "[".repeat(100_000))).contains("recursion limit"));
}

#[test]
fn what_is_missing() {
    assert_eq!(job("{}"), "400 MissingParameter: JobSpecs is missing");
    assert_eq!(job_with("JobSpecs", "[]"), "400 MissingParameter: JobSpecs is missing");
    assert_eq!(job_with("UserCommand", "null"), "400 MissingParameter: UserCommand is missing");
    assert_eq!(job_with("DisplayName", "\"\""), "400 MissingParameter: DisplayName is missing");
    assert_eq!(job_with("JobSpecs.0", "{}"), "400 MissingParameter: JobSpecs[0].ResourceConfig is missing");
    assert_eq!(
        job_with("JobSpecs.0.SpotSpec", "{}"),
        "400 MissingParameter: JobSpecs[0].SpotSpec.SpotStrategy is missing"
    );
}

#[test]
fn what_is_wrong() {
    let invalid = |field, value, rest: &str| {
        assert_eq!(job_with(field, value), format!("400 InvalidParameter: {rest}"));
    };
    invalid("Priority", "10", "Priority is 10; it must be a whole number from 1 to 9");
    invalid("Priority", "1.5", "Priority is 1.5; it must be a whole number from 1 to 9");
    invalid("JobSpecs.0.PodCount", "0", "JobSpecs[0].PodCount is 0; it must be a whole number from 1 to 10000");
    invalid(
        "JobSpecs.0.ResourceConfig.GPU",
        "\"-1\"",
        "JobSpecs[0].ResourceConfig.GPU is \"-1\"; it must be a number of GPUs such as \"8\" or \"0.5\"",
    );
    invalid("JobSpecs.0.ResourceConfig.GPU", "8", "JobSpecs[0].ResourceConfig.GPU is 8; it must be a text");
    invalid(
        "Settings",
        r#"{"OversoldType":"Sometimes"}"#,
        "Settings.OversoldType is \"Sometimes\"; it must be one of ForbiddenQuotaOverSold, AcceptQuotaOverSold, \
         ForceQuotaOverSold",
    );
    invalid(
        "Settings",
        r#"{"EnableErrorMonitoringInAIMaster":true,"ErrorMonitoringArgs":"--max-num-of-job-restart"}"#,
        "Settings.ErrorMonitoringArgs is \"--max-num-of-job-restart\"; it must be a command line in which \
         --max-num-of-job-restart is a whole number",
    );
    invalid(
        "JobSpecs.0.SpotSpec",
        r#"{"SpotStrategy":"SpotWithPriceLimit","SpotDiscountLimit":0.4444}"#,
        "JobSpecs[0].SpotSpec.SpotDiscountLimit is 0.4444; it must be a number with at most 3 digits after the point",
    );
    invalid("Settings", "[1]", "Settings is [1]; it must be an object");
    assert!(job_with("JobType", "\"pytorchjob\"").contains("JobType is \"pytorchjob\"; it must be one of TFJob"));
}

#[test]
fn an_empty_list_is_as_good_as_nothing() {
    let body = r#"{"DisplayName":"j","JobType":"PyTorchJob","UserCommand":"true","Settings":[],"UserVpc":[],"Priority":10,
        "JobSpecs":[{"ResourceConfig":{"GPU":"1"},"SpotSpec":[]}]}"#;
    assert!(job(body).contains("Priority is 10"), "{}", job(body));
}

#[test]
fn roles_that_contradict_the_job() {
    let specs = r#"[{"QuotaId":"q1","ResourceConfig":{}},{"QuotaId":"q2","ResourceConfig":{}}]"#;
    assert_eq!(
        job_with("JobSpecs", specs),
        "400 InvalidParameter: JobSpecs[1].QuotaId is \"q2\"; it must be \"q1\", like that of the whole job"
    );
}

#[test]
fn parameters_of_the_query() {
    let list = |query: &str| refusal("2020-12-03", "ListJobs", "GET", &format!("/api/v1/jobs?{query}"), "");
    let invalid = |query, rest: &str| assert_eq!(list(query), format!("400 InvalidParameter: {rest}"));
    invalid("PageSize=0", "query.PageSize is \"0\"; it must be a whole number from 1 to 100");
    invalid("ShowOwn=yes", "query.ShowOwn is \"yes\"; it must be true or false");
    invalid("Order=up", "query.Order is \"up\"; it must be one of asc, desc");
    invalid("StartTime=today", "query.StartTime is \"today\"; it must be UTC like 2026-01-02T03:04:05Z");
    invalid("Status=a&Status=b", "Status was sent more than once; send it once");
    invalid("Status=%FF", "the query is not UTF-8 with escapes of % and two hexadecimal digits");
}

#[test]
fn quotas_and_members() {
    let quota = |body: &str| refusal("2022-01-12", "CreateQuota", "POST", "/api/v1/quotas", body);
    assert_eq!(quota(r#"{"QuotaName":"q"}"#), "400 MissingParameter: Min is missing");
    assert_eq!(quota(r#"{"QuotaName":"q","Min":{"NodeSpecs":[]}}"#), "400 MissingParameter: Min.NodeSpecs is missing");
    let with = |config: &str| {
        quota(&format!(
            r#"{{"QuotaName":"q","Min":{{"NodeSpecs":[{{"Type":"t","Count":1}}]}},"QuotaConfig":{config}}}"#
        ))
    };
    assert_eq!(
        with(r#"{"SelfQuotaPreemptionConfig":{"PreemptorPriorities":[10]}}"#),
        "400 InvalidParameter: QuotaConfig.SelfQuotaPreemptionConfig.PreemptorPriorities is [10]; it must be a list of \
         whole numbers from 1 to 9"
    );
    assert_eq!(
        with(r#"{"SubQuotaPreemptionConfig":{"PreemptedPriorityUpperBound":3,"PreemptedProducts":["PAI-DLC","DSX"]}}"#),
        "400 InvalidParameter: QuotaConfig.SubQuotaPreemptionConfig.PreemptedProducts is \"DSX\"; it must be DLC, DSW \
         or EAS"
    );
    let member = |target: &str| refusal("2021-02-04", "GetMember", "GET", target, "");
    assert_eq!(member("/api/v1/workspaces/w/member"), "400 MissingParameter: query.UserId is missing");
    assert!(member("/api/v1/workspaces/w/member?UserId=u&MemberId=m").contains("left out where UserId is sent"));
    let create = |body: &str| refusal("2021-02-04", "CreateMember", "POST", "/api/v1/workspaces/w/members", body);
    assert!(create(r#"{"Members":[{"UserId":"u","Roles":["PAI.LabelManager"]}]}"#).starts_with(
        "400 InvalidParameter: Members[0].Roles is \"PAI.LabelManager\"; it must be one of PAI.Workspace"
    ));
    let workspace = |name: &str| {
        let body = format!(r#"{{"WorkspaceName":"{name}"}}"#);
        refusal("2021-02-04", "CreateWorkspace", "POST", "/api/v1/workspaces", &body)
    };
    for name in ["ab", "1abc", "a-b-c", "abcdefghijklmnopqrstuvwx"] {
        assert!(workspace(name).contains("3 to 23 letters, digits and underscores"), "{name}");
    }
}

#[test]
fn an_operation_that_exists_elsewhere_is_said_to_be_not_served() {
    for (version, action) in [
        ("2020-12-03", "ListRayHistoryServers"),
        ("2021-02-04", "CreateDataset"),
        ("2022-01-12", "CreateAlgorithm"),
        ("2021-07-01", "CreateGateway"),
        ("2022-01-01", "ListInstanceSnapshot"),
    ] {
        let told = refusal(version, action, "POST", "/api/v1/x", "");
        assert!(told.starts_with(&format!("400 UnsupportedOperation: {action} is not served here: ")), "{told}");
    }
}
