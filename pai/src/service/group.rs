//! Resource groups (`PaiStudio`).

use engine::message::command::Command;
use engine::message::command::PutGroup;
use engine::state::cluster::Group;
use engine::unit::amount::Amount;
use engine::unit::amount::DimensionKind;
use engine::unit::id::GroupId;
use engine::unit::id::GroupNo;
use engine::unit::resource::ResourceType;
use serde_json::Value;
use serde_json::json;

use crate::calendar;
use crate::problem::Problem;
use crate::service::amount;
use crate::service::context::Context;
use crate::service::context::not_found;
use crate::service::document::Change;
use crate::service::document::Document;
use crate::service::document::Kind;
use crate::service::engine_name;
use crate::service::held;
use crate::service::job::view::machine_word;

pub(super) fn create(
    context: &mut Context,
    name: &str,
    description: Option<String>,
    resource_type: ResourceType,
) -> Result<Value, Problem> {
    let id = context.new_id("rg");
    let mut document = Document::new();
    document.insert("Name".to_owned(), Value::from(name));
    document.insert("Description".to_owned(), Value::from(description));
    document.insert("CreatorID".to_owned(), Value::from(context.sender.user.as_str()));
    document.insert("GmtCreatedTime".to_owned(), Value::from(calendar::written(context.now)));
    let put = PutGroup { group: engine_name::name::<GroupId>(&id)?, resource_type, pool: None, on_silence: None };
    context.send(Command::PutGroup(put), &[Change::put(Kind::Group, &id, &document)])?;
    Ok(json!({ "ResourceGroupID": id }))
}

pub(super) fn update(
    context: &mut Context,
    id: &str,
    name: Option<String>,
    description: Option<String>,
) -> Result<Value, Problem> {
    find(context, id)?;
    if !context.sender.administers {
        return Err(Problem::new(403, "Forbidden", "resource groups are changed by the cluster's administrator"));
    }
    let mut document = context.document(Kind::Group, id)?;
    for (field, value) in [("Name", name), ("Description", description)] {
        if let Some(value) = value {
            document.insert(field.to_owned(), Value::from(value));
        }
    }
    context.keep(&[Change::put(Kind::Group, id, &document)])?;
    Ok(json!({ "ResourceGroupID": id }))
}

/// Groups are seen by everybody who belongs to a workspace, as amounts.
pub(super) fn find(context: &Context, name: &str) -> Result<GroupNo, Problem> {
    let state = context.state()?;
    let found = GroupId::new(name).ok().and_then(|id| state.group_no(&id)).filter(|_| context.is_somebody(state));
    found.ok_or_else(|| not_found("ResourceGroup", "resource group", name))
}

pub(super) fn shown_name(context: &Context, group: &Group) -> Result<String, Problem> {
    let document = context.document(Kind::Group, group.id.as_str())?;
    Ok(document.get("Name").and_then(Value::as_str).unwrap_or(group.id.as_str()).to_owned())
}

pub(super) fn told(context: &Context, no: GroupNo) -> Result<Value, Problem> {
    let state = context.state()?;
    let group = &state.groups[no.at()];
    let mut fields = context.document(Kind::Group, group.id.as_str())?;
    let told = json!({
        "ResourceGroupID": group.id.as_str(),
        "Name": shown_name(context, group)?,
        "ResourceType": machine_word(group.resource_type),
        "Status": "Ready",
        "NodeCount": state.live_nodes().filter(|(_, node)| node.group == no).count(),
    });
    if let Value::Object(told) = told {
        fields.extend(told);
    }
    Ok(Value::Object(fields))
}

/// What a group has: its pool, or its nodes together.
pub(super) fn total(context: &Context, no: GroupNo) -> Result<Amount, Problem> {
    let state = context.state()?;
    let nodes = state.live_nodes().filter(|(_, node)| node.group == no);
    let sum = nodes.fold(Amount::ZERO, |sum, (_, node)| sum.plus(&node.amount));
    Ok(state.groups[no.at()].pool.unwrap_or(sum))
}

/// What jobs hold of a group: by their nodes, or in a pool by the domain that they run in.
pub(super) fn taken(context: &Context, no: GroupNo) -> Result<Amount, Problem> {
    let state = context.state()?;
    let mut sum = Amount::ZERO;
    for (_, job) in state.jobs.iter() {
        let Some(placed) = job.placed() else { continue };
        for (at, amount) in held::pods(job) {
            if at.map_or(placed.home, |pod| state.nodes[pod.node.at()].group) == no {
                sum += amount;
            }
        }
    }
    Ok(sum)
}

/// An amount in whole numbers, their names beginning so.
pub(super) fn in_numbers(context: &Context, total: &Amount, start: &str) -> Result<Value, Problem> {
    let state = context.state()?;
    let mut fields = Document::new();
    for (name, kind) in [("CPU", DimensionKind::Cpu), ("GPU", DimensionKind::Gpu), ("Memory", DimensionKind::Memory)] {
        fields.insert(format!("{start}{name}"), Value::from(amount::whole(state, total, kind)));
    }
    Ok(Value::Object(fields))
}
