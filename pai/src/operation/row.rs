//! An operation that is served: its method, its path and what can be sent with it.

use crate::operation::access::AccessOperation;
use crate::operation::arguments::Arguments;
use crate::operation::instance::InstanceOperation;
use crate::operation::job::JobOperation;
use crate::operation::machine::MachineOperation;
use crate::operation::market::MarketOperation;
use crate::operation::misfit::Misfit;
use crate::operation::product::Product;
use crate::operation::quota::QuotaOperation;
use crate::operation::resource::ResourceOperation;
use crate::operation::sent::Field;
use crate::operation::sent::Sent;
use crate::operation::service::ServiceOperation;
use crate::operation::training::TrainingOperation;
use crate::operation::workspace::WorkspaceOperation;

/// An operation that is served.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Whose it is.
    pub product: Product,
    /// Its name.
    pub action: &'static str,
    /// Its method.
    pub method: &'static str,
    /// Its path, with the names of parameters in braces.
    pub path: &'static str,
    /// What its query can say.
    pub query: Sent,
    /// What its body can say.
    pub body: Sent,
    pub(super) read: Read,
}

/// How an operation is read out of what was sent with it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    Job(Reader<JobOperation>),
    Training(Reader<TrainingOperation>),
    Quota(Reader<QuotaOperation>),
    Workspace(Reader<WorkspaceOperation>),
    Resource(Reader<ResourceOperation>),
    Access(Reader<AccessOperation>),
    Machine(Reader<MachineOperation>),
    Market(Reader<MarketOperation>),
    Service(Reader<ServiceOperation>),
    Instance(Reader<InstanceOperation>),
}

pub(super) type Reader<T> = fn(&Arguments) -> Result<T, Misfit>;

pub(super) const fn row(
    product: Product,
    action: &'static str,
    method: &'static str,
    path: &'static str,
    read: Read,
) -> Row {
    Row { product, action, method, path, query: Sent::Fields(&[]), body: Sent::Fields(&[]), read }
}

impl Row {
    pub(super) const fn query(self, fields: &'static [Field]) -> Self {
        Self { query: Sent::Fields(fields), ..self }
    }

    pub(super) const fn body(self, fields: &'static [Field]) -> Self {
        Self { body: Sent::Fields(fields), ..self }
    }

    pub(super) const fn describes(self) -> Self {
        Self { body: Sent::Description, ..self }
    }
}
