//! The spot market of a replay: offers with their terms, and how their prices and inventories went.
//!
//! One table has both. Each line says what holds of an offer from a time on; the terms may stand on any of its lines.

use std::collections::BTreeMap;

use engine::market::offer::OfferTerms;
use engine::market::offer::PriceSource;
use engine::message::command::AmountByName;
use engine::message::command::Command;
use engine::message::command::market::CreateOffer;
use engine::message::command::market::PublishPrice;
use engine::message::command::market::SetInventory;
use engine::unit::id::OfferId;
use engine::unit::limit;
use engine::unit::quantity::price;
use engine::unit::resource::ResourceType;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;

use crate::calendar::timestamp;
use crate::sheet::Line;
use crate::sheet::Sheet;
use crate::sheet::Source;
use engine::unit::decimal::millionths;

const KNOWN: [&str; 12] = [
    "offer",
    "at_s",
    "timestamp",
    "price",
    "inventory",
    "resource_type",
    "gpus",
    "original_price",
    "protection_s",
    "window_s",
    "grace_s",
    "price_source",
];

/// How the table and the bids of a trace are to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Prices are for an instance-hour; otherwise for an instance-minute.
    pub is_per_hour: bool,
    /// The time that is second 0 of the trace; otherwise the earliest of the table.
    pub zero: Option<Timestamp>,
}

impl Reading {
    /// A price of the table, in micro-units for an instance-minute.
    pub fn price(self, line: &Line<'_>, column: &str) -> Result<Option<i64>, String> {
        let Some(text) = line.text(column) else { return Ok(None) };
        let micros = millionths(text)
            .ok_or_else(|| line.complaint(column, text, "write a price with at most six digits after the point"))?;
        Ok(Some(if self.is_per_hour { (micros + 30).div_euclid(60) } else { micros }))
    }
}

/// A change of an offer.
#[derive(Clone, Debug)]
pub struct Change {
    pub at: Timestamp,
    pub command: Command,
    /// Where it stands.
    pub place: String,
}

/// An offer at its beginning.
#[derive(Clone, Debug)]
pub struct Declared {
    pub create: CreateOffer,
    /// Thousandths of GPUs of an instance.
    pub gpus: i64,
    place: String,
}

/// The offers of a replay.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    pub list: BTreeMap<String, Declared>,
    /// How they change, by time.
    pub changes: Vec<Change>,
    pub reading: Reading,
    pub remarks: Vec<String>,
}

/// A line of the table.
struct Row<'s> {
    line: Line<'s>,
    at: Timestamp,
    price: Option<i64>,
    inventory: Option<i64>,
}

impl Offers {
    /// Reads the table.
    pub fn read(source: &Source, reading: Reading) -> Result<Self, String> {
        let sheet = Sheet::read(source, &["offer"])?;
        if sheet.has("at_s") == sheet.has("timestamp") {
            return Err(format!("{}, line 1: there must be one column at_s or timestamp, and not both", source.name));
        }
        let mut offers = Self { reading, ..Self::default() };
        let mut rows: BTreeMap<&str, Vec<Row<'_>>> = BTreeMap::new();
        for line in sheet.lines() {
            rows.entry(line.need("offer")?).or_default().push(row(line, reading)?);
        }
        if rows.is_empty() {
            return Err(format!("{} has no offer; write a line for each", source.name));
        }
        if sheet.has("timestamp") {
            let earliest = rows.values().flatten().map(|row| row.at).min();
            let zero = reading.zero.or(earliest).unwrap_or_default();
            rows.values_mut().flatten().for_each(|row| row.at = Timestamp((row.at - zero).0));
        }
        for (name, mut rows) in rows {
            rows.sort_by_key(|row| row.at);
            offers.add(name, &rows)?;
        }
        offers.changes.sort_by_key(|change| change.at);
        let unknown = sheet.unknown(&KNOWN);
        if !unknown.is_empty() {
            offers.remarks.push(format!("columns of {} that are not used: {}", source.name, unknown.join(", ")));
        }
        Ok(offers)
    }

    /// When the first of it happens.
    #[must_use]
    pub fn begin(&self) -> Timestamp {
        self.changes.first().map_or(Timestamp(0), |change| change.at.min(Timestamp(0)))
    }

    /// The offers, each with where it stands.
    pub fn declared(&self) -> impl Iterator<Item = (Command, &str)> {
        self.list.values().map(|declared| (Command::CreateOffer(declared.create.clone()), declared.place.as_str()))
    }

    fn add(&mut self, name: &str, rows: &[Row<'_>]) -> Result<(), String> {
        let Some(first) = rows.first() else { return Ok(()) };
        check_twice(rows)?;
        let offer = OfferId::new(name).map_err(|bad| first.line.complaint("offer", name, &bad.to_string()))?;
        let terms = terms(rows, self.reading)?;
        let (low, high) = (terms.range().low, terms.range().high);
        let has_auction = terms.price_source == PriceSource::Auction;
        let gpus = one_value(rows, "gpus", Line::decimal)?
            .ok_or_else(|| first.line.complaint("gpus", "", "write how many GPUs an instance has"))?;
        let resource_type = one_value(rows, "resource_type", |line, column| {
            line.word(column, &[("lingjun", ResourceType::Lingjun), ("general", ResourceType::General)])
        })?;
        let mut prices = rows.iter().filter_map(|row| row.price.map(|price| (row, price)));
        for (row, value) in prices.clone() {
            if !(low..=high).contains(&value) {
                let range = format!("{} to {}", price(low), price(high));
                let remedy = format!(
                    "it is {} an instance-minute, and the market asks {range}, a tenth of the original price to all of it; correct this price or the original_price",
                    price(value)
                );
                return Err(row.line.complaint("price", row.line.text("price").unwrap_or_default(), &remedy));
            }
        }
        let first_price = prices.next();
        if first_price.is_none() && !has_auction {
            return Err(first.line.complaint(
                "price",
                "",
                "write what an instance-minute costs, or auction as price_source",
            ));
        }
        if let (Some((row, _)), true) = (prices.next(), has_auction) {
            return Err(row.line.complaint(
                "price",
                row.line.text("price").unwrap_or_default(),
                "leave it out: in an auction the bids make the price, but for the first one",
            ));
        }
        let inventory = rows.iter().find_map(|row| row.inventory);
        if inventory.is_none() {
            self.remarks
                .push(format!("{name} has no inventory in the table: there are as many instances as anybody asks for"));
        }
        let create = CreateOffer {
            offer: offer.clone(),
            resource_type: resource_type.unwrap_or(ResourceType::Lingjun),
            instance: AmountByName::from([("gpu".to_owned(), gpus)]),
            inventory: inventory.unwrap_or(limit::INVENTORY_MAX),
            price: first_price.map(|(_, price)| price),
            terms,
        };
        self.list.insert(name.to_owned(), Declared { create, gpus, place: first.line.place() });
        for row in rows {
            let publish = row
                .price
                .filter(|_| !has_auction)
                .map(|price| Command::PublishPrice(PublishPrice { offer: offer.clone(), price, at: None }));
            let set =
                row.inventory.map(|inventory| Command::SetInventory(SetInventory { offer: offer.clone(), inventory }));
            self.changes.extend([publish, set].into_iter().flatten().map(|command| Change {
                at: row.at,
                command,
                place: row.line.place(),
            }));
        }
        Ok(())
    }
}

fn row(line: Line<'_>, reading: Reading) -> Result<Row<'_>, String> {
    let at = match (line.text("at_s"), line.text("timestamp")) {
        (Some(text), _) => engine::unit::decimal::thousandths(text)
            .map(Timestamp)
            .ok_or_else(|| line.complaint("at_s", text, "write seconds of the trace, as a decimal number"))?,
        (None, Some(text)) => timestamp(text).ok_or_else(|| {
            line.complaint("timestamp", text, "write a date and a time, such as 2026-11-21T08:00:00Z")
        })?,
        (None, None) => {
            let column = if line.has("at_s") { "at_s" } else { "timestamp" };
            return Err(line.complaint(column, "", "write from when on the line holds"));
        }
    };
    let inventory = line.text("inventory").map(|text| {
        let count = text.parse().ok().filter(|count| (0..=limit::INVENTORY_MAX).contains(count));
        count.ok_or_else(|| {
            line.complaint(
                "inventory",
                text,
                &format!("write a whole number of instances from 0 to {}", limit::INVENTORY_MAX),
            )
        })
    });
    Ok(Row { line, at, price: reading.price(&line, "price")?, inventory: inventory.transpose()? })
}

/// One time, one price: the zones of a region are offers of their own.
fn check_twice(rows: &[Row<'_>]) -> Result<(), String> {
    let differs = |pair: &&[Row<'_>]| {
        pair[0].at == pair[1].at && pair[0].price.is_some() && pair[1].price.is_some() && pair[0].price != pair[1].price
    };
    rows.windows(2).find(differs).map_or(Ok(()), |pair| {
        let (first, line) = (pair[0].line.number, pair[1].line);
        let remedy = format!(
            "line {first} has another price of the offer for the same time; give each zone an offer of its own"
        );
        Err(line.complaint("price", line.text("price").unwrap_or_default(), &remedy))
    })
}

/// What an offer's lines say in a column that has one value for all of them.
fn one_value<'s, T: Copy + PartialEq>(
    rows: &[Row<'s>],
    column: &str,
    read: impl Fn(&Line<'s>, &str) -> Result<Option<T>, String>,
) -> Result<Option<T>, String> {
    let mut known: Option<(T, u64)> = None;
    for row in rows {
        let Some(value) = read(&row.line, column)? else { continue };
        let (first, number) = *known.get_or_insert((value, row.line.number));
        if first != value {
            let text = row.line.text(column).unwrap_or_default();
            return Err(row.line.complaint(column, text, &format!("line {number} says otherwise, and an offer keeps what it is; write the same everywhere, or call one of the two another offer")));
        }
    }
    Ok(known.map(|(value, _)| value))
}

/// An offer's terms; what is left out is as everywhere, and a simulation has no grace periods.
fn terms(rows: &[Row<'_>], reading: Reading) -> Result<OfferTerms, String> {
    let period = |column: &str, otherwise: Millis| {
        Ok::<_, String>(one_value(rows, column, Line::decimal)?.map_or(otherwise, Millis))
    };
    let original_price = one_value(rows, "original_price", |line, column| reading.price(line, column))?;
    let source = one_value(rows, "price_source", |line, column| {
        line.word(column, &[("published", PriceSource::Published), ("auction", PriceSource::Auction)])
    })?;
    Ok(OfferTerms {
        original_price: original_price.ok_or_else(|| {
            rows[0].line.complaint(
                "original_price",
                "",
                "write what an instance costs without the market, at least on one line of the offer",
            )
        })?,
        protection: period("protection_s", Millis::HOUR)?,
        window: period("window_s", Millis::HOUR)?,
        grace_period: period("grace_s", Millis::ZERO)?,
        price_source: source.unwrap_or_default(),
    })
}
