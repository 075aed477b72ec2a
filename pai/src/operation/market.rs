//! Operations of the spot market: what can be bid for (DLC), and what it has cost (`PaiStudio`).

use engine::unit::resource::ResourceType;
use engine::unit::time::Timestamp;

use crate::operation::arguments::Arguments;
use crate::operation::misfit::Misfit;
use crate::operation::page::Direction;
use crate::operation::page::Page;
use crate::operation::quota::RESOURCE_TYPES;

/// How many things a page has if nothing is asked for.
const PAGE_SIZE: i64 = 10;

/// An operation of the spot market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarketOperation {
    /// Tell which instance types can be bid for.
    Specs {
        /// Of these names.
        types: Vec<String>,
        /// Of this kind.
        resource_type: Option<ResourceType>,
        /// Whether they have GPUs.
        accelerated: Option<bool>,
        /// By what they are sorted.
        sort: SpecOrder,
        /// In which direction.
        direction: Direction,
        /// Which part of the list.
        page: Page,
    },
    /// Tell how the price of a type went.
    Prices {
        /// The type.
        instance: String,
        /// Not before.
        from: Option<Timestamp>,
        /// Not after.
        until: Option<Timestamp>,
        /// In which direction of time.
        direction: Direction,
        /// Which part of the list.
        page: Page,
    },
}

/// What instance types are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecOrder {
    /// CPUs.
    Cpu,
    /// GPUs.
    Gpu,
    /// Memory.
    Memory,
    /// When they came to the market.
    Created,
}

pub(super) fn specs(arguments: &Arguments) -> Result<MarketOperation, Misfit> {
    let query = arguments.query();
    let sorts = [
        ("CPU", SpecOrder::Cpu),
        ("GPU", SpecOrder::Gpu),
        ("Memory", SpecOrder::Memory),
        ("GmtCreateTime", SpecOrder::Created),
    ];
    Ok(MarketOperation::Specs {
        types: query.names("InstanceTypes")?,
        resource_type: query.one_of("ResourceType", &RESOURCE_TYPES)?,
        accelerated: query.one_of("AcceleratorType", &[("GPU", true), ("CPU", false)])?,
        sort: query.one_of("SortBy", &sorts)?.unwrap_or(SpecOrder::Created),
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}

pub(super) fn prices(arguments: &Arguments) -> Result<MarketOperation, Misfit> {
    let query = arguments.query();
    Ok(MarketOperation::Prices {
        instance: arguments.path().need("InstanceType")?,
        from: query.time("StartTime")?,
        until: query.time("EndTime")?,
        direction: Direction::read(&query)?.unwrap_or(Direction::Ascending),
        page: Page::read(&query, PAGE_SIZE)?,
    })
}
