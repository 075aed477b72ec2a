//! What the state and the log say of the spot market. Whatever is computed is the engine's; here it is gathered.

pub mod history;
pub mod kept;
pub mod told;

use engine::host::visibility::Visibility;
use engine::market::bill::Bill;
use engine::market::offer::PriceSource;
use engine::market::statement::By;
use engine::market::statement::Earlier;
use engine::market::statement::Statement;
use engine::message::command::AmountByName;
use engine::message::envelope::Entry;
use engine::message::event::Event;
use engine::state::market::Desk;
use engine::transition;
use engine::unit::id::JobId;
use engine::unit::id::JobNo;
use engine::unit::id::OfferId;
use engine::unit::id::OfferNo;
use engine::unit::resource::ResourceType;
use engine::unit::sort;
use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::history::begin;

/// How many bids of a kind are listed for an offer; they are counted all the same.
const BIDS_SHOWN: usize = 100;

/// A bid. Money is in micro-units of currency for an instance-minute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BidShown {
    /// The job.
    pub job: JobId,
    /// The most that it pays.
    pub limit: i64,
    /// How many instances it takes.
    pub instances: i64,
    /// Until when a running one is safe from release.
    pub protected_until: Option<Timestamp>,
}

/// An offer as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferShown {
    /// Its name.
    pub offer: OfferId,
    /// The kind of machines.
    pub resource_type: ResourceType,
    /// What an instance has.
    pub instance: AmountByName,
    /// Where its price comes from.
    pub price_source: PriceSource,
    /// What an instance-minute costs without the market.
    pub original_price: i64,
    /// What it costs now.
    pub price: i64,
    /// Since when.
    pub since: Timestamp,
    /// What it cost on average over the window, rounded up.
    pub average: i64,
    /// How long that window is.
    pub window_ms: Millis,
    /// How long a grant is safe from release.
    pub protection_ms: Millis,
    /// How many instances there are.
    pub inventory: i64,
    /// How many of them are held, by who is told to stop included.
    pub held: i64,
    /// How many bids wait.
    pub n_waiting: usize,
    /// Those that come first.
    pub waiting: Vec<BidShown>,
    /// How many jobs hold instances and go on.
    pub n_running: usize,
    /// Those with the lowest bids.
    pub running: Vec<BidShown>,
}

/// All offers, in the order of their names; bids of other workspaces without theirs.
#[must_use]
pub fn offers(visibility: Visibility, now: Timestamp) -> Vec<OfferShown> {
    let live = visibility.state().market.live_offers();
    let mut shown: Vec<OfferShown> = live.map(|(no, _)| offer(visibility, no, now)).collect();
    sort::by(&mut shown, |one, other| one.offer.cmp(&other.offer));
    shown
}

fn offer(visibility: Visibility, no: OfferNo, now: Timestamp) -> OfferShown {
    let state = visibility.state();
    let (offer, desk) = (&state.market.offers[no.at()], &state.market.desks[no.at()]);
    let Desk { waiting, running, held, held_by_leaving, .. } = desk;
    let names = state.cluster.dimensions.iter().enumerate();
    let instance = names.map(|(at, dimension)| (dimension.name.clone(), offer.instance[at]));
    OfferShown {
        offer: offer.id.clone(),
        resource_type: offer.resource_type,
        instance: instance.filter(|(_, value)| *value > 0).collect(),
        price_source: offer.terms.price_source,
        original_price: offer.terms.original_price,
        price: offer.course.price(),
        since: offer.course.since(),
        average: offer.course.average(now, offer.terms.window).rounded_up(),
        window_ms: offer.terms.window,
        protection_ms: offer.terms.protection,
        inventory: offer.inventory,
        held: held + held_by_leaving,
        n_waiting: waiting.len(),
        waiting: waiting.iter().take(BIDS_SHOWN).filter_map(|(_, _, _, job)| bid(visibility, *job)).collect(),
        n_running: running.len(),
        running: running.iter().take(BIDS_SHOWN).filter_map(|(_, job)| bid(visibility, *job)).collect(),
    }
}

fn bid(visibility: Visibility, no: JobNo) -> Option<BidShown> {
    let state = visibility.state();
    let (_, limit, instances) = state.bid_of(no)?;
    let grant = state.market.accounts.get(&no).and_then(|account| account.grant);
    let protected_until = grant.map(|grant| grant.protected_until);
    Some(BidShown { job: visibility.job(&state.jobs.get(no)?.spec.id), limit, instances, protected_until })
}

/// Which bills a statement is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The newest ones, and what running jobs owe.
    Newest,
    /// Those in the entries, and nothing that is owed: a part before the newest one.
    Earlier,
}

/// Adds up the bills of `entries` that may be seen, of which there may be earlier ones if they are not `is_whole`.
#[must_use]
pub fn statement(
    visibility: Visibility,
    entries: &[Entry],
    is_whole: bool,
    by: By,
    reach: Reach,
    now: Timestamp,
) -> Statement {
    let state = visibility.state();
    let bill = |event: &Event, at: Timestamp| {
        let Event::Billed { bill, .. } = event else { return None };
        visibility.of(at).sees(bill.workspace.as_ref()).then(|| (**bill).clone())
    };
    let of_entry = |entry: &Entry| entry.events.iter().filter_map(|event| bill(event, entry.at)).collect::<Vec<_>>();
    let billed: Vec<Bill> = entries.iter().flat_map(of_entry).collect();
    let owed = state.market.accounts.keys().flat_map(|no| transition::owed(state, *no, now));
    // Who owes something has not ended, so the workspace is the one of today.
    let owed = owed.filter(|bill| visibility.sees(bill.workspace.as_ref()));
    let owed: Vec<Bill> = match reach {
        Reach::Newest => owed.collect(),
        Reach::Earlier => Vec::new(),
    };
    let first = entries.first().filter(|_| !is_whole);
    let earlier = first.map(|entry| Earlier { at: entry.at, before: begin(entry) });
    Statement::of(earlier, by, &billed, &owed)
}
