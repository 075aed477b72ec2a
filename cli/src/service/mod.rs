//! The way to a service, for agents and for people: requests that are answered, sockets on which it is heard, names that
//! nothing else has.

pub mod drawn;
pub mod time;

pub mod http;
pub mod socket;
