//! Names for people beside ids: ids that are made here say nothing to anybody.

use engine::quota::tree::Quota;
use engine::unit::id::QuotaId;
use engine::unit::id::WorkspaceId;
use serde_json::Value;

use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::document::Kind;
use crate::service::workspace;

/// A sentence in which every quota and workspace has its name before its id.
pub(crate) fn named(context: &Context, sentence: &str) -> Result<String, Problem> {
    let mut told = String::with_capacity(sentence.len());
    let is_of_id = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut rest = sentence;
    while let Some(start) = rest.find(is_of_id) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_of_id(c)).unwrap_or(from.len()));
        // What ends a sentence is not of the id.
        let id = word.trim_end_matches('.');
        told.push_str(before);
        match name(context, id)? {
            Some(name) => told.extend([&name, " (", id, ")", &word[id.len()..]]),
            None => told.push_str(word),
        }
        rest = after;
    }
    told.push_str(rest);
    Ok(told)
}

/// The name of what has this id, if it has one that the sender may know.
fn name(context: &Context, id: &str) -> Result<Option<String>, Problem> {
    let state = context.state()?;
    let quota = QuotaId::new(id).ok().and_then(|id| state.quota_no(&id)).filter(|_| context.is_somebody(state));
    if let Some(no) = quota {
        return Ok(Some(quota_name(context, &state.quotas[no.at()])?).filter(|name| name != id));
    }
    let sees = |id: &WorkspaceId| state.workspaces.get(id).is_some_and(|workspace| context.sees(workspace));
    let workspace = WorkspaceId::new(id).ok().filter(sees);
    let shown = workspace.map(|id| workspace::shown_name(context, &id)).transpose()?;
    Ok(shown.filter(|name| name != id))
}

/// A quota's name for people: what its document says, or its id.
pub(crate) fn quota_name(context: &Context, quota: &Quota) -> Result<String, Problem> {
    let document = context.document(Kind::Quota, quota.id.as_str())?;
    Ok(document.get("QuotaName").and_then(Value::as_str).unwrap_or(quota.id.as_str()).to_owned())
}
