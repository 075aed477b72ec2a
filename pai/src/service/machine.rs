//! Operations of resource groups and nodes (`PaiStudio`).

use engine::unit::id::GroupNo;
use engine::unit::sort;
use serde_json::Value;
use serde_json::json;

use crate::operation::machine::MachineOperation;
use crate::operation::page::Direction;
use crate::problem::Problem;
use crate::service::group;
use crate::service::node;
use crate::service::visit::Visit;
use crate::service::visit::contains;
use crate::service::visit::one_of;
use crate::service::visit::paged;

pub(super) fn serve(visit: &mut Visit, operation: MachineOperation) -> Result<Value, Problem> {
    match operation {
        MachineOperation::CreateGroup { name, description, resource_type } => {
            group::create(visit, &name, description, resource_type)
        }
        MachineOperation::GetGroup { group } => group::told(visit, group::find(visit, &group)?),
        MachineOperation::UpdateGroup { group, name, description } => group::update(visit, &group, name, description),
        MachineOperation::ListGroups { groups, name_part, resource_type, ready, by_name, direction, page } => {
            let state = visit.state()?;
            let mut found = Vec::new();
            for (at, group) in state.groups.iter().enumerate().filter(|_| visit.is_somebody(state)) {
                let shown = group::shown_name(visit, group)?;
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
                page.into_iter().map(|(_, no)| group::told(visit, no)).collect::<Result<Vec<Value>, Problem>>()?;
            Ok(json!({ "ResourceGroups": groups, "TotalCount": total }))
        }
        MachineOperation::GroupTotal { group } => {
            let total = group::total(visit, group::find(visit, &group)?)?;
            group::in_numbers(visit, &total, "total")
        }
        MachineOperation::GroupRequest { group } => {
            let no = group::find(visit, &group)?;
            let taken = group::taken(visit, no)?;
            group::in_numbers(visit, &taken, "request")
        }
        MachineOperation::ListNodes { among, sort, direction, page } => {
            node::list(visit, &among, sort, direction, page)
        }
        MachineOperation::ListTypes { among } => node::types(visit, &among),
        MachineOperation::ListPods { node, group, gpus } => node::pods(visit, &node, group.as_deref(), &gpus),
        MachineOperation::Cordon { node, group, is_cordoned } => {
            node::cordon(visit, &node, group.as_deref(), is_cordoned)
        }
    }
}
