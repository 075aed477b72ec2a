//! The SDKs' own requests, read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use engine::job::spec::FaultTolerance;
use engine::job::spec::IdlePolicy;
use engine::quota::settings::QueueStrategy;
use engine::unit::priority::Module;
use engine::unit::priority::Priority;
use engine::unit::priority::PrioritySet;
use engine::unit::resource::ResourceType;
use pai::operation::Operation;
use pai::operation::job::JobOperation;
use pai::operation::product::Product;
use pai::operation::quota::QuotaOperation;
use pai::operation::quota::Under;
use pai::operation::read;
use pai::operation::submission::Bid;
use pai::operation::submission::CreateJob;
use pai::operation::submission::PodNeed;
use pai::operation::table::ROWS;
use pai::operation::unserved::UNSERVED;
use pai::operation::workspace::RoleName;
use pai::operation::workspace::WorkspaceOperation;
use serde_json::Value;

use crate::wire;

fn operation(name: &str) -> Operation {
    read(&wire::named(name).request()).unwrap()
}

fn created_job(name: &str) -> CreateJob {
    let Operation::Job(JobOperation::Create(job)) = operation(name) else { panic!("{name} creates a job") };
    *job
}

fn priority(value: i64) -> Priority {
    Priority::new(value).unwrap()
}

#[test]
fn every_recorded_request_of_a_served_operation_is_read() {
    let mut actions = BTreeSet::new();
    for wire in wire::signed() {
        let action = wire.header("x-acs-action").to_owned();
        match read(&wire.request()) {
            Ok(_) => drop(actions.insert(action)),
            Err(misfit) => panic!("{}: {misfit}", wire.name),
        }
    }
    assert!(actions.len() >= 4, "{actions:?}");
}

#[test]
fn a_job_on_idle_amounts_with_fault_tolerance() {
    let job = created_job("dlc_CreateJob_idle_only_aimaster");
    assert_eq!((job.name.as_str(), job.job_type), ("idle-only", "PyTorchJob"));
    assert_eq!((job.workspace.as_deref(), job.quota.as_deref()), (Some("1001"), Some("quota3eb")));
    assert_eq!((job.priority, job.idle), (priority(1), IdlePolicy::Only));
    assert_eq!(job.fault_tolerance, Some(FaultTolerance { max_restarts: 3 }));
    let [role] = job.roles.as_slice() else { panic!("{:?}", job.roles) };
    assert_eq!((role.kind.as_str(), role.count), ("Worker", 1));
    assert_eq!(role.need, PodNeed::Amounts { gpus: 8000, gpu_type: None, cpus: 8000, memory: 65_536 });
    assert_eq!(role.bid, None);
    assert_eq!(job.document["UserCommand"], "echo 'Hello World' && sleep 30");
    assert!(!job.network.missing().is_empty());
}

#[test]
fn a_bid_is_read_to_the_last_digit() {
    let job = created_job("seed004_CreateJob_price");
    assert!(job.network.missing().is_empty());
    assert!(matches!(job.roles[0].need, PodNeed::Instance(_)));
    assert_eq!(job.roles[0].bid, Some(Bid { as_price_goes: false, discount: None, price: Some(11_000) }));
}

#[test]
fn a_list_of_jobs_by_a_name_with_strange_characters() {
    let Operation::Job(JobOperation::List(list)) = operation("dlc_ListJobs_query_encoding") else { panic!("a list") };
    assert_eq!(list.name_part.as_deref(), Some("a b+c~d*/e=f&g%20é"));
    assert_eq!(list.idle, Some((IdlePolicy::Acceptable, Some(true))));
    assert!(list.own);
    assert_eq!((list.page.skip, list.page.take), (0, 10));
}

#[test]
fn a_quota_with_both_policies() {
    let Operation::Quota(QuotaOperation::Create(quota)) = operation("paistudio_CreateQuota_root_preemption") else {
        panic!("it creates a quota")
    };
    assert_eq!((quota.name.as_str(), quota.parent, quota.resource_type), ("Quota1", None, ResourceType::Lingjun));
    assert_eq!((quota.nodes[0].node_type.as_str(), quota.nodes[0].count), ("ml.gu7xf.8xlarge-gu108", 16));
    let settings = quota.settings;
    assert_eq!(settings.strategy, Some(QueueStrategy::Intelligent));
    assert_eq!((settings.is_self_level_on, settings.is_child_level_on, settings.lends), (Some(true), Some(true), None));
    let modules = [Module::Dlc, Module::Dsw].into_iter().collect();
    let self_level = settings.self_level.unwrap();
    assert_eq!(self_level.high, PrioritySet::range(priority(6), priority(9)));
    assert_eq!(self_level.low, PrioritySet::range(priority(4), priority(4)));
    assert_eq!(self_level.modules, modules);
    let child_level = settings.child_level.unwrap();
    assert_eq!((child_level.preemptible, child_level.modules), (PrioritySet::range(priority(1), priority(3)), modules));
}

#[test]
fn an_empty_parent_asks_for_roots() {
    let Operation::Quota(QuotaOperation::List(list)) = operation("paistudio_ListQuotas_roots_emptyparam") else {
        panic!("it lists quotas")
    };
    assert_eq!(list.under, Under::Nothing);
}

#[test]
fn parameters_in_the_path_are_named() {
    let Operation::Workspace(WorkspaceOperation::AddRole { workspace, member, role }) =
        operation("aiworkspace_AddMemberRole")
    else {
        panic!("it gives a role")
    };
    assert!(!workspace.is_empty() && !member.is_empty());
    assert_eq!(role, RoleName::Operator);
    let stopped = Operation::Job(JobOperation::Stop { job: "dlc3ee".to_owned() });
    assert_eq!(operation("dlc_StopJob"), stopped);
}

/// The version by which the contract knows a product.
pub(crate) fn version(product: Product) -> &'static str {
    match product {
        Product::Dlc => "2020-12-03",
        Product::Workspace => "2021-02-04",
        Product::Studio => "2022-01-12",
        Product::Eas => "2021-07-01",
        Product::Dsw => "2022-01-01",
    }
}

/// A path with its parameters without names.
fn shape(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect::<Vec<_>>().join("/")
}

/// Operations that the companion folder does not have, as the client of quotas inside `alipai` 0.4.13 sends them.
const TRAINING: [[&str; 4]; 6] = [
    ["2022-01-12", "CreateTrainingJob", "POST", "/api/v1/trainingjobs"],
    ["2022-01-12", "ListTrainingJobs", "GET", "/api/v1/trainingjobs"],
    ["2022-01-12", "GetTrainingJob", "GET", "/api/v1/trainingjobs/{}"],
    ["2022-01-12", "StopTrainingJob", "PUT", "/api/v1/trainingjobs/{}/stop"],
    ["2022-01-12", "DeleteTrainingJob", "DELETE", "/api/v1/trainingjobs/{}"],
    ["2022-01-12", "ListTrainingJobEvents", "GET", "/api/v1/trainingjobs/{}/events"],
];

#[test]
fn the_table_is_that_of_the_sdks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/pai/operations.json");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("{} is not there: the table is not checked against it", path.display());
        return;
    };
    let products: Value = serde_json::from_str(&text).unwrap();
    let known: BTreeSet<[String; 4]> = products
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|product| product["operations"].as_array().unwrap())
        .map(|operation| {
            let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
            [text("version"), text("action"), text("method"), shape(&text("path"))]
        })
        .chain(TRAINING.map(|row| row.map(str::to_owned)))
        .collect();
    for row in ROWS {
        let row = [version(row.product), row.action, row.method, &shape(row.path)].map(str::to_owned);
        assert!(known.contains(&row), "{row:?}");
    }
    let mut listed: BTreeSet<(&str, &str)> = ROWS.iter().map(|row| (version(row.product), row.action)).collect();
    for (product, actions, why) in UNSERVED {
        assert!(why.split(' ').count() > 5, "{actions:?}: {why}");
        for action in actions.split(' ') {
            assert!(listed.insert((version(product), action)), "{action} is listed twice");
        }
    }
    for [version, action, ..] in &known {
        assert!(listed.contains(&(version.as_str(), action.as_str())), "{action} of {version} is in no table");
    }
}
