//! Operations of resource groups and nodes (`PaiStudio`).

use engine::unit::amount::DimensionKind;
use engine::unit::resource::ResourceType;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::quota::RESOURCE_TYPES;
use crate::operation::quota::asks_for_ready;

/// How many groups or nodes a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;

/// An operation of resource groups and nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineOperation {
    /// Add a resource group.
    CreateGroup {
        /// Its name for people.
        name: String,
        /// What it is for.
        description: Option<String>,
        /// The kind of its machines.
        resource_type: ResourceType,
    },
    /// Tell of a group.
    GetGroup {
        /// The group.
        group: String,
    },
    /// Change what people read of a group.
    UpdateGroup {
        /// The group.
        group: String,
        /// Its name for people.
        name: Option<String>,
        /// What it is for.
        description: Option<String>,
    },
    /// Tell of many groups.
    ListGroups {
        /// Of these names.
        groups: Vec<String>,
        /// With this in their names for people.
        name_part: Option<String>,
        /// Of this kind.
        resource_type: Option<ResourceType>,
        /// Whether groups that are ready are asked for: all of them are.
        ready: bool,
        /// Whether they are sorted by their names instead of as they were made.
        by_name: bool,
        /// In which direction.
        direction: Direction,
        /// Which part of the list.
        page: Page,
    },
    /// What a group has.
    GroupTotal {
        /// The group.
        group: String,
    },
    /// What of it is taken.
    GroupRequest {
        /// The group.
        group: String,
    },
    /// Tell of nodes.
    ListNodes {
        /// Which.
        among: Among,
        /// By what they are sorted, if not as they were added.
        sort: Option<NodeOrder>,
        /// In which direction.
        direction: Direction,
        /// Which part of the list.
        page: Page,
    },
    /// Tell of the types of nodes.
    ListTypes {
        /// Of which nodes.
        among: Among,
    },
    /// Tell of the pods on a node.
    ListPods {
        /// The node.
        node: String,
        /// The group that it must be of.
        group: Option<String>,
        /// With one of these of its GPUs.
        gpus: Vec<u32>,
    },
    /// Let new pods start on a node, or keep them away.
    Cordon {
        /// The node.
        node: String,
        /// The group that it must be of.
        group: Option<String>,
        /// Whether they are kept away.
        is_cordoned: bool,
    },
}

/// Which nodes are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Among {
    /// Those that a quota draws on.
    pub quota: Option<String>,
    /// Those of groups.
    pub groups: Vec<String>,
    /// Of these names.
    pub nodes: Vec<String>,
    /// Of a group with this in its name for people.
    pub group_part: Option<String>,
    /// Of these types.
    pub types: Vec<String>,
    /// Whether new pods may start on them; in any of these ways.
    pub ready: Vec<bool>,
    /// With GPUs of this type.
    pub gpu_type: Option<String>,
    /// Whether they have GPUs.
    pub accelerated: Option<bool>,
}

/// What nodes are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeOrder {
    /// The name.
    Name,
    /// What they have.
    Amount(DimensionKind),
}

pub(super) fn create_group(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let body = arguments.body();
    Ok(MachineOperation::CreateGroup {
        name: body.need("Name")?,
        description: body.name("Description")?,
        resource_type: body.one_of("ResourceType", &RESOURCE_TYPES)?.unwrap_or(ResourceType::General),
    })
}

pub(super) fn get_group(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    Ok(MachineOperation::GetGroup { group: arguments.path().need("ResourceGroupID")? })
}

pub(super) fn update_group(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let body = arguments.body();
    Ok(MachineOperation::UpdateGroup {
        group: arguments.path().need("ResourceGroupID")?,
        name: body.name("Name")?,
        description: body.name("Description")?,
    })
}

pub(super) fn list_groups(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let query = arguments.query();
    Ok(MachineOperation::ListGroups {
        groups: query.names("ResourceGroupIDs")?,
        name_part: query.name("Name")?,
        resource_type: query.one_of("ResourceType", &RESOURCE_TYPES)?,
        ready: asks_for_ready(&query, "Status")?,
        by_name: query.one_of("SortBy", &[("Name", true), ("GmtCreatedTime", false)])?.unwrap_or(false),
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn group_total(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    Ok(MachineOperation::GroupTotal { group: arguments.query().need("ResourceGroupID")? })
}

pub(super) fn group_request(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    Ok(MachineOperation::GroupRequest { group: arguments.query().need("ResourceGroupID")? })
}

pub(super) fn list_nodes(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("NodeName", NodeOrder::Name),
        ("CPU", NodeOrder::Amount(DimensionKind::Cpu)),
        ("Memory", NodeOrder::Amount(DimensionKind::Memory)),
        ("GPU", NodeOrder::Amount(DimensionKind::Gpu)),
    ];
    Ok(MachineOperation::ListNodes {
        among: among(&query)?,
        sort: query.one_of("SortBy", &sorts)?,
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn list_types(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    Ok(MachineOperation::ListTypes { among: among(&arguments.query())? })
}

fn among(query: &Fields) -> Result<Among, Misfit> {
    let among = Among {
        quota: query.name("QuotaId")?,
        groups: query.names("ResourceGroupIds")?,
        nodes: query.names("NodeNames")?,
        group_part: query.name("ResourceGroupName")?,
        types: query.names("NodeTypes")?,
        ready: query.several_of("NodeStatuses", &[("Ready", true), ("SchedulingDisabled", false)])?,
        gpu_type: query.name("GPUType")?,
        accelerated: query.one_of("AcceleratorType", &[("GPU", true), ("CPU", false)])?,
    };
    if among.quota.is_none() && among.groups.is_empty() { Err(query.missing("QuotaId")) } else { Ok(among) }
}

pub(super) fn list_pods(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let query = arguments.query();
    let expected = "numbers of GPUs such as 0,1";
    let gpu = |text: &String| text.parse().map_err(|_| query.invalid_text("GPUIndexes", text, expected));
    Ok(MachineOperation::ListPods {
        node: arguments.path().need("NodeId")?,
        group: query.name("ResourceGroupId")?,
        gpus: query.names("GPUIndexes")?.iter().map(gpu).collect::<Result<_, Misfit>>()?,
    })
}

pub(super) fn operate(arguments: &Arguments) -> Result<MachineOperation, Misfit> {
    let body = arguments.body();
    let words = [("Cordon", Some(true)), ("Uncordon", Some(false)), ("Drain", None)];
    match body.one_of("Operation", &words)? {
        Some(Some(is_cordoned)) => Ok(MachineOperation::Cordon {
            node: arguments.path().need("NodeId")?,
            group: body.name("ResourceGroupId")?,
            is_cordoned,
        }),
        Some(None) => Err(Misfit::Unserved {
            action: "OperateNode with Drain".to_owned(),
            why: "jobs leave a node when they end; cordon it, and stop those that must leave earlier",
        }),
        None => Err(body.missing("Operation")),
    }
}
