//! Operations that tell who may do what (`AIWorkspace`), and the workspace that is meant when none is named.

use crate::operation::arguments::Arguments;
use crate::operation::misfit::Misfit;
use crate::operation::page::Page;
use crate::operation::workspace::asks_for_enabled;

/// How many roles a page has if nothing is asked for.
const PAGE_SIZE: i64 = 20;

/// An operation of permissions and defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessOperation {
    /// Tell what the sender may do.
    Permissions {
        /// In this workspace.
        workspace: String,
        /// This one only.
        code: Option<String>,
    },
    /// Tell of the users of a workspace.
    Users {
        /// The workspace.
        workspace: String,
        /// With this in their names.
        name_part: Option<String>,
        /// This one only.
        user: Option<String>,
    },
    /// Tell of the roles that a workspace knows.
    Roles {
        /// The workspace.
        workspace: String,
        /// One of these.
        among: Vec<String>,
        /// With this name.
        name: Option<String>,
        /// Whether roles that can be given are asked for: all of them can.
        enabled: bool,
        /// Which part of the list.
        page: Page,
    },
    /// Tell of a role.
    Role {
        /// The workspace.
        workspace: String,
        /// The role.
        role: String,
    },
    /// Tell of the limits that are set in a workspace.
    Configs {
        /// The workspace.
        workspace: String,
    },
    /// Tell of the workspace that is meant when none is named.
    GetDefault,
    /// Change it.
    SetDefault {
        /// To this one.
        workspace: String,
    },
    /// Tell of the quotas that the vendor's data warehouse has; here it has none.
    WarehouseQuotas,
}

pub(super) fn permissions(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    let (workspace, code) = (workspace(arguments)?, arguments.path().name("PermissionCode")?);
    Ok(AccessOperation::Permissions { workspace, code })
}

pub(super) fn users(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    let (name_part, user) = (arguments.query().name("UserName")?, arguments.query().name("UserId")?);
    Ok(AccessOperation::Users { workspace: workspace(arguments)?, name_part, user })
}

pub(super) fn roles(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    let query = arguments.query();
    Ok(AccessOperation::Roles {
        workspace: workspace(arguments)?,
        among: query.names("RoleIds")?,
        name: query.name("RoleName")?,
        enabled: asks_for_enabled(&query)?,
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn role(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    let role = arguments.path().need("RoleId")?;
    Ok(AccessOperation::Role { workspace: workspace(arguments)?, role })
}

pub(super) fn configs(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    Ok(AccessOperation::Configs { workspace: workspace(arguments)? })
}

pub(super) fn get_default(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    arguments.query().switch("Verbose")?;
    Ok(AccessOperation::GetDefault)
}

pub(super) fn set_default(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    Ok(AccessOperation::SetDefault { workspace: arguments.body().need("WorkspaceId")? })
}

pub(super) fn warehouse_quotas(arguments: &Arguments) -> Result<AccessOperation, Misfit> {
    arguments.query().name("Name")?;
    Ok(AccessOperation::WarehouseQuotas)
}

fn workspace(arguments: &Arguments) -> Result<String, Misfit> {
    arguments.path().need("WorkspaceId")
}
