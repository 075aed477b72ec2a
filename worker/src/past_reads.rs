//! Reads of a cluster's past by somebody whom the object has let in: answered here from KV, so that they take none of
//! the object's time. What the object says is what is newest ([`protocol::newest`]): with that, people find at
//! least what they wrote themselves, and what they may see is judged by the state as it is.

use std::borrow::Cow;
use std::rc::Rc;

use engine::host::visibility::Visibility;
use engine::message::envelope::Entry;
use engine::state::world::State;
use protocol::fault::Fault;
use protocol::history;
use protocol::history::Folded;
use protocol::log::decode;
use protocol::log::encode;
use protocol::meter::Meter;
use protocol::meter::Metered;
use protocol::name::ClusterName;
use protocol::newest::Newest;
use protocol::past;
use protocol::past::Search;
use protocol::profile::Pages;
use protocol::route::Call;
use protocol::route::MarketCall;
use worker::Env;
use worker::Method;
use worker::Request;
use worker::RequestInit;
use worker::console_error;
use worker::wasm_bindgen::JsValue;

use crate::answer;
use crate::answer::Origin;
use crate::answer::Problem;
use crate::answer::Reply;
use crate::bindings;
use crate::bindings::Kv;
use crate::market;
use crate::portion;
use crate::portion::at_hand;
use crate::query::Query;
use crate::ready;
use crate::routes::Asked;

/// The header of what the object says where the front is to answer. Nobody outside ever sees it.
pub(crate) const NEWEST_HEADER: &str = "x-tidegate-newest";
/// Where an object is told what a read has cost: for how many requests it counts, and under which name. No cluster has such
/// a path.
pub(crate) const CHARGE_PATH: &str = "/charge";
/// For how many requests a read of the past counts until it is known what it has cost: as long as KV is asked, others
/// come.
pub(crate) const TAKEN: i64 = 20;

/// In which a list says before which revision it goes on, also where nothing was found in what one answer may read.
const NEXT_HEADER: &str = "x-tidegate-next-before";

/// Answers a read of the past, and has its cost counted.
pub(crate) async fn answer(env: &Env, cluster: &ClusterName, asked: &Asked, query: &Query, newest: &str) -> Reply {
    let newest: Newest = decode("what is newest", newest)?;
    let meter = Meter::default();
    let read = Read { env, cluster, newest: &newest, meter: &meter };
    let reply = read.answer(asked, query, Origin::object(newest.revision)).await;
    if let Some(rated) = newest.rated {
        // What was taken already stays taken.
        let charged = charge(env, cluster, &rated, meter.cost() - TAKEN).await;
        charged.unwrap_or_else(|problem| console_error!("the cost of a read is not counted: {problem:?}"));
    }
    reply
}

async fn charge(env: &Env, cluster: &ClusterName, rated: &str, requests: i64) -> Result<(), Problem> {
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(JsValue::from_str(&format!("{requests} {rated}"))));
    let request = Request::new_with_init(&format!("https://object{CHARGE_PATH}"), &init)?;
    bindings::object(env, cluster.as_str())?.fetch_with_request(request).await?;
    Ok(())
}

/// A cluster's state.
enum AsItIs {
    /// All of it is published.
    Published(Rc<Folded>),
    /// It is ahead of that.
    Ahead(Box<State>),
}

impl AsItIs {
    fn get(&self) -> &State {
        match self {
            Self::Published(folded) => &folded.state,
            Self::Ahead(state) => state,
        }
    }
}

/// One read.
pub(crate) struct Read<'a> {
    pub(crate) env: &'a Env,
    pub(crate) cluster: &'a ClusterName,
    pub(crate) newest: &'a Newest,
    pub(crate) meter: &'a Meter,
}

impl Read<'_> {
    /// Its answer, with where that comes from.
    pub(crate) async fn answer(&self, asked: &Asked, query: &Query, origin: Origin) -> Reply {
        let (call, kv) = (asked.route.call, self.kv()?);
        let (mut content_type, mut next) = ("application/json", None);
        let text = match (call, &self.newest.head) {
            (Call::Past, Some(head)) => at_hand(past::snapshot(&kv, head, portion::moment(query)?).await?)?
                .map_or_else(portion::beginning, Ok)?,
            (Call::Past, None) => portion::beginning()?,
            (Call::Entries, Some(head)) => {
                let after = query.value("after")?.unwrap_or_default();
                let count = portion::portion(query)?.ok_or(Problem::Gone)?;
                let entries = at_hand(past::entries(&kv, head, after, count).await?)?;
                encode(&entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>())?
            }
            (Call::Rounds, _) => {
                let mut rounds = Search::new(portion::count(query)?, u64::MAX, history::is_round);
                at_hand(self.newest.find(&kv, self.pages().at_once, &mut rounds).await?)?;
                self.as_seen(&rounds.found()).await?
            }
            (Call::RoundAt, _) => {
                let entry = at_hand(self.newest.entry_at(&kv, asked.number()?).await?)?.ok_or(Problem::Gone)?;
                self.seen(|visibility| encode(&visibility.entry(&entry))).await??
            }
            (Call::Audit, _) => {
                let (found, before) = self.audit(query).await?;
                next = before;
                found
            }
            (Call::Market(call), _) => {
                let answer = self.market(call, asked.name(), query).await?;
                content_type = answer.content_type;
                answer.text
            }
            _ => return Err(Problem::NoRoute),
        };
        self.meter.note(&text);
        let response = answer::typed(text, content_type, origin)?;
        if let Some(next) = next {
            response.headers().set(NEXT_HEADER, &next.to_string())?;
        }
        Ok(response)
    }

    /// KV, of which it is counted what it is asked for.
    fn kv(&self) -> Result<Metered<'_, Kv>, Problem> {
        Ok(Metered::new(Kv::of(self.env)?, self.meter))
    }

    /// How many pages of the past it goes through.
    fn pages(&self) -> Pages {
        bindings::profile(self.env).pages
    }

    /// The state as it is. What it takes to have the published one serves all readers, and is nobody's.
    async fn state(&self) -> Result<AsItIs, Problem> {
        let (meter, Newest { head, tail, .. }) = (Meter::default(), self.newest);
        let Some(head) = head else { return Ok(AsItIs::Ahead(Box::new(self.newest.state(State::default())?))) };
        let folded = ready::folded(&Metered::new(Kv::of(self.env)?, &meter), self.cluster, head).await?;
        if tail.is_empty() {
            return Ok(AsItIs::Published(folded));
        }
        Ok(AsItIs::Ahead(Box::new(self.newest.state(folded.state.clone())?)))
    }

    /// What is made of what the reader may see.
    async fn seen<T>(&self, of: impl FnOnce(Visibility) -> T) -> Result<T, Problem> {
        Ok(of(Visibility::new(self.state().await?.get(), &self.newest.sender())))
    }

    async fn as_seen(&self, entries: &[Entry]) -> Result<String, Problem> {
        Ok(self.seen(|visibility| seen_in(&visibility, entries)).await??)
    }

    /// Who sent which command when, the newest first, as far as the reader may know; and before which revision to go on.
    async fn audit(&self, query: &Query) -> Result<(String, Option<u64>), Problem> {
        let (count, before) = (portion::count(query)?, query.value("before")?.unwrap_or(u64::MAX));
        let (kv, state, sender) = (self.kv()?, self.state().await?, self.newest.sender());
        let visibility = Visibility::new(state.get(), &sender);
        let is_wanted = |entry: &Entry| entry.envelope.by.is_some() && visibility.shows_command(entry);
        let mut search = Search::new(count, before, is_wanted);
        at_hand(self.newest.find(&kv, self.pages().at_once, &mut search).await?)?;
        let next = search.next();
        Ok((seen_in(&visibility, &search.found())?, next))
    }

    /// What there is to say of the market. Its newest past is kept; what lies before it is read each time.
    async fn market(&self, call: MarketCall, name: &str, query: &Query) -> Result<market::Answer, Problem> {
        let (state, sender) = (self.state().await?, self.newest.sender());
        let answer = |entries: &[Entry], is_whole| {
            let visibility = Visibility::new(state.get(), &sender);
            market::answer(visibility, entries, is_whole, call, name, query, bindings::now())
        };
        let kv = self.kv()?;
        match (query.value("before")?, &self.newest.head) {
            _ if call == MarketCall::Offers => answer(&[], false),
            (None, Some(head)) => {
                let told = ready::told(&kv, head, self.pages().kept).await?;
                let mut kept = Cow::Borrowed(&told.kept);
                self.newest.tail.iter().for_each(|entry| kept.to_mut().follow(entry));
                answer(kept.entries(), kept.is_whole())
            }
            (before, _) => {
                let before = before.unwrap_or(u64::MAX);
                let (entries, is_whole) = at_hand(self.newest.entries(&kv, before, self.pages().at_once).await?)?;
                answer(&entries.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>(), is_whole)
            }
        }
    }
}

fn seen_in(visibility: &Visibility, entries: &[Entry]) -> Result<String, Fault> {
    encode(&entries.iter().map(|entry| visibility.entry(entry)).collect::<Vec<_>>())
}
