//! Operations of resource groups and nodes (`PaiStudio`).

use engine::unit::id::GroupNo;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::operation::machine::MachineOperation;
use crate::operation::page::Direction;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::context::one_of;
use crate::service::context::paged;
use crate::service::group;
use crate::service::node;

pub(super) fn serve(context: &mut Context, operation: MachineOperation) -> Result<Value, Problem> {
    match operation {
        MachineOperation::CreateGroup { name, description, resource_type } => {
            group::create(context, &name, description, resource_type)
        }
        MachineOperation::GetGroup { group } => group::told(context, group::find(context, &group)?),
        MachineOperation::UpdateGroup { group, name, description } => group::update(context, &group, name, description),
        MachineOperation::ListGroups { groups, name_part, resource_type, ready, by_name, direction, page } => {
            let state = context.state()?;
            let mut found = Vec::new();
            for (at, group) in state.groups.iter().enumerate().filter(|_| context.is_somebody(state)) {
                let shown = group::shown_name(context, group)?;
                let is_meant = ready
                    && one_of(&groups, Some(group.id.as_str()))
                    && resource_type.is_none_or(|kind| kind == group.resource_type)
                    && contains(&shown, name_part.as_deref());
                if is_meant {
                    found.push((shown, GroupNo::from_index(at)));
                }
            }
            if by_name {
                sort::by(&mut found, |(a, _), (b, _)| a.cmp(b));
            }
            if direction == Direction::Descending {
                found.reverse();
            }
            let (page, total) = paged(found, page);
            let groups =
                page.into_iter().map(|(_, no)| group::told(context, no)).collect::<Result<Vec<Value>, Problem>>()?;
            Ok(json!({ "ResourceGroups": groups, "TotalCount": total }))
        }
        MachineOperation::GroupTotal { group } => {
            let total = group::total(context, group::find(context, &group)?)?;
            group::in_numbers(context, &total, "total")
        }
        MachineOperation::GroupRequest { group } => {
            let no = group::find(context, &group)?;
            let taken = group::taken(context, no)?;
            group::in_numbers(context, &taken, "request")
        }
        MachineOperation::ListNodes { among, sort, direction, page } => {
            node::list(context, &among, sort, direction, page)
        }
        MachineOperation::ListTypes { among } => node::types(context, &among),
        MachineOperation::ListPods { node, group, gpus } => node::pods(context, &node, group.as_deref(), &gpus),
        MachineOperation::Cordon { node, group, is_cordoned } => {
            node::cordon(context, &node, group.as_deref(), is_cordoned)
        }
    }
}
