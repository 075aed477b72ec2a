//! The documents of PAI's surface: one for each product, since products share paths and are told apart by a header.
//!
//! Operations and their fields are those of the tables by which requests are read ([`pai::operation::table`]); the types
//! of fields are those of the SDKs, which are on record beside the tests that hold the tables against them.

use pai::operation::product::Product;
use pai::operation::row::Row;
use pai::operation::sent::Field;
use pai::operation::sent::Sent;
use pai::operation::sent::Use;
use pai::operation::table::ROWS;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::golden::Golden;
use crate::models::Models;
use crate::shape::reference;

const PRODUCTS: [Product; 5] = [Product::Dlc, Product::Workspace, Product::Studio, Product::Eas, Product::Dsw];

/// What is said of signatures.
const SIGNED: &str = "ACS3-HMAC-SHA256 with an access key, as the SDKs sign; `x-acs-date`, `x-acs-signature-nonce` and \
     `x-acs-content-sha256` are part of it.";
const SESSION: &str = "A session's token of the native surface, in place of a signature.";
const KEPT: &str = "Kept for the operator of the machines: answers repeat it as it was sent.";
const DESCRIBED: &str = "A description that is kept as it is; what the scheduler reads of it is in docs/pai.md.";

/// How a product's document is called, its version and its title.
fn named(product: Product) -> (&'static str, &'static str, &'static str) {
    match product {
        Product::Dlc => ("dlc", "2020-12-03", "training jobs"),
        Product::Workspace => ("workspace", "2021-02-04", "workspaces and members"),
        Product::Studio => ("studio", "2022-01-12", "quotas, nodes and prices"),
        Product::Eas => ("eas", "2021-07-01", "inference services"),
        Product::Dsw => ("dsw", "2022-01-01", "development instances"),
    }
}

/// Every document with its path.
pub(crate) fn documents() -> Result<Vec<(String, Value)>, String> {
    let golden = Golden::read()?;
    PRODUCTS.into_iter().map(|product| document(product, &golden)).collect()
}

fn document(product: Product, golden: &Golden) -> Result<(String, Value), String> {
    let (file, version, title) = named(product);
    let mut writer = Writer { models: Models::read(version)?, version, golden };
    let mut paths = Map::new();
    for row in ROWS.iter().filter(|row| row.product == product) {
        let operation = writer.operation(row)?;
        let item = paths.entry(row.path).or_insert_with(|| json!({}));
        let slot = &mut item[row.method.to_lowercase()];
        if !slot.is_null() {
            return Err(format!("{} of {file} shares {} with another operation", row.action, row.path));
        }
        *slot = operation;
    }
    let Writer { models, .. } = writer;
    let mut schemas = models.into_components();
    schemas.extend(answers());
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": format!("Tidegate, PAI's surface: {title}"), "version": version },
        "servers": [{ "url": "/", "description": "Where this document was read." }],
        "security": [{ "signature": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "signature": { "type": "apiKey", "in": "header", "name": "Authorization", "description": SIGNED },
                "session": { "type": "http", "scheme": "bearer", "description": SESSION },
            },
            "schemas": schemas,
        },
    });
    Ok((format!("public/openapi-pai-{file}.json"), document))
}

/// What every operation answers, as far as no SDK's model says more.
fn answers() -> [(String, Value); 2] {
    let text = json!({ "type": "string" });
    let answer = json!({
        "title": "Answer",
        "description": "What the SDKs' model of this answer has; fields that they do not know are not there.",
        "type": "object",
        "properties": { "RequestId": text },
        "additionalProperties": true,
    });
    let refusal = json!({
        "title": "Refusal",
        "description": "What is wrong, where, and what to do.",
        "type": "object",
        "properties": { "Code": text, "Message": text, "RequestId": text },
        "required": ["Code", "Message", "RequestId"],
    });
    [("Answer".to_owned(), answer), ("Refusal".to_owned(), refusal)]
}

struct Writer<'a> {
    models: Models,
    version: &'static str,
    golden: &'a Golden,
}

impl Writer<'_> {
    fn operation(&mut self, row: &Row) -> Result<Value, String> {
        let of_path = row.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Value> =
            of_path.map(|name| parameter("path", name, &json!({ "type": "string" }), "")).collect();
        for (name, value) in [("x-acs-version", self.version), ("x-acs-action", row.action)] {
            parameters.push(parameter("header", name, &json!({ "type": "string", "enum": [value] }), ""));
        }
        let mut refused = Map::new();
        if let Sent::Fields(fields) = row.query {
            self.query(row, "", fields, &mut parameters, &mut refused)?;
        }
        let content = |name: &str| json!({ "application/json": { "schema": reference(name) } });
        let mut operation = json!({
            "operationId": row.action,
            "parameters": parameters,
            "responses": {
                "200": { "description": "The answer.", "content": content("Answer") },
                "default": { "description": "The refusal.", "content": content("Refusal") },
            },
        });
        if let Some(schema) = self.body(row, &mut refused)? {
            let examples = self.golden.bodies(row);
            operation["requestBody"] =
                json!({ "content": { "application/json": { "schema": schema, "examples": examples } } });
        }
        if !refused.is_empty() {
            operation["x-refused"] = refused.into();
        }
        Ok(operation)
    }

    /// What can stand after the question mark; objects are flattened, one point deep.
    fn query(
        &mut self,
        row: &Row,
        outer: &str,
        fields: &[Field],
        parameters: &mut Vec<Value>,
        refused: &mut Map<String, Value>,
    ) -> Result<(), String> {
        for field in fields {
            let name = format!("{outer}{}", field.name);
            match field.becomes {
                Use::Inside(inside) => self.query(row, &format!("{name}."), inside, parameters, refused)?,
                Use::Refused(why) => drop(refused.insert(name, why.into())),
                Use::Read | Use::Kept | Use::Always(_) | Use::Only(..) => {
                    let of = self.models.field(&[row.action, "query"], &name);
                    let plain = Models::plain(of).unwrap_or_else(|| json!({ "type": "string" }));
                    parameters.push(parameter("query", &name, &narrowed(plain, field.becomes), said(field.becomes)));
                }
            }
        }
        Ok(())
    }

    fn body(&mut self, row: &Row, refused: &mut Map<String, Value>) -> Result<Option<Value>, String> {
        let name = format!("{}Body", row.action);
        match row.body {
            Sent::Fields([]) => Ok(None),
            Sent::Fields(fields) => {
                let of = self.models.sent(row.action, "body");
                self.object(&name, "", fields, &of, refused)?;
                Ok(Some(reference(&name)))
            }
            Sent::Description => {
                let free =
                    json!({ "title": name, "description": DESCRIBED, "type": "object", "additionalProperties": true });
                self.models.add(&name, free)?;
                Ok(Some(reference(&name)))
            }
        }
    }

    /// Adds the component of an object with these fields, of which the SDKs know the types.
    fn object(
        &mut self,
        name: &str,
        place: &str,
        fields: &[Field],
        types: &[(String, String)],
        refused: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let mut properties = Map::new();
        for field in fields {
            let path = format!("{place}{}", field.name);
            let of = types.iter().find(|(name, _)| name == field.name).map_or("str", |(_, of)| of);
            let schema = match field.becomes {
                Use::Refused(why) => {
                    refused.insert(path, why.into());
                    continue;
                }
                Use::Inside(inside) => {
                    let own = format!("{name}{}", field.name);
                    let types = self.models.object(of);
                    self.object(&own, &format!("{path}."), inside, &types, refused)?;
                    if of.ends_with("[]") {
                        json!({ "type": "array", "items": reference(&own) })
                    } else {
                        reference(&own)
                    }
                }
                Use::Read | Use::Kept | Use::Always(_) | Use::Only(..) => {
                    narrowed(self.models.schema(of)?, field.becomes)
                }
            };
            properties.insert(field.name.to_owned(), described(schema, said(field.becomes)));
        }
        // Not closed: the SDKs send lists and texts that nobody has filled of fields that are refused, and may.
        self.models.add(name, json!({ "title": name, "type": "object", "properties": properties }))
    }
}

fn parameter(place: &str, name: &str, schema: &Value, description: &str) -> Value {
    let parameter = json!({ "name": name, "in": place, "required": place != "query", "schema": schema });
    described(parameter, description)
}

fn described(mut value: Value, description: &str) -> Value {
    if !description.is_empty() {
        value["description"] = description.into();
    }
    value
}

/// What is said of a field.
fn said(becomes: Use) -> &'static str {
    match becomes {
        Use::Read | Use::Inside(_) => "",
        Use::Kept => KEPT,
        Use::Always(why) | Use::Only(_, why) | Use::Refused(why) => why,
    }
}

/// A schema of only those values that are served. Each is a text in the table, whatever its type.
fn narrowed(mut schema: Value, becomes: Use) -> Value {
    if let Use::Only(values, _) = becomes {
        let is_text = schema["type"] == "string";
        let value = |text: &&str| {
            let read = (!is_text).then(|| serde_json::from_str(text).ok()).flatten();
            read.unwrap_or_else(|| Value::from(*text))
        };
        schema["enum"] = values.iter().map(value).collect();
    }
    schema
}
