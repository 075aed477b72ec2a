//! Creating, changing, scaling and deleting quotas.

use engine::message::command::Command;
use engine::message::command::CreateQuota;
use engine::message::command::DeleteQuota;
use engine::message::command::ScaleMode;
use engine::message::command::ScaleQuotas;
use engine::message::command::ScaleTarget;
use engine::message::command::UpdateQuota;
use engine::quota::settings::QuotaSettings;
use engine::unit::id::GroupId;
use engine::unit::id::QuotaNo;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::operation::quota;
use crate::operation::quota::NodeCount;
use crate::operation::quota::SettingsChange;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::document;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::engine_name;
use crate::service::job::view::kind_of_quota;
use crate::service::job::view::machine_word;

/// What answers repeat of a request.
const KEPT: [&str; 5] = ["QuotaName", "Description", "Labels", "QuotaConfig", "Min"];
const MODIFIED: &str = "GmtModifiedTime";

pub(super) fn create(context: &mut Context, asked: &quota::CreateQuota) -> Result<Value, Problem> {
    let name = context.new_id("quota");
    let parent = asked.parent.as_deref().map(|parent| context.quota(parent)).transpose()?;
    let state = context.state()?;
    if let Some(parent) = parent {
        check_kind(asked, machine_word(kind_of_quota(state, parent)))?;
    }
    let is_stated = |at| parent.is_none_or(|no| state.quotas[no.at()].min.states(at));
    let groups = match (parent, asked.groups.as_slice()) {
        (None, []) => {
            let groups = amount::groups_with(state, &asked.nodes, asked.resource_type);
            groups.iter().map(|no| state.groups[no.at()].id.clone()).collect()
        }
        (_, named) => named.iter().map(|name| engine_name::name::<GroupId>(name)).collect::<Result<_, Problem>>()?,
    };
    let create = CreateQuota {
        quota: engine_name::quota(&name)?,
        parent: parent.map(|no| state.quotas[no.at()].id.clone()),
        groups,
        min: amount::of_nodes(state, &asked.nodes, is_stated)?,
        settings: merged(&QuotaSettings::default(), &asked.settings, None)?,
    };
    let mut kept = document::kept(&asked.document, &KEPT);
    kept.insert("CreatorId".to_owned(), Value::from(context.sender.user.as_str()));
    for time in ["GmtCreatedTime", MODIFIED] {
        kept.insert(time.to_owned(), Value::from(calendar::written(context.now)));
    }
    context.send(Command::CreateQuota(create), &[Change::put(Kind::Quota, &name, &kept)])?;
    Ok(json!({ "QuotaId": name }))
}

/// A child is of the machines of its root.
fn check_kind(asked: &quota::CreateQuota, of_root: &str) -> Result<(), Problem> {
    let sent = machine_word(asked.resource_type);
    // ECS is what is meant when nothing is said.
    if sent == of_root || !asked.document.contains_key("ResourceType") {
        return Ok(());
    }
    let message = format!("ResourceType is {sent}; it must be {of_root}, like that of the parent");
    Err(Problem::new(400, "InvalidParameter", message))
}

pub(super) fn update(context: &mut Context, asked: &quota::UpdateQuota) -> Result<Value, Problem> {
    let name = &asked.quota;
    let no = context.quota(name)?;
    let mut document = context.document(Kind::Quota, name)?;
    let before = &context.state()?.quotas[no.at()];
    let (id, settings) = (before.id.clone(), merged(&before.settings, &asked.settings, Some(&document))?);
    for (field, value) in document::kept(&asked.document, &KEPT) {
        match (document.get_mut(&field), value) {
            // What a configuration does not name stays.
            (Some(Value::Object(kept)), Value::Object(sent)) => kept.extend(document::kept_all(&sent)),
            (_, value) => drop(document.insert(field, value)),
        }
    }
    document.insert(MODIFIED.to_owned(), Value::from(calendar::written(context.now)));
    let command = Command::UpdateQuota(UpdateQuota { quota: id, settings });
    context.send(command, &[Change::put(Kind::Quota, name, &document)])?;
    Ok(json!({ "QuotaId": name }))
}

pub(super) fn scale(context: &mut Context, name: &str, nodes: &[NodeCount], min: Value) -> Result<Value, Problem> {
    let no = context.quota(name)?;
    let mut document = context.document(Kind::Quota, name)?;
    let target = target(context, no, nodes)?;
    document.insert("Min".to_owned(), min);
    document.insert(MODIFIED.to_owned(), Value::from(calendar::written(context.now)));
    let command = Command::ScaleQuotas(ScaleQuotas { targets: vec![target], mode: ScaleMode::default() });
    context.send(command, &[Change::put(Kind::Quota, name, &document)])?;
    Ok(json!({ "QuotaId": name }))
}

/// The same dimensions are stated as before.
fn target(context: &Context, no: QuotaNo, nodes: &[NodeCount]) -> Result<ScaleTarget, Problem> {
    let state = context.state()?;
    let quota = &state.quotas[no.at()];
    let mut min = amount::of_nodes(state, nodes, |at| quota.min.states(at))?;
    for (at, dimension) in state.cluster.dimensions.iter().enumerate() {
        if quota.min.states(at) {
            min.or_default(dimension.name.clone());
        }
    }
    Ok(ScaleTarget { quota: quota.id.clone(), min })
}

pub(super) fn delete(context: &mut Context, name: &str) -> Result<Value, Problem> {
    let no = context.quota(name)?;
    let command = Command::DeleteQuota(DeleteQuota { quota: context.state()?.quotas[no.at()].id.clone() });
    // Before anything is said of workspaces: who may not delete it need not know where it is attached.
    context.try_out(command.clone())?;
    let attached = context.state()?.workspaces.iter().find(|(_, workspace)| workspace.quotas.contains(&no));
    if let Some((id, _)) = attached {
        let message = format!("quota {name} is attached to workspace {id}; detach it first");
        return Err(Problem::new(409, "QuotaStatusNotSupported", message));
    }
    context.send(command, &[Change::drop(Kind::Quota, name)])?;
    Ok(json!({ "QuotaId": name }))
}

/// Settings with what is stated changed. A policy that is switched on without being stated is the one that the quota
/// has, or that it had when it was switched off, or else the usual one.
fn merged(
    before: &QuotaSettings,
    change: &SettingsChange,
    document: Option<&Document>,
) -> Result<QuotaSettings, Problem> {
    let mut settings = before.clone();
    settings.strategy = change.strategy.unwrap_or(settings.strategy);
    settings.lends = change.lends.unwrap_or(settings.lends);
    let remembered = document.map(quota::remembered).transpose()?.unwrap_or_default();
    settings.self_level = policy(
        change.is_self_level_on,
        change.self_level.as_ref(),
        [before.self_level.as_ref(), remembered.self_level.as_ref()],
        quota::usual_self_level,
    );
    settings.child_level = policy(
        change.is_child_level_on,
        change.child_level.as_ref(),
        [before.child_level.as_ref(), remembered.child_level.as_ref()],
        quota::usual_child_level,
    );
    Ok(settings)
}

/// The policy of a quota by its switch, what is stated of it, and what it is and was.
fn policy<T: Clone>(
    switch: Option<bool>,
    stated: Option<&T>,
    [before, remembered]: [Option<&T>; 2],
    usual: fn() -> T,
) -> Option<T> {
    let is_on = switch.unwrap_or(before.is_some());
    is_on.then(|| stated.or(before).or(remembered).cloned().unwrap_or_else(usual))
}
