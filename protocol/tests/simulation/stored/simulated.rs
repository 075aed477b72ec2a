//! A simulated cluster on five machines and a pool, with everybody's jobs and two offers.

use serde_json::json;

use crate::stored::commands::bid;
use crate::stored::commands::cancel;
use crate::stored::commands::cluster;
use crate::stored::commands::gpus;
use crate::stored::commands::job;
use crate::stored::commands::node;
use crate::stored::commands::offers;
use crate::stored::commands::people;
use crate::stored::commands::price_bid;
use crate::stored::commands::publish_price;
use crate::stored::commands::quota;
use crate::stored::commands::root;
use crate::stored::commands::scale;
use crate::stored::story::Story;

const MINUTE: i64 = 60_000;
const LONG: i64 = 5000 * MINUTE;

pub(super) fn simulated() -> Story {
    let mut story = Story::new();
    found(&mut story);
    story.publish();
    people(&mut story, &["B", "A.1"]);
    offers(&mut story);
    run(&mut story);
    story.publish();
    bids(&mut story);
    story.publish();
    midnight(&mut story);
    end(&mut story);
    story.publish();
    story.send(&cancel("holds-c"));
    story.pass(1);
    story.publish();
    story
}

fn found(story: &mut Story) {
    let all = json!(["DLC", "DSW", "EAS"]);
    let child = json!({ "child_level": { "preemptible": [1, 2, 3, 4], "modules": ["DLC", "DSW"] },
        "grace_period_ms": 300_000, "strategy": "balance" });
    let own = json!({ "self_level": { "high": [8, 9], "low": [4], "modules": ["DLC"], "scope": "own" },
        "grace_period_ms": 1_200_000, "strategy": "round-robin" });
    let level = json!({ "self_level": { "high": [7], "low": [1, 2], "modules": all },
        "min_runtime_ms": 600_000, "grace_period_ms": 0 });
    let idle = json!({ "self_level": { "high": [9], "low": [], "modules": [], "scope": "siblings-idle" },
        "strategy": "strict-fifo", "starvation_after_ms": 600_000 });
    story.send_all(&[
        cluster("simulated"),
        json!({ "put_group": { "group": "machines", "resource_type": "lingjun" } }),
        json!({ "put_group": { "group": "pool", "resource_type": "general", "pool": { "gpu": 8000, "cpu": 96_000 } } }),
        node("m-1", "ready"),
        node("m-2", "ready"),
        node("m-3", "ready"),
        node("m-4", "ready"),
        json!({ "put_node": { "node": "m-5", "group": "machines", "amount": { "gpu": 4000, "cpu": 16_000 } } }),
        root("R", "machines", 36, &child),
        quota("A", "R", 16, &json!({ "child_level": { "preemptible": [1, 2], "modules": ["DLC"] } })),
        quota("A.1", "A", 8, &own),
        quota("A.2", "A", 4, &level),
        quota("A.3", "A", 4, &level),
        quota("B", "R", 8, &idle),
        quota("C", "R", 4, &json!({ "lends": false, "starvation_after_ms": 300_000 })),
        quota(
            "E",
            "R",
            2,
            &json!({ "self_level": { "high": [5], "low": [1], "modules": all, "scope": "own" },
            "min_runtime_ms": 3_600_000 }),
        ),
        quota("D", "R", 0, &json!({})),
        json!({ "delete_quota": { "quota": "D" } }),
        json!({ "create_quota": { "quota": "P", "groups": ["pool"], "min": { "gpu": 8000, "cpu": 64_000 } } }),
        quota("P.1", "P", 4, &json!({})),
        quota("P.2", "P", 4, &json!({ "grace_period_ms": 0 })),
    ]);
}

/// An evening of regular work: starts, ends, extra pods, loans that are taken back, preemption.
fn run(story: &mut Story) {
    let note = json!({ "JobType": "PyTorchJob", "DisplayName": "warm up", "UserCommand": "python train.py --lr 3e-4" });
    let work = job("warm-up", "B", 1, 2, &json!({ "duration_ms": 4 * MINUTE, "user": "cem", "workspace": "research" }));
    story.send_as("cem", &work, &[("job/warm-up", note)]);
    story.send_all(&[
        job("train-a", "A.1", 2, 2, &json!({ "priority": 4, "checkpoint_ms": 2 * MINUTE, "duration_ms": LONG })),
        job("train-b", "A.1", 1, 2, &json!({ "priority": 4, "fault_tolerance": {}, "duration_ms": LONG })),
        job("notebook", "A.2", 1, 1, &json!({ "module": "DSW", "priority": 2 })),
        job("serve", "A.2", 5, 1, &json!({ "module": "EAS", "min_pods": 2, "priority": 6, "name": "chat" })),
        job("small", "A.3", 1, 0, &json!({ "pods": [{ "count": 2, "amount": { "gpu": 250, "cpu": 4000 } }] })),
        job("own", "C", 1, 4, &json!({ "duration_ms": 5 * MINUTE })),
        job("either", "C", 1, 4, &json!({ "idle": "acceptable", "priority": 5, "duration_ms": 40 * MINUTE })),
        job("borrow", "B", 1, 4, &json!({ "idle": "only", "duration_ms": LONG })),
        job("borrow-again", "B", 2, 2, &json!({ "idle": "only", "fault_tolerance": { "max_restarts": 2 } })),
    ]);
    story.pass(3);
    story.send(&json!({ "set_priority": { "job": "either", "priority": 6 } }));
    story.pass(3);
    story.send(&job("wide", "B", 1, 8, &json!({ "priority": 3, "duration_ms": 9 * MINUTE })));
    story.pass(1);
    story.send(&job("urgent", "A.1", 1, 4, &json!({ "priority": 9, "duration_ms": 30 * MINUTE })));
    story.pass(2);
    story.send(&job("on-parent", "A", 1, 4, &json!({ "priority": 1, "duration_ms": 20 * MINUTE })));
    story.send(&cancel("small"));
    story.skip(12);
    story.send(&job("dropped", "P.1", 1, 2, &json!({})));
    story.send(&job("pool", "P.1", 6, 1, &json!({ "idle": "acceptable", "min_pods": 1 })));
    story.send(&cancel("dropped"));
    story.pass(2);
    story.send(&job("pool-owner", "P.2", 1, 4, &json!({})));
    story.send(&job("pool-parent", "P", 1, 1, &json!({})));
    story.send(&scale(&[("P.1", 2), ("P.2", 6)], "drain"));
    story.pass(1);
}

/// Bids at all heights, prices up and down.
fn bids(story: &mut Story) {
    let long = json!({ "duration_ms": LONG });
    story.send_all(&[
        bid("spot-low", 40, 1, &json!({ "fault_tolerance": { "max_restarts": 1 }, "duration_ms": LONG })),
        bid("spot-high", 90, 1, &json!({ "workspace": "research", "user": "ann", "duration_ms": LONG })),
        bid("spot-short", 50, 1, &json!({ "duration_ms": 3 * MINUTE })),
        bid("spot-waits", 10, 1, &json!({})),
        bid("spot-other", 70, 1, &long),
        price_bid("cpu-1", "g7", Some(30_000), 2, &long),
        price_bid("cpu-2", "g7", Some(60_000), 1, &long),
        price_bid("cpu-3", "g7", None, 1, &json!({})),
        publish_price("g6", 40_000),
        price_bid("gpu-1", "g6", Some(50_000), 1, &long),
    ]);
    story.pass(2);
    story.send(&publish_price("gn8", 700_000));
    story.send(&publish_price("g6", 60_000));
    story.pass(1);
    story.send(&price_bid("cpu-4", "g7", Some(150_000), 1, &long));
}

/// Past midnight, with bills of two days.
fn midnight(story: &mut Story) {
    story.skip(9);
    story.send(&job("lent-to", "B", 1, 6, &json!({ "idle": "only", "duration_ms": LONG })));
    story.pass(1);
    story.send(&json!({ "update_quota": { "quota": "B", "settings": { "lends": false, "strategy": "strict-fifo",
        "grace_period_ms": 60_000 } } }));
    story.skip(31);
    story.send(&json!({ "set_inventory": { "offer": "gn8", "inventory": 1 } }));
    story.send(&bid("spot-new", 80, 1, &json!({ "duration_ms": LONG })));
    story.pass(2);
    story.send(&json!({ "set_inventory": { "offer": "gn8", "inventory": 3 } }));
    story.send(&job("holds-b", "B", 1, 6, &json!({ "priority": 5 })));
    story.send(&job("holds-c", "C", 1, 2, &json!({})));
    story.pass(1);
}

/// What is under way when the story ends.
fn end(story: &mut Story) {
    story.send_all(&[
        job("too-large", "A.2", 1, 6, &json!({})),
        job("no-machine", "R", 1, 10, &json!({})),
        job("head", "B", 1, 8, &json!({ "idle": "acceptable" })),
        job("behind", "B", 1, 1, &json!({ "priority": 9 })),
        job("idle-waits", "C", 3, 8, &json!({ "idle": "only", "priority": 2 })),
        job("not-high", "A.1", 1, 6, &json!({ "priority": 7 })),
        job("child-work", "A.1", 1, 2, &json!({ "priority": 1 })),
        job("gang", "C", 1, 0, &json!({ "pods": [{ "count": 2, "amount": gpus(1) }, { "amount": gpus(2) }] })),
        job("fresh", "E", 1, 2, &json!({ "priority": 1 })),
    ]);
    story.pass(1);
    story.send(&job("fresh-high", "E", 1, 2, &json!({ "priority": 5 })));
    story.skip(6);
    story.send(&job("gang-after", "C", 1, 1, &json!({})));
    story.send(&json!({ "put_node": { "node": "m-4", "group": "machines", "node_type": "ecs.gn8v",
        "gpu_type": "H800", "amount": { "gpu": 8000, "cpu": 64_000, "memory": 524_288 }, "status": "cordoned" } }));
    story.send(&json!({ "put_group": { "group": "pool", "resource_type": "general",
        "pool": { "gpu": 9000, "cpu": 96_000 } } }));
    let plan =
        json!([scale(&[("A.2", 3), ("A.3", 5)], "evict"), { "set_priority": { "job": "behind", "priority": 8 } }]);
    story.send(&json!({ "apply_plan": { "commands": plan } }));
    story.send(&job("urgent-2", "A.1", 1, 6, &json!({ "priority": 8 })));
    story.send(&job("urgent-3", "A.1", 1, 2, &json!({ "priority": 8 })));
    story.send(&publish_price("gn8", 950_000));
    story.pass(2);
}
