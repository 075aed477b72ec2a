//! KV in memory as it is outside: reads may be old, writes may fail before or after they have stored, and every call
//! gives others the time to do something.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use protocol::document::Head;
use protocol::document::Page;
use protocol::fault::Fault;
use protocol::kv::KvStore;
use protocol::kv::Listed;

use crate::random::Random;

/// How often what goes wrong, in percent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weather {
    pub(crate) fail_before: u64,
    pub(crate) fail_after: u64,
    pub(crate) fail_read: u64,
    pub(crate) stale_read: u64,
}

struct Inner {
    /// All values that a key ever had, the newest last.
    values: BTreeMap<String, Vec<String>>,
    weather: Weather,
    random: Random,
    /// The heads in the order in which they were written.
    heads: Vec<Head>,
    n_reads: usize,
    /// Whether the past ends somewhere.
    has_end: bool,
    n_writes: usize,
    n_deletes: usize,
    /// How many calls this invocation still has.
    left: usize,
}

/// A handle; clones are the same store.
#[derive(Clone)]
pub(crate) struct Air(Rc<RefCell<Inner>>);

impl Air {
    pub(crate) fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        Self(Rc::new(RefCell::new(Inner {
            values: BTreeMap::new(),
            weather: Weather::default(),
            random,
            heads: Vec::new(),
            n_reads: 0,
            has_end: false,
            n_writes: 0,
            n_deletes: 0,
            left: usize::MAX,
        })))
    }

    /// Old pages may be deleted.
    pub(crate) fn let_past_end(&self) {
        self.0.borrow_mut().has_end = true;
    }

    pub(crate) fn set_weather(&self, weather: Weather) {
        self.0.borrow_mut().weather = weather;
    }

    pub(crate) fn heads(&self) -> Vec<Head> {
        self.0.borrow().heads.clone()
    }

    pub(crate) fn n_reads(&self) -> usize {
        self.0.borrow().n_reads
    }

    /// An invocation begins that may make so many calls.
    pub(crate) fn invoke(&self, calls: usize) {
        self.0.borrow_mut().left = calls;
    }

    /// Loses every object whose key is so.
    pub(crate) fn lose(&self, is_lost: impl Fn(&str) -> bool) {
        self.0.borrow_mut().values.retain(|key, _| !is_lost(key));
    }

    /// Every key.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.borrow().values.keys().cloned().collect()
    }

    /// What a key holds now.
    pub(crate) fn value(&self, key: &str) -> String {
        self.0.borrow().values[key].last().expect("a key has a value").clone()
    }

    /// Somebody changes what a key holds.
    pub(crate) fn forge(&self, key: &str, value: &str) {
        self.0.borrow_mut().values.insert(key.to_owned(), vec![value.to_owned()]);
    }

    pub(crate) fn n_objects(&self) -> usize {
        self.0.borrow().values.len()
    }

    /// How often anything was written.
    pub(crate) fn n_writes(&self) -> usize {
        self.0.borrow().n_writes
    }

    /// How often anything was deleted.
    pub(crate) fn n_deletes(&self) -> usize {
        self.0.borrow().n_deletes
    }

    /// The bytes of everything that is held.
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.borrow().values.values().filter_map(|values| values.last()).map(String::len).sum()
    }

    /// What every key holds now: lines with a tab between key and value. Values are JSON, so they have neither.
    pub(crate) fn dump(&self) -> String {
        let inner = self.0.borrow();
        let newest = inner.values.iter().filter_map(|(key, values)| Some((key, values.last()?)));
        newest.fold(String::new(), |text, (key, value)| text + key + "\t" + value + "\n")
    }

    /// The store with these keys.
    pub(crate) fn of_dump(text: &str) -> Self {
        let air = Self::new(0);
        for line in text.lines() {
            let (key, value) = line.split_once('\t').expect("a key with its value");
            air.0.borrow_mut().values.insert(key.to_owned(), vec![value.to_owned()]);
        }
        air
    }
}

impl Inner {
    fn put(&mut self, key: &str, value: &str) -> Result<(), Fault> {
        let fault = |reason: &str| Err(Fault::Kv { key: key.to_owned(), reason: reason.to_owned() });
        if self.random.percent(self.weather.fail_before) {
            return fault("planned, before");
        }
        self.n_writes += 1;
        let values = self.values.entry(key.to_owned()).or_default();
        if key.ends_with("/head") {
            let head: Head = serde_json::from_str(value).expect("a head is JSON");
            values.push(value.to_owned());
            self.check_named(&head);
            self.heads.push(head);
        } else {
            let may_change = key.starts_with("deleted/");
            assert!(may_change || values.iter().all(|known| known == value), "{key} has changed");
            values.push(value.to_owned());
        }
        if self.random.percent(self.weather.fail_after) { fault("planned, after") } else { Ok(()) }
    }

    fn delete(&mut self, key: &str) -> Result<(), Fault> {
        self.left = self.left.checked_sub(1).expect("the invocation has as many calls as the platform allows");
        if self.random.percent(self.weather.fail_before) {
            return Err(Fault::Kv { key: key.to_owned(), reason: "planned, before".to_owned() });
        }
        self.values.remove(key);
        self.n_deletes += 1;
        Ok(())
    }

    /// I8: a head names only what was put before it, through all pages.
    fn check_named(&self, head: &Head) {
        let check = |key: &str| assert!(self.values.contains_key(key), "I8: the head names {key}, which was not put");
        head.keys().for_each(check);
        let mut next = head.history.clone();
        while let Some(key) = next {
            // Where the past is not kept for ever, it ends somewhere.
            let Some(page) = self.values.get(&key) else {
                return;
            };
            let page: Page = serde_json::from_str(&page[0]).expect("a page is JSON");
            page.segments.iter().for_each(|segment| check(&segment.key));
            page.snapshot.iter().flat_map(|snapshot| &snapshot.parts).for_each(|key| check(key));
            if !self.has_end {
                page.previous.iter().for_each(|key| check(key));
                page.milestones.iter().for_each(|milestone| check(&milestone.page));
            }
            next = page.previous;
        }
    }

    fn get(&mut self, key: &str) -> Result<Option<String>, Fault> {
        self.n_reads += 1;
        self.left = self.left.checked_sub(1).expect("the invocation has as many calls as the platform allows");
        if self.random.percent(self.weather.fail_read) {
            return Err(Fault::Kv { key: key.to_owned(), reason: "planned".to_owned() });
        }
        let Some(values) = self.values.get(key) else { return Ok(None) };
        if self.random.percent(self.weather.stale_read) {
            let at = usize::try_from(self.random.below(values.len() as u64 + 1)).expect("small");
            return Ok(at.checked_sub(1).map(|at| values[at].clone()));
        }
        Ok(values.last().cloned())
    }
}

impl Inner {
    /// A list shows a key late now and then.
    fn list(&mut self, start: &str, cursor: Option<&str>, count: usize) -> Result<Listed, Fault> {
        self.left = self.left.checked_sub(1).expect("the invocation has as many calls as the platform allows");
        if self.random.percent(self.weather.fail_read) {
            return Err(Fault::Kv { key: start.to_owned(), reason: "planned".to_owned() });
        }
        let after = |key: &&String| key.starts_with(start) && cursor.is_none_or(|cursor| key.as_str() > cursor);
        let all: Vec<String> = self.values.keys().filter(after).cloned().collect();
        let cursor = if all.len() > count { all.get(count - 1).cloned() } else { None };
        let stale = self.weather.stale_read;
        let keys = all.into_iter().take(count).filter(|_| !self.random.percent(stale)).collect();
        Ok(Listed { keys, cursor })
    }
}

impl KvStore for Air {
    async fn get(&self, key: &str) -> Result<Option<String>, Fault> {
        Pause::default().await;
        self.0.borrow_mut().get(key)
    }

    async fn put(&self, key: &str, value: &str) -> Result<(), Fault> {
        Pause::default().await;
        self.0.borrow_mut().put(key, value)
    }

    async fn delete(&self, key: &str) -> Result<(), Fault> {
        Pause::default().await;
        self.0.borrow_mut().delete(key)
    }

    async fn list(&self, start: &str, cursor: Option<&str>, count: usize) -> Result<Listed, Fault> {
        Pause::default().await;
        self.0.borrow_mut().list(start, cursor, count)
    }
}

/// Gives way once.
#[derive(Default)]
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs a future to its end; `between` is called whenever it gives way, and drops it by answering false.
pub(crate) fn drive<T>(future: impl Future<Output = T>, mut between: impl FnMut() -> bool) -> Option<T> {
    let mut future = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        if !between() {
            return None;
        }
    }
}

/// Runs a future to its end.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    drive(future, || true).expect("it is not dropped")
}
