//! Operations of workspaces and their members (`AIWorkspace`).

use serde_json::Map;
use serde_json::Value;

use crate::operation::arguments::Arguments;
use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;

pub(crate) const ROLES: [(&str, RoleName); 5] = [
    ("PAI.WorkspaceOwner", RoleName::Owner),
    ("PAI.WorkspaceAdmin", RoleName::Administrator),
    ("PAI.AlgoOperator", RoleName::Operator),
    ("PAI.AlgoDeveloper", RoleName::Developer),
    ("PAI.WorkspaceGuest", RoleName::Guest),
];
/// How many workspaces or members a page has if nothing is asked for.
const PAGE_SIZE: i64 = 20;
/// How many characters a description may have.
const DESCRIPTION_CHARS_MAX: usize = 80;

/// A role as the contract names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoleName {
    /// Reads.
    Guest,
    /// Has jobs.
    Developer,
    /// Looks after all jobs.
    Operator,
    /// Looks after members and settings as well.
    Administrator,
    /// Whose workspace it is.
    Owner,
}

/// Somebody with roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMember {
    /// Who.
    pub user: String,
    /// As what.
    pub roles: Vec<RoleName>,
}

/// An operation of workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceOperation {
    /// Add a workspace.
    Create {
        /// Its name, which no other has.
        name: String,
        /// Its name for people.
        display_name: Option<String>,
        /// What it is for.
        description: Option<String>,
        /// The request as it was sent: answers repeat it.
        document: Map<String, Value>,
    },
    /// Tell of a workspace.
    Get {
        /// The workspace.
        workspace: String,
    },
    /// Tell of many.
    List {
        /// Of these names.
        workspaces: Vec<String>,
        /// With this in their names.
        name_part: Option<String>,
        /// Of which this user is a member.
        user: Option<String>,
        /// Whether workspaces that can be used are asked for: all of them can.
        enabled: bool,
        /// In which direction of their creation.
        direction: Option<Direction>,
        /// Which part of the list.
        page: Page,
    },
    /// Change what people read of a workspace.
    Update {
        /// The workspace.
        workspace: String,
        /// Its name for people.
        display_name: Option<String>,
        /// What it is for.
        description: Option<String>,
    },
    /// Remove a workspace.
    Delete {
        /// The workspace.
        workspace: String,
    },
    /// Add members.
    AddMembers {
        /// The workspace.
        workspace: String,
        /// Who.
        members: Vec<NewMember>,
    },
    /// Tell of the members.
    ListMembers {
        /// The workspace.
        workspace: String,
        /// With one of these roles.
        roles: Vec<RoleName>,
        /// With this in their names.
        name_part: Option<String>,
        /// This one only.
        user: Option<String>,
        /// Which part of the list.
        page: Page,
    },
    /// Tell of a member.
    GetMember {
        /// The workspace.
        workspace: String,
        /// The member or user: a member is named like the user.
        member: String,
    },
    /// Remove members.
    RemoveMembers {
        /// The workspace.
        workspace: String,
        /// Whom.
        members: Vec<String>,
    },
    /// Give a member another role.
    AddRole {
        /// The workspace.
        workspace: String,
        /// To whom.
        member: String,
        /// Which.
        role: RoleName,
    },
    /// Take a role from a member.
    RemoveRole {
        /// The workspace.
        workspace: String,
        /// From whom.
        member: String,
        /// Which.
        role: RoleName,
    },
}

pub(super) fn create(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let body = arguments.body();
    let name = body.need("WorkspaceName")?;
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_good = (3..=23).contains(&name.len())
        && name.chars().all(is_known)
        && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_good {
        let expected = "3 to 23 letters, digits and underscores that begin with a letter";
        return Err(body.invalid_text("WorkspaceName", &name, expected));
    }
    let (display_name, description) = (body.name("DisplayName")?, description(&body)?);
    let document = body.object().clone();
    Ok(WorkspaceOperation::Create { name, display_name, description, document })
}

fn description(body: &Fields) -> Result<Option<String>, Misfit> {
    let description = body.name("Description")?;
    match description.as_ref().filter(|text| text.chars().count() > DESCRIPTION_CHARS_MAX) {
        Some(text) => Err(body.invalid_text("Description", text, "at most 80 characters")),
        None => Ok(description),
    }
}

pub(super) fn get(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    Ok(WorkspaceOperation::Get { workspace: workspace(arguments)? })
}

pub(super) fn list(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let query = arguments.query();
    Ok(WorkspaceOperation::List {
        workspaces: query.names("WorkspaceIds")?,
        name_part: query.name("WorkspaceName")?,
        user: query.name("UserId")?,
        enabled: asks_for_enabled(&query)?,
        direction: Direction::read(&query)?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

/// Whether a list of statuses has the one that everything here has; also if nothing is asked for.
pub(super) fn asks_for_enabled(query: &Fields) -> Result<bool, Misfit> {
    let statuses = query.names("Status")?;
    Ok(statuses.is_empty() || statuses.iter().any(|status| status.eq_ignore_ascii_case("ENABLED")))
}

pub(super) fn update(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let body = arguments.body();
    Ok(WorkspaceOperation::Update {
        workspace: workspace(arguments)?,
        display_name: body.name("DisplayName")?,
        description: description(&body)?,
    })
}

pub(super) fn delete(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    Ok(WorkspaceOperation::Delete { workspace: workspace(arguments)? })
}

pub(super) fn add_members(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let body = arguments.body();
    let listed = body.each("Members")?;
    if listed.is_empty() {
        return Err(body.missing("Members"));
    }
    let one = |member: &Fields| {
        let roles = roles(member, "Roles")?;
        if roles.is_empty() {
            return Err(member.missing("Roles"));
        }
        Ok(NewMember { user: member.need("UserId")?, roles })
    };
    let members = listed.iter().map(one).collect::<Result<_, Misfit>>()?;
    Ok(WorkspaceOperation::AddMembers { workspace: workspace(arguments)?, members })
}

pub(super) fn list_members(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let query = arguments.query();
    Ok(WorkspaceOperation::ListMembers {
        workspace: workspace(arguments)?,
        roles: roles(&query, "Roles")?,
        name_part: query.name("MemberName")?,
        user: query.name("UserId")?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn get_member(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let query = arguments.query();
    let member = match (query.name("UserId")?, query.name("MemberId")?) {
        (Some(member), None) | (None, Some(member)) => member,
        (None, None) => return Err(query.missing("UserId")),
        (Some(_), Some(member)) => {
            return Err(query.invalid_text("MemberId", &member, "left out where UserId is sent"));
        }
    };
    Ok(WorkspaceOperation::GetMember { workspace: workspace(arguments)?, member })
}

pub(super) fn remove_members(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let query = arguments.query();
    let members = query.names("MemberIds")?;
    if members.is_empty() {
        return Err(query.missing("MemberIds"));
    }
    Ok(WorkspaceOperation::RemoveMembers { workspace: workspace(arguments)?, members })
}

pub(super) fn add_role(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let (workspace, member, role) = member_role(arguments)?;
    Ok(WorkspaceOperation::AddRole { workspace, member, role })
}

pub(super) fn remove_role(arguments: &Arguments) -> Result<WorkspaceOperation, Misfit> {
    let (workspace, member, role) = member_role(arguments)?;
    Ok(WorkspaceOperation::RemoveRole { workspace, member, role })
}

fn member_role(arguments: &Arguments) -> Result<(String, String, RoleName), Misfit> {
    let path = arguments.path();
    let role = path.one_of("RoleName", &ROLES)?.ok_or_else(|| path.missing("RoleName"))?;
    Ok((workspace(arguments)?, path.need("MemberId")?, role))
}

fn workspace(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("WorkspaceId")
}

fn roles(fields: &Fields, name: &str) -> Result<Vec<RoleName>, Misfit> {
    let role = |sent: &String| {
        let found = ROLES.iter().find(|(name, _)| name == sent);
        let known: Vec<&str> = ROLES.iter().map(|(name, _)| *name).collect();
        let wrong = || fields.invalid_text(name, sent, &format!("one of {}", known.join(", ")));
        found.map(|(_, role)| *role).ok_or_else(wrong)
    };
    fields.names(name)?.iter().map(role).collect()
}
