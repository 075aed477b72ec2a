//! The spot market: offers, bids, prices, bills (rules 6). Whose turn it is lies in `schedule`.

pub mod auction;
pub mod bid;
pub mod bill;
pub mod history;
pub mod offer;
pub mod price;
pub mod statement;
