//! PAI's wire contract over the engine, so that its SDKs work with nothing changed but the endpoint.
//!
//! Nothing here knows the runtime, reads a clock or draws a random number: a request goes in as bytes with the time,
//! and what comes out is an identity, a typed operation, or a [`problem::Problem`] in the contract's shape.

pub mod problem;

pub mod calendar;
pub mod escape;
pub mod request;

pub mod access_token;
pub mod key;
pub mod nonce;
pub mod operation;
pub mod service;
pub mod session;
pub mod signature;
