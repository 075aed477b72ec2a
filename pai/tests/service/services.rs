//! Inference services as their clients describe them.

use serde_json::Value;
use serde_json::json;

use crate::office::Office;
use crate::things::quota;

const NOTHING: Value = Value::Null;

#[test]
fn the_name_stands_at_the_root_or_in_the_metadata() {
    let mut office = Office::new();
    let quota = quota(&mut office, 4);
    let described = |root: Option<&str>, inside: Option<&str>| {
        let mut config = json!({ "metadata": { "instance": 1, "gpu": 8, "quota_id": quota } });
        if let Some(name) = root {
            config["name"] = json!(name);
        }
        if let Some(name) = inside {
            config["metadata"]["name"] = json!(name);
        }
        config
    };
    for (root, inside, name) in
        [(Some("at_root"), None, "at_root"), (None, Some("inside"), "inside"), (Some("both"), Some("both"), "both")]
    {
        let made = office.get("CreateService", "/api/v2/services", &described(root, inside));
        assert_eq!(made["ServiceName"], name);
        let path = format!("/api/v2/services/local/{name}");
        assert_eq!(office.get("DescribeService", &path, &NOTHING)["Status"], "Running");
        office.get("UpdateService", &path, &json!({ "containers": [{ "image": "i" }] }));
    }
    let two = office.refusal("CreateService", "/api/v2/services", &described(Some("one"), Some("other")));
    let expected = "metadata.name is \"other\"; it must be \"one\", like the name at the root";
    assert_eq!(two, format!("400 InvalidParameter: {expected}"));
    let none = office.refusal("CreateService", "/api/v2/services", &described(None, None));
    assert_eq!(none, "400 MissingParameter: metadata.name is missing");
    let renamed = office.refusal("UpdateService", "/api/v2/services/local/at_root", &json!({ "name": "new" }));
    assert_eq!(renamed, "400 InvalidParameter: the name is \"new\"; a service keeps its name, at_root");
}
