//! A cluster of which others report, with two machines for each of two roots and a publication that was never written.

use serde_json::json;

use crate::stored::commands::bid;
use crate::stored::commands::cancel;
use crate::stored::commands::cluster;
use crate::stored::commands::job;
use crate::stored::commands::node;
use crate::stored::commands::offers;
use crate::stored::commands::people;
use crate::stored::commands::publish_price;
use crate::stored::commands::quota;
use crate::stored::commands::report;
use crate::stored::commands::root;
use crate::stored::story::Story;

pub(super) fn reported() -> Story {
    let mut story = Story::new();
    found(&mut story);
    story.publish();
    people(&mut story, &["T.1", "T.2"]);
    offers(&mut story);
    run(&mut story);
    end(&mut story);
    story.publish();
    story.send(&report("on-node", &json!("checkpointed")));
    story.seal();
    story.send(&report("on-node", &json!("checkpointed")));
    story.send(&job("after", "W", 1, 1, &json!({})));
    story.pass(1);
    story
}

fn found(story: &mut Story) {
    let policy = json!({ "self_level": { "high": [6, 7, 8, 9], "low": [1, 2, 3], "modules": ["DLC", "EAS"] },
        "grace_period_ms": 600_000 });
    story.send_all(&[
        cluster("reported"),
        json!({ "put_group": { "group": "dense", "resource_type": "lingjun" } }),
        json!({ "put_group": { "group": "machines", "resource_type": "general" } }),
        node("n-1", "ready"),
        node("n-2", "cordoned"),
        json!({ "put_node": { "node": "d-1", "group": "dense", "amount": { "gpu": 8000 } } }),
        json!({ "put_node": { "node": "d-2", "group": "dense", "amount": { "gpu": 8000 } } }),
        root("T", "dense", 16, &json!({ "child_level": { "preemptible": [1, 2, 3], "modules": ["DLC"] } })),
        quota("T.1", "T", 8, &policy),
        quota("T.2", "T", 8, &policy),
        root("W", "machines", 12, &json!({ "grace_period_ms": 0 })),
    ]);
}

fn run(story: &mut Story) {
    let tolerant = json!({ "fault_tolerance": { "max_restarts": 5 }, "priority": 2 });
    story.send_all(&[
        job("done", "T.1", 1, 4, &json!({})),
        job("broken", "T.1", 1, 4, &json!({})),
        job("keeps", "T.2", 2, 2, &tolerant),
        job("lends", "T.2", 1, 4, &json!({ "idle": "acceptable", "priority": 3 })),
        job("on-node", "W", 2, 3, &json!({ "checkpoint_ms": 600_000 })),
        bid("spot", 60, 2, &json!({ "fault_tolerance": {} })),
        bid("spot-ends", 60, 1, &json!({})),
    ]);
    story.pass(3);
    for job in ["on-node", "done", "broken", "keeps"] {
        story.send(&report(job, &json!("confirmed")));
    }
    story.send(&report("on-node", &json!("checkpointed")));
    story.send(&report("done", &json!("finished")));
    story.send(&report("broken", &json!({ "failed": { "reason": "exit code 137" } })));
    story.send(&report("spot-ends", &json!("finished")));
    story.send_all(&[
        job("borrower", "T.2", 1, 6, &json!({ "idle": "only" })),
        job("borrower-2", "T.2", 1, 2, &json!({ "idle": "only", "fault_tolerance": {} })),
    ]);
    story.pass(2);
    story.send(&job("owner", "T.1", 1, 8, &json!({ "priority": 5 })));
    story.pass(1);
    story.send(&report("borrower", &json!("stopped")));
    story.send(&report("borrower-2", &json!("stopped")));
    story.pass(1);
    story.send(&json!({ "apply_plan": { "commands": [publish_price("gn8", 900_000)] } }));
    story.skip(40);
}

fn end(story: &mut Story) {
    story.send_all(&[
        job("high", "T.2", 1, 6, &json!({ "priority": 7 })),
        job("waits-for-node", "W", 1, 8, &json!({})),
        job("parent", "T", 1, 2, &json!({})),
        job("gives-up", "T.1", 1, 2, &json!({})),
    ]);
    story.pass(1);
    story.send(&cancel("gives-up"));
    story.send(&report("lends", &json!("stopped")));
    story.pass(2);
    story.send(&job("higher", "T.1", 1, 2, &json!({ "priority": 9, "user": "bob" })));
    story.pass(1);
}
