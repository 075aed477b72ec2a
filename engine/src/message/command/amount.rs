//! Amounts as senders write them.

use crate::unit::ordered::Map;

/// An amount by dimension names, such as `{"gpu": 16000}` for 16 GPUs.
pub type AmountByName = Map<String, i64>;
