//! The default workspace: the one that is meant where a request names none.

use engine::unit::id::WorkspaceId;
use serde_json::Value;

use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;

/// The document that names the default workspace.
const DEFAULT: &str = "default-workspace";
const WORKSPACE: &str = "WorkspaceId";

/// The workspace that is meant when none is named.
pub(crate) fn default_workspace(context: &Context) -> Result<Option<String>, Problem> {
    let document = context.document(Kind::Setting, DEFAULT)?;
    Ok(document.get(WORKSPACE).and_then(Value::as_str).map(str::to_owned))
}

/// This one is the default from now on.
pub(crate) fn new_default(workspace: &str) -> Change {
    let document = Document::from_iter([(WORKSPACE.to_owned(), Value::from(workspace))]);
    Change::put(Kind::Setting, DEFAULT, &document)
}

/// The default is removed.
pub(crate) fn no_default() -> Change {
    Change::drop(Kind::Setting, DEFAULT)
}

/// The workspace of a job: the one that is named, or the default. Without either a job belongs to none.
pub(crate) fn workspace_or_default(context: &Context, named: Option<&str>) -> Result<Option<WorkspaceId>, Problem> {
    let name = match named {
        Some(name) => Some(name.to_owned()),
        None => default_workspace(context)?,
    };
    name.map(|name| Ok(context.workspace(&name)?.0)).transpose()
}
