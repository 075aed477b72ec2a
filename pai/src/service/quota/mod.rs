//! Quotas (`PaiStudio`). The contract counts them in nodes of a type; the engine holds amounts.

mod change;
mod usage;
mod view;
mod workload;

use serde_json::Value;

use crate::operation::quota::QuotaOperation;
use crate::problem::Problem;
use crate::service::context::Context;

pub(super) fn serve(context: &mut Context, operation: QuotaOperation) -> Result<Value, Problem> {
    match operation {
        QuotaOperation::Create(quota) => change::create(context, &quota),
        QuotaOperation::Get { quota } => view::get(context, &quota),
        QuotaOperation::List(list) => view::list(context, &list),
        QuotaOperation::Update(update) => change::update(context, &update),
        QuotaOperation::Scale { quota, nodes, document } => change::scale(context, &quota, &nodes, document),
        QuotaOperation::Delete { quota } => change::delete(context, &quota),
        QuotaOperation::Workloads(list) => workload::list(context, &list),
        QuotaOperation::Usages(asked) => usage::list(context, &asked),
    }
}
