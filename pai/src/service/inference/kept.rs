//! What is kept of a service: its document, and what the engine is asked for by it.

use engine::message::command::Command;
use engine::unit::priority::Module;
use serde_json::Value;

use crate::operation::nodes::AssignNodes;
use crate::operation::service::Service;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::not_found;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::run;
use crate::service::run::Wanted;

/// The field of the document that holds the description.
pub(super) const CONFIG: &str = "Config";
pub(super) const UPDATED: &str = "UpdateTime";
pub(super) const WORKSPACE: &str = "WorkspaceId";

/// A service that the sender may see: its job is one that they may see.
pub(super) fn find(context: &Context, name: &str) -> Result<Document, Problem> {
    let unknown = || not_found("Service", "service", name);
    let document = context.found(Kind::Service, name)?.ok_or_else(unknown)?;
    context.job(&run::job(&document)).map_err(|_| unknown())?;
    Ok(document)
}

/// The command for another run of what a document describes.
pub(super) fn command(context: &Context, document: &mut Document) -> Result<Command, Problem> {
    let service = described(document)?;
    let wanted = Wanted {
        module: Module::Eas,
        shown: &service.name,
        workspace: service.workspace.as_deref(),
        quota: service.quota.as_deref(),
        priority: service.priority,
        idle: service.idle,
        count: service.count,
        need: &service.need,
        nodes: &AssignNodes::default(),
    };
    run::another(context, &wanted, document)
}

/// What a document describes.
pub(super) fn described(document: &Document) -> Result<Service, Problem> {
    let config = document.get(CONFIG).and_then(Value::as_object).cloned().unwrap_or_default();
    let workspace = document.get(WORKSPACE).and_then(Value::as_str).map(str::to_owned);
    Ok(Service::read(&config, workspace)?)
}
