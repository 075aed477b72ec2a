//! The native HTTP surface: `/v1/clusters/{cluster}/...`. Nothing here knows a screen or a signal.

pub(crate) mod bench;
pub(crate) mod browser;
pub(crate) mod charts;
pub(crate) mod client;
pub(crate) mod events;
pub(crate) mod failure;
pub(crate) mod key;
pub(crate) mod storage;
