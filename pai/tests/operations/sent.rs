//! Every field that an SDK can send is served or refused by its name, and nothing is ignored.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use pai::operation::Operation;
use pai::operation::instance::InstanceOperation;
use pai::operation::job::JobOperation;
use pai::operation::misfit::Misfit;
use pai::operation::quota::QuotaOperation;
use pai::operation::read;
use pai::operation::resource::ResourceOperation;
use pai::operation::row::Row;
use pai::operation::sent::Field;
use pai::operation::sent::Sent;
use pai::operation::sent::Use;
use pai::operation::service::ServiceOperation;
use pai::operation::table::ROWS;
use pai::operation::training::TrainingOperation;
use pai::operation::workspace::WorkspaceOperation;
use pai::request::Request;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::fields;
use crate::fields::Record;
use crate::recorded::version;

/// Fields that no SDK has, but that answers tell beside its own, so that what was told can be sent.
const OWN: [&str; 1] = ["QuotaConfig.SubQuotaPreemptionConfig.PreemptedPriorities"];
/// What fields that are texts may have to say to be understood.
const TEXTS: [&str; 39] = [
    "TrainingJobName",
    "x",
    "2026-01-02T03:04:05Z",
    "7",
    "64Gi",
    "asc",
    "desc",
    "Running",
    "Enqueued",
    "Ready",
    "ECS",
    "Lingjun",
    "GPU",
    "MPIJob",
    "DisplayName",
    "QuotaName",
    "GmtCreatedTime",
    "GmtFinishTime",
    "Priority",
    "WorkloadCount",
    "NodeName",
    "Name",
    "CreateTime",
    "ForceQuotaOverSold",
    "PrePaid",
    "PayAsYouGo",
    "PaiStrategyStrictFIFO",
    "dlc",
    "DLC",
    "PAI.AlgoOperator",
    "SpotAsPriceGo",
    "replace",
    "Uncordon",
    "{\"k\":\"v\"}",
    "k=v",
    "true",
    "other_name",
    "--max-num-of-job-restart 7",
    "Memory",
];

/// Where a field stands: which operation, in its query or its body, and the objects around it.
struct Place<'a> {
    row: &'a Row,
    part: &'static str,
    path: Vec<String>,
}

impl Place<'_> {
    /// As refusals name it; the first of a list has its number.
    fn named(&self) -> String {
        self.path.join(".")
    }

    /// As the documentation names it.
    fn written(&self) -> String {
        self.named().replace("[0]", "")
    }
}

/// Calls this with each field of each table, and its type on record where it is served further in.
fn each_field(record: &Record, mut call: impl FnMut(&Place, &Field, &str)) {
    fn walk(
        record: &Record,
        place: &mut Place,
        table: &[Field],
        on_record: &[fields::Field],
        call: &mut impl FnMut(&Place, &Field, &str),
    ) {
        let known: BTreeSet<&str> = on_record.iter().map(|(name, _)| name.as_str()).collect();
        let listed: BTreeSet<&str> = table.iter().map(|field| field.name).collect();
        let action = place.row.action;
        assert_eq!(listed.len(), table.len(), "{action} has a field twice: {listed:?}");
        let missing: Vec<&&str> = known.difference(&listed).collect();
        assert!(missing.is_empty(), "{action} has no word on {missing:?} in {:?}", place.named());
        for field in table {
            let of = on_record.iter().find(|(name, _)| name == field.name).map(|(_, of)| of.as_str());
            let is_list = of.is_some_and(|of| of.ends_with("[]")) && matches!(field.becomes, Use::Inside(_));
            place.path.push(if is_list { format!("{}[0]", field.name) } else { field.name.to_owned() });
            let Some(of) = of.or_else(|| OWN.contains(&place.written().as_str()).then_some("int[]")) else {
                panic!("no SDK has {} of {action}", place.written());
            };
            call(place, field, of);
            if let Use::Inside(inner) = field.becomes {
                let version = version(place.row.product);
                let on_record = record.object(version, of).unwrap_or_else(|| panic!("{of} of {}", place.named()));
                walk(record, place, inner, on_record, call);
            }
            place.path.pop();
        }
    }
    for row in &ROWS {
        for (part, sent) in [("query", row.query), ("body", row.body)] {
            let key = [version(row.product), row.action, part].map(str::to_owned);
            let on_record = record.sent.get(&key).map(Vec::as_slice).unwrap_or_default();
            match sent {
                Sent::Fields(table) => {
                    let mut place = Place { row, part, path: Vec::new() };
                    walk(record, &mut place, table, on_record, &mut call);
                }
                Sent::Description => assert!(on_record.is_empty(), "{} {part}", row.action),
            }
        }
    }
}

/// What an operation cannot do without, in its query and its body.
fn needed(action: &str) -> (Value, Value) {
    let min = json!({ "NodeSpecs": [{ "Type": "t", "Count": 1 }] });
    let none = || json!({});
    match action {
        "CreateJob" => (
            none(),
            json!({ "DisplayName": "j", "JobType": "PyTorchJob", "UserCommand": "true",
                "Settings": { "EnableErrorMonitoringInAIMaster": true },
                "JobSpecs": [{ "ResourceConfig": { "GPU": "1" } }] }),
        ),
        "CreateTrainingJob" => (
            none(),
            json!({ "TrainingJobName": "j", "AlgorithmSpec": { "Command": ["true"], "Image": "i" },
                "Settings": { "EnableErrorMonitoringInAIMaster": true },
                "ComputeResource": { "InstanceSpec": { "GPU": "1" } } }),
        ),
        "CreateQuota" => (none(), json!({ "QuotaName": "q", "Min": min })),
        "ListJobs" => (json!({ "WorkspaceId": "w" }), none()),
        "ScaleQuota" => (none(), json!({ "Min": min })),
        "CreateResourceGroup" => (none(), json!({ "Name": "g" })),
        "OperateNode" => (none(), json!({ "Operation": "Cordon" })),
        "CreateWorkspace" => (none(), json!({ "WorkspaceName": "team" })),
        "CreateMember" => (none(), json!({ "Members": [{ "UserId": "u", "Roles": ["PAI.AlgoDeveloper"] }] })),
        "CreateWorkspaceResource" => (none(), json!({ "Resources": [{ "Spec": { "resourceId": "q" } }] })),
        "UpdateWorkspaceResource" => (none(), json!({ "GroupName": "g", "ResourceIds": ["r"] })),
        "UpdateDefaultWorkspace" => (none(), json!({ "WorkspaceId": "w" })),
        "CreateInstance" => (none(), json!({ "InstanceName": "i", "RequestedResource": { "GPU": "1" } })),
        "CreateService" => (none(), json!({ "metadata": { "name": "s" } })),
        "ListNodes" | "ListNodeTypes" => (json!({ "QuotaId": "q", "ResourceGroupIds": "g" }), none()),
        "GetResourceGroupTotal" | "GetResourceGroupRequest" => (json!({ "ResourceGroupID": "g" }), none()),
        "GetMember" => (json!({ "UserId": "u" }), none()),
        "DeleteMembers" => (json!({ "MemberIds": "m" }), none()),
        "DeleteWorkspaceResource" => (json!({ "GroupName": "g", "ResourceIds": "r" }), none()),
        _ => (none(), none()),
    }
}

/// A request of an operation with what it needs, and this at a place.
fn asked(place: &Place, value: Option<&Value>) -> Result<Operation, Misfit> {
    let row = place.row;
    let (mut query, mut body) = needed(row.action);
    if let Some(value) = value {
        let mut at = if place.part == "query" { &mut query } else { &mut body };
        for part in &place.path {
            at = match part.strip_suffix("[0]") {
                // An object that nothing else needs begins here.
                Some(name) if !at[name].is_array() => {
                    at[name] = json!([{}]);
                    &mut at[name][0]
                }
                Some(name) => &mut at[name][0],
                None => &mut at[part.as_str()],
            };
        }
        *at = value.clone();
    }
    fit(place, value.is_some(), &mut query, &mut body);
    request(row, &query, &body)
}

/// Leaves out the other of two ways to say the same, and adds what a field does not go without.
fn fit(place: &Place, is_set: bool, query: &mut Value, body: &mut Value) {
    let path: Vec<&str> = place.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["MemberId"] if is_set => query["UserId"] = Value::Null,
        ["EcsSpec"] if is_set => body["RequestedResource"] = Value::Null,
        ["JobSpecs[0]", "EcsSpec"] if is_set => body["JobSpecs"][0]["ResourceConfig"] = Value::Null,
        ["JobSpecs[0]", "UseSpotInstance"] | ["JobSpecs[0]", "SpotSpec", ..] => {
            let spec = &mut body["JobSpecs"][0];
            spec["ResourceConfig"] = Value::Null;
            spec["EcsSpec"] = json!("t");
            if spec["SpotSpec"]["SpotStrategy"].is_null() {
                spec["SpotSpec"]["SpotStrategy"] = json!("SpotWithPriceLimit");
            }
        }
        ["ComputeResource", "EcsSpec"] if is_set => body["ComputeResource"]["InstanceSpec"] = Value::Null,
        ["ComputeResource", "UseSpotInstance"] | ["ComputeResource", "SpotSpec", ..] => {
            let resource = &mut body["ComputeResource"];
            resource["InstanceSpec"] = Value::Null;
            resource["EcsSpec"] = json!("t");
            if resource["SpotSpec"]["SpotStrategy"].is_null() {
                resource["SpotSpec"]["SpotStrategy"] = json!("SpotWithPriceLimit");
            }
        }
        ["AssignNodeSpec", "EnableAssignNode"] => body["AssignNodeSpec"]["NodeNames"] = json!("n"),
        ["JobSpecs[0]", "AssignNodeSpec", "EnableAssignNode"] => {
            body["JobSpecs"][0]["AssignNodeSpec"]["NodeNames"] = json!("n");
        }
        ["QuotaConfig", "SubQuotaPreemptionConfig", "PreemptedPriorityUpperBound" | "PreemptedPriorities"] => {}
        ["QuotaConfig", "SubQuotaPreemptionConfig", ..] => {
            body["QuotaConfig"]["SubQuotaPreemptionConfig"]["PreemptedPriorityUpperBound"] = json!(9);
        }
        _ => {}
    }
}

fn request(row: &Row, query: &Value, body: &Value) -> Result<Operation, Misfit> {
    let parts = row.path.split('/').map(|part| match part {
        "{RoleName}" => "PAI.AlgoDeveloper",
        part if part.starts_with('{') => "x",
        part => part,
    });
    let mut target = parts.collect::<Vec<_>>().join("/");
    let mut separator = '?';
    let mut push = |name: &str, value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text: String = text.bytes().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "%{byte:02X}");
            text
        });
        let _ = write!(target, "{separator}{name}={text}");
        separator = '&';
    };
    for (name, value) in query.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
        match value.as_object().filter(|_| name.ends_with("Range")) {
            Some(span) => span.iter().for_each(|(end, value)| push(&format!("{name}.{end}"), value)),
            None => push(name, value),
        }
    }
    let headers = [("x-acs-version", version(row.product)), ("x-acs-action", row.action)];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let body = if body.as_object().is_some_and(|body| !body.is_empty()) { body.to_string() } else { String::new() };
    read(&Request { method: row.method, target: &target, headers: &headers, body: body.as_bytes() })
}

/// An operation without what it only repeats: what is left is what it does.
fn done(mut operation: Operation) -> Operation {
    match &mut operation {
        Operation::Job(JobOperation::Create(job)) | Operation::Training(TrainingOperation::Create { job, .. }) => {
            job.document = Map::new();
        }
        Operation::Quota(QuotaOperation::Create(quota)) => quota.document = Map::new(),
        Operation::Quota(QuotaOperation::Update(quota)) => quota.document = Map::new(),
        Operation::Quota(QuotaOperation::Scale { document, .. }) => *document = Value::Null,
        Operation::Resource(ResourceOperation::Attach { resources, .. }) => {
            for resource in resources {
                resource.document = Map::new();
            }
        }
        Operation::Service(ServiceOperation::Create(service)) => service.config = Map::new(),
        Operation::Instance(InstanceOperation::Create(instance)) => instance.document = Map::new(),
        Operation::Workspace(WorkspaceOperation::Create { document: repeated, .. })
        | Operation::Job(JobOperation::Update { changes: repeated, .. })
        | Operation::Resource(ResourceOperation::Update { changes: repeated, .. })
        | Operation::Instance(InstanceOperation::Update { changes: repeated, .. }) => *repeated = Map::new(),
        Operation::Job(_)
        | Operation::Training(_)
        | Operation::Quota(_)
        | Operation::Workspace(_)
        | Operation::Resource(_)
        | Operation::Access(_)
        | Operation::Machine(_)
        | Operation::Market(_)
        | Operation::Service(_)
        | Operation::Instance(_) => {}
    }
    operation
}

/// Values of a type that a reader may understand.
fn values(record: &Record, version: &str, of: &str) -> Vec<Value> {
    match of {
        "str" => TEXTS.iter().map(|text| json!(text)).collect(),
        "int" => vec![json!(7), json!(2)],
        "float" => vec![json!(0.5)],
        "bool" => vec![json!(true), json!(false)],
        "str[]" => TEXTS.iter().map(|text| json!([text])).collect(),
        "int[]" => vec![json!([7])],
        "map" => vec![json!({ "k": "v" }), json!({ "resourceId": "other" })],
        _ => vec![record.sample(version, of)],
    }
}

#[test]
fn each_field_is_served_or_refused_by_its_name() {
    let record = Record::read();
    let mut count = 0;
    each_field(&record, |place, field, of| {
        count += 1;
        let (action, name) = (place.row.action, place.named());
        let base = asked(place, None).unwrap_or_else(|misfit| panic!("{action}: {misfit}"));
        let sample = record.sample(version(place.row.product), of);
        let refusal = |why: &str| format!("{action} with {name} is not served here: {why}");
        match field.becomes {
            Use::Inside(_) => {}
            Use::Read => {
                let values = values(&record, version(place.row.product), of);
                // A switch may be there to be refused where it contradicts.
                let is_refused = |value: &Value| {
                    asked(place, Some(value)).is_err_and(|misfit| {
                        let told = misfit.to_string();
                        told.starts_with(&name) && (value.is_boolean() || told.ends_with("as in the path"))
                    })
                };
                let does_more =
                    |value: &Value| asked(place, Some(value)).is_ok_and(|read| done(read) != done(base.clone()));
                let is_heard = values.iter().any(does_more) || values.iter().any(is_refused);
                assert!(is_heard, "{action} does nothing by {name}, a {of}");
            }
            Use::Kept | Use::Always(_) => {
                let read = asked(place, Some(&sample)).unwrap_or_else(|misfit| panic!("{action} {name}: {misfit}"));
                assert_eq!(done(read), done(base), "{action} {name}");
            }
            Use::Only(values, why) => {
                for value in values {
                    let read = asked(place, Some(&json!(value)));
                    assert_eq!(read.map(done), Ok(done(base.clone())), "{action} {name}");
                }
                assert_eq!(asked(place, Some(&json!("x"))).unwrap_err().to_string(), refusal(why));
            }
            Use::Refused(why) => {
                assert_eq!(asked(place, Some(&sample)).unwrap_err().to_string(), refusal(why));
            }
        }
    });
    assert!(count > 500, "{count}");
}

#[test]
fn what_no_sdk_has_is_refused_by_its_name() {
    for row in &ROWS {
        let (query, body) = needed(row.action);
        let mut more = query.clone();
        more["Nonsense"] = json!("x");
        let expected = format!("{} has no field Nonsense", row.action);
        assert_eq!(request(row, &more, &body).unwrap_err().to_string(), expected);
        if let Sent::Fields(_) = row.body {
            let mut more = body.clone();
            more["Nonsense"] = json!("x");
            assert_eq!(request(row, &query, &more).unwrap_err().to_string(), expected);
        }
    }
}

#[test]
fn what_says_nothing_is_as_good_as_not_sent() {
    let job = ROWS.iter().find(|row| row.action == "CreateJob").unwrap();
    let (query, mut body) = needed("CreateJob");
    let base = request(job, &query, &body).map(done);
    for nothing in [json!(null), json!(""), json!([]), json!({}), json!({ "MinParallelism": null })] {
        body["ElasticSpec"] = nothing;
        assert_eq!(request(job, &query, &body).map(done), base);
    }
}

/// The list of what is refused, as the documentation has it.
fn refused() -> String {
    let mut lines: Vec<(&str, Vec<String>, &str)> = Vec::new();
    each_field(&Record::read(), |place, field, _| {
        let (name, why) = match field.becomes {
            Use::Refused(why) => (format!("`{}`", place.written()), why),
            Use::Only(values, why) => (format!("`{}` other than {}", place.written(), values.join(", ")), why),
            Use::Read | Use::Inside(_) | Use::Kept | Use::Always(_) => return,
        };
        match lines.iter_mut().find(|(action, _, known)| *action == place.row.action && *known == why) {
            Some((_, names, _)) => names.push(name),
            None => lines.push((place.row.action, vec![name], why)),
        }
    });
    let mut text = "| operation | field | reason |\n|---|---|---|\n".to_owned();
    for (action, names, why) in lines {
        let _ = writeln!(text, "| {action} | {} | {why} |", names.join(", "));
    }
    text
}

#[test]
fn the_documentation_lists_what_is_refused() {
    const HEADING: &str = "\n## Fields that are refused\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pai.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, section) = text.split_once(HEADING).expect("the section");
    let start = section.find("| operation |").expect("the table");
    let end = section[start..].find("\n\n").map_or(section.len(), |at| start + at + 1);
    let list = refused();
    if env::var_os("UPDATE_EXPECT").is_some() {
        let text = format!("{before}{HEADING}{}{list}{}", &section[..start], &section[end..]);
        fs::write(&path, text).unwrap();
        return;
    }
    assert_eq!(&section[start..end], list, "run once with UPDATE_EXPECT=1");
}
