//! The SDKs' models: an answer whose shape does not fit is silently lost by the SDKs, so that it must be found here.

use std::fs;
use std::path::Path;

use pai::operation::product::Product;
use serde_json::Value;

/// What the SDKs read, of each version that is known; nothing where `../shared` is not there.
pub(crate) struct Models(Vec<Value>);

impl Models {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/pai/operations.json");
        let Ok(text) = fs::read_to_string(&path) else {
            println!("{} is not there: the shapes of answers are not checked", path.display());
            return Self(Vec::new());
        };
        let products: Value = serde_json::from_str(&text).unwrap();
        Self(products.as_array().unwrap().clone())
    }

    /// Whether an answer fits the model of its operation in every version.
    pub(crate) fn check(&self, product: Product, action: &str, answer: &Value) {
        for known in self.0.iter().filter(|known| known["product"] == name(product)) {
            let operations = known["operations"].as_array().unwrap();
            let Some(operation) = operations.iter().find(|operation| operation["action"] == action) else { continue };
            let model = operation["response_model"].as_str().unwrap_or_default();
            let place = format!("{action} {}", known["package_version"]);
            fits(&known["models"], model, answer, &place);
        }
    }
}

fn name(product: Product) -> &'static str {
    match product {
        Product::Dlc => "dlc",
        Product::Workspace => "aiworkspace",
        Product::Studio => "paistudio",
        Product::Eas => "eas",
        Product::Dsw => "dsw",
    }
}

/// Whether a value has the type that a model gives it.
fn fits(models: &Value, kind: &str, value: &Value, place: &str) {
    let kind = kind.trim_end_matches(" (required)");
    let inside = |start: &str| kind.strip_prefix(start).and_then(|rest| rest.strip_suffix(']'));
    if value.is_null() || ["Any", "dict", "any"].contains(&kind) {
        return;
    }
    if let Some(item) = inside("List[") {
        let list = value.as_array().unwrap_or_else(|| panic!("{place} is no list: {value}"));
        list.iter().enumerate().for_each(|(at, value)| fits(models, item, value, &format!("{place}[{at}]")));
        return;
    }
    if let Some(item) = inside("Dict[str, ") {
        let map = value.as_object().unwrap_or_else(|| panic!("{place} is no object: {value}"));
        map.iter().for_each(|(name, value)| fits(models, item, value, &format!("{place}.{name}")));
        return;
    }
    let is_scalar = match kind {
        // Typed so in one version and as an object in the other, which reads nothing but an object.
        "str" if place.ends_with(".UserVpc") => return,
        "str" => Some(value.is_string()),
        "int" => Some(value.is_i64()),
        "float" => Some(value.is_number()),
        "bool" => Some(value.is_boolean()),
        _ => None,
    };
    if let Some(is_fitting) = is_scalar {
        assert!(is_fitting, "{place} is no {kind}: {value}");
        return;
    }
    let Some(fields) = models[kind].as_object() else { return };
    let object = value.as_object().unwrap_or_else(|| panic!("{place} is no {kind}: {value}"));
    for (name, kind) in fields {
        if let (Some(value), Some(kind)) = (object.get(name), kind.as_str()) {
            fits(models, kind, value, &format!("{place}.{name}"));
        }
    }
}
