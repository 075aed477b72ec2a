//! What-if without a page: what is asked and what is told are messages, and runs go on in portions.
//!
//! Nothing here decides: every plan is run by `engine::host::plan`. The embed has a module of its own, which has nothing
//! of `page` in it: the linker drops what is not called, and a test holds the module's size.

pub mod acts;
pub mod address;
pub mod base64;
pub(crate) mod comparison;
pub mod noise;
pub mod picture;
pub mod words;

pub mod embed;
pub mod page;
