//! What both stories send: short ways to write commands, and people with their keys.

use serde_json::Value;
use serde_json::json;

use crate::stored::story::Story;

/// Puts what one object has over what another one has.
fn with(mut base: Value, more: &Value) -> Value {
    let (Some(fields), Some(more)) = (base.as_object_mut(), more.as_object()) else { return base };
    fields.extend(more.iter().map(|(key, value)| (key.clone(), value.clone())));
    base
}

pub(super) fn gpus(count: i64) -> Value {
    json!({ "gpu": count * 1000 })
}

/// The declaration of a cluster with three dimensions.
pub(super) fn cluster(execution: &str) -> Value {
    let dimension = |name: &str| json!({ "name": name, "kind": name });
    let dimensions = ["gpu", "cpu", "memory"].map(dimension);
    json!({ "create_cluster": { "dimensions": dimensions, "execution": execution } })
}

/// A machine of 8 GPUs.
pub(super) fn node(name: &str, status: &str) -> Value {
    let amount = json!({ "gpu": 8000, "cpu": 64_000, "memory": 524_288 });
    json!({ "put_node": { "node": name, "group": "machines", "node_type": "ecs.gn8v", "gpu_type": "H800",
        "amount": amount, "status": status } })
}

pub(super) fn root(name: &str, group: &str, count: i64, settings: &Value) -> Value {
    json!({ "create_quota": { "quota": name, "groups": [group], "min": gpus(count), "settings": settings } })
}

pub(super) fn quota(name: &str, parent: &str, count: i64, settings: &Value) -> Value {
    json!({ "create_quota": { "quota": name, "parent": parent, "min": gpus(count), "settings": settings } })
}

pub(super) fn scale(targets: &[(&str, i64)], mode: &str) -> Value {
    let target = |(quota, count): &(&str, i64)| json!({ "quota": quota, "min": gpus(*count) });
    let targets: Vec<Value> = targets.iter().map(target).collect();
    json!({ "scale_quotas": { "targets": targets, "mode": mode } })
}

/// A job of so many pods of so many GPUs.
pub(super) fn job(name: &str, quota: &str, pods: u32, each: i64, more: &Value) -> Value {
    let pods = json!([{ "count": pods, "amount": gpus(each) }]);
    json!({ "submit_job": with(json!({ "job": name, "quota": quota, "pods": pods }), more) })
}

/// A bid on Lingjun for so many instances.
pub(super) fn bid(name: &str, percent: i64, instances: u32, more: &Value) -> Value {
    let network = json!({ "vpc": "vpc-1", "vswitch": "vsw-1", "security_group": "sg-1" });
    let spot = json!({ "offer": "gn8", "discount_percent": percent, "network": network });
    let pods = json!([{ "count": instances, "amount": {} }]);
    json!({ "submit_job": with(json!({ "job": name, "spot": spot, "pods": pods }), more) })
}

/// A bid on general computing.
pub(super) fn price_bid(name: &str, offer: &str, limit: Option<i64>, instances: u32, more: &Value) -> Value {
    let strategy = if limit.is_some() { "with_price_limit" } else { "as_price_goes" };
    let spot = json!({ "offer": offer, "strategy": strategy, "price_limit": limit });
    let pods = json!([{ "count": instances, "amount": {} }]);
    json!({ "submit_job": with(json!({ "job": name, "spot": spot, "pods": pods }), more) })
}

pub(super) fn publish_price(offer: &str, price: i64) -> Value {
    json!({ "publish_price": { "offer": offer, "price": price } })
}

pub(super) fn cancel(name: &str) -> Value {
    json!({ "cancel_job": { "job": name } })
}

/// What is said of a job.
pub(super) fn report(name: &str, observed: &Value) -> Value {
    json!({ "report": { "job": name, "observed": observed } })
}

/// Workspaces with members of every role, and keys in every condition.
pub(super) fn people(story: &mut Story, quotas: &[&str]) {
    let member =
        |user: &str, roles: &[&str]| json!({ "put_member": { "workspace": "research", "user": user, "roles": roles } });
    let key = |key: &str, user: &str, administers: bool| json!({ "create_key": { "key": key, "user": user, "administers": administers } });
    story.send_all(&[
        json!({ "put_workspace": { "workspace": "research", "name": "研究", "description": "Models, and what they need" } }),
        json!({ "put_workspace": { "workspace": "platform" } }),
        json!({ "put_workspace": { "workspace": "trial" } }),
        member("ann", &["owner"]),
        member("bob", &["developer", "administrator"]),
        member("cem", &["developer"]),
        member("dan", &["operator", "guest"]),
        member("eve", &["guest"]),
        json!({ "remove_member": { "workspace": "research", "user": "eve" } }),
        json!({ "put_member": { "workspace": "platform", "user": "bob", "roles": ["developer"] } }),
        json!({ "delete_workspace": { "workspace": "trial" } }),
        key("demo.administrator", "administrator", true),
        key("demo.ann", "ann", false),
        key("demo.bob", "bob", false),
        key("demo.lost", "cem", false),
        json!({ "create_key": { "key": "demo.page", "user": "cem", "expires": story.in_minutes(90) } }),
        json!({ "rotate_key": { "key": "demo.bob", "overlap_ms": 86_400_000 } }),
        json!({ "rotate_key": { "key": "demo.ann" } }),
        json!({ "revoke_key": { "key": "demo.lost" } }),
    ]);
    for quota in quotas {
        story.send(&json!({ "attach_quota": { "workspace": "research", "quota": quota } }));
    }
    story.send(&json!({ "attach_quota": { "workspace": "platform", "quota": quotas[0] } }));
    story.send(&json!({ "detach_quota": { "workspace": "platform", "quota": quotas[0] } }));
}

/// An offer with published prices on each kind of machines, and one whose bids make its price.
pub(super) fn offers(story: &mut Story) {
    let terms = json!({ "original_price": 1_000_000, "protection_ms": 600_000, "window_ms": 1_200_000,
        "grace_period_ms": 1_800_000 });
    let auction = json!({ "original_price": 200_000, "protection_ms": 0, "price_source": "auction" });
    story.send_all(&[
        json!({ "create_offer": { "offer": "gn8", "resource_type": "lingjun", "instance": { "gpu": 8000 },
            "inventory": 4, "price": 300_000, "terms": terms } }),
        json!({ "create_offer": { "offer": "g7", "resource_type": "general", "instance": { "cpu": 32_000 },
            "inventory": 3, "terms": auction } }),
        json!({ "create_offer": { "offer": "g6", "resource_type": "general", "instance": { "gpu": 1000 },
            "inventory": 2, "terms": { "original_price": 90_000, "protection_ms": 0, "grace_period_ms": 0 } } }),
        json!({ "create_offer": { "offer": "old", "resource_type": "general", "instance": { "gpu": 1000 },
            "inventory": 1, "terms": { "original_price": 50_000 } } }),
        json!({ "update_offer": { "offer": "old", "terms": { "original_price": 60_000 } } }),
        json!({ "delete_offer": { "offer": "old" } }),
    ]);
}
