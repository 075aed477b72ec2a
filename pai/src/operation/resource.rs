//! Operations of a workspace's resources (`AIWorkspace`): by them quotas are attached to workspaces.

use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Page;
use crate::operation::sent;

/// How many resources a page has if nothing is asked for.
const PAGE_SIZE: i64 = 20;

/// An operation of resources.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceOperation {
    /// Attach quotas.
    Attach {
        /// The workspace.
        workspace: String,
        /// What is attached.
        resources: Vec<NewResource>,
    },
    /// Change what people read of resources.
    Update {
        /// The workspace.
        workspace: String,
        /// Of which.
        chosen: Chosen,
        /// The fields that change.
        changes: Map<String, Value>,
    },
    /// Detach quotas.
    Detach {
        /// The workspace.
        workspace: String,
        /// Which.
        chosen: Chosen,
    },
    /// Tell of resources.
    List {
        /// Of this workspace; of all if there is none.
        workspace: Option<String>,
        /// Of these types.
        types: Vec<String>,
        /// With this name.
        name: Option<String>,
        /// Of this group.
        group: Option<String>,
        /// That are one of these quotas.
        quotas: Vec<String>,
        /// With each of these labels.
        labels: Vec<(String, String)>,
        /// Which part of the list.
        page: Page,
    },
}

/// A quota that is attached.
#[derive(Clone, Debug, PartialEq)]
pub struct NewResource {
    /// The quota.
    pub quota: String,
    /// The kind of its machines, if it is stated.
    pub resource_type: Option<String>,
    /// The resource as it was sent: answers repeat it.
    pub document: Map<String, Value>,
}

/// Which resources of a workspace are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Those of this group.
    pub group: Option<String>,
    /// These.
    pub resources: Vec<String>,
    /// Of these only those of this kind of machines.
    pub resource_type: Option<String>,
}

pub(super) fn attach(arguments: &Arguments) -> Result<ResourceOperation, Misfit> {
    let body = arguments.body();
    let listed = body.each("Resources")?;
    if listed.is_empty() {
        return Err(body.missing("Resources"));
    }
    let workspace = workspace(arguments)?;
    let one = |resource: &Fields| {
        if let Some(other) = resource.name("WorkspaceId")?.filter(|other| *other != workspace) {
            let expected = format!("{workspace:?}, as in the path");
            return Err(resource.invalid_text("WorkspaceId", &other, &expected));
        }
        let spec = resource.inside("Spec")?.ok_or_else(|| resource.missing("Spec"))?;
        Ok(NewResource {
            quota: spec.need("resourceId")?,
            resource_type: resource.name("ResourceType")?,
            document: resource.object().clone(),
        })
    };
    let resources = listed.iter().map(one).collect::<Result<_, Misfit>>()?;
    Ok(ResourceOperation::Attach { workspace, resources })
}

pub(super) fn update(arguments: &Arguments) -> Result<ResourceOperation, Misfit> {
    let body = arguments.body();
    let changes = sent::kept_of(sent::workspace::UPDATE_RESOURCE, body.object());
    Ok(ResourceOperation::Update { workspace: workspace(arguments)?, chosen: chosen(&body)?, changes })
}

pub(super) fn detach(arguments: &Arguments) -> Result<ResourceOperation, Misfit> {
    let query = arguments.query();
    Ok(ResourceOperation::Detach { workspace: workspace(arguments)?, chosen: chosen(&query)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<ResourceOperation, Misfit> {
    let query = arguments.query();
    Ok(ResourceOperation::List {
        workspace: query.name("WorkspaceId")?,
        types: query.names("ResourceTypes")?,
        name: query.name("ResourceName")?,
        group: query.name("GroupName")?,
        quotas: query.names("QuotaIds")?,
        labels: query.labels("Labels")?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

fn chosen(fields: &Fields) -> Result<Chosen, Misfit> {
    let chosen = Chosen {
        group: fields.name("GroupName")?,
        resources: fields.names("ResourceIds")?,
        resource_type: fields.name("ResourceType")?,
    };
    if chosen.group.is_none() && chosen.resources.is_empty() { Err(fields.missing("ResourceIds")) } else { Ok(chosen) }
}

fn workspace(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("WorkspaceId")
}
