//! What a service needs of whoever holds a cluster.

use engine::message::envelope::Envelope;
use engine::message::envelope::Receipt;
use engine::state::world::State;
use engine::transition::Sender;
use engine::unit::id::UserId;
use engine::workspace::role::Role;
use engine::workspace::role::RoleSet;
use engine::workspace::space::Workspace;

use crate::problem::Problem;
use crate::service::document::Change;

/// Who sends a request, once that has been proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name under which it goes into the log.
    pub user: UserId,
    /// By what their commands are judged.
    pub sender: Sender,
}

impl Caller {
    /// Somebody who looks after the whole cluster.
    #[must_use]
    pub fn administrator(user: UserId) -> Self {
        Self { sender: Sender { user: user.clone(), administers: true }, user }
    }

    /// Somebody who may do what their roles allow.
    #[must_use]
    pub fn user(user: UserId) -> Self {
        Self { sender: Sender { user: user.clone(), administers: false }, user }
    }

    /// Whether they look after the whole cluster.
    #[must_use]
    pub fn administers(&self) -> bool {
        self.sender.administers
    }

    /// Their roles in a workspace.
    #[must_use]
    pub fn roles(&self, workspace: &Workspace) -> RoleSet {
        if self.sender.administers {
            return RoleSet::from_iter([Role::ClusterAdministrator]);
        }
        workspace.roles(&self.sender.user)
    }
}

/// A cluster with the documents beside it.
pub trait House {
    /// The state as it is.
    fn state(&self) -> Result<&State, Problem>;

    /// Hands a command in, if the caller may send it. The documents change with it, or not at all.
    fn send(&mut self, envelope: &Envelope, caller: &Caller, changes: &[Change]) -> Result<Receipt, Problem>;

    /// Changes documents and nothing else.
    fn keep(&mut self, changes: &[Change]) -> Result<(), Problem>;

    /// A document's text.
    fn document(&self, name: &str) -> Result<Option<String>, Problem>;

    /// The names of all documents that begin so, in order.
    fn names(&self, start: &str) -> Result<Vec<String>, Problem>;
}
