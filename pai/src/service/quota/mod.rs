//! Quotas (`PaiStudio`). The contract counts them in nodes of a type; the engine holds amounts.

mod change;
mod usage;
mod view;
mod workload;

use serde_json::Value;

use crate::operation::quota::QuotaOperation;
use crate::problem::Problem;
use crate::service::visit::Visit;

pub(super) fn serve(visit: &mut Visit, operation: QuotaOperation) -> Result<Value, Problem> {
    match operation {
        QuotaOperation::Create(quota) => change::create(visit, &quota),
        QuotaOperation::Get { quota } => view::get(visit, &quota),
        QuotaOperation::List(list) => view::list(visit, &list),
        QuotaOperation::Update(update) => change::update(visit, &update),
        QuotaOperation::Scale { quota, nodes, document } => change::scale(visit, &quota, &nodes, document),
        QuotaOperation::Delete { quota } => change::delete(visit, &quota),
        QuotaOperation::Workloads(list) => workload::list(visit, &list),
        QuotaOperation::Usages(asked) => usage::list(visit, &asked),
    }
}
