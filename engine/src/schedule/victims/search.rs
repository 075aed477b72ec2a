//! The cheapest set of what may be taken (rules 5.4): the one search for the victims of a job, of a scale
//! and of ended loans, and for whoever loses instances of the market.
//!
//! What a set has to do is not known here: somebody keeps books of what is taken, and says when it is enough
//! ([`Books`]). What is enough stays enough when more is taken.
//!
//! First the documented heuristic: things are taken in the order of their cost until they are enough, and then spared
//! from the most valuable on while they still are. Nothing more valuable than the last one taken is ever needed.
//!
//! Then the exact search, class by class from the most valuable that was used: among the subsets of the class which
//! suffice when everything less valuable is taken as well, the cheapest. What frees the same is interchangeable but
//! for its cost, so only how many of it are taken is searched. On nodes the cheapest are found node by node. Comparing
//! classes in this order is comparing whole sets, since costs compare class by class. A step budget bounds it; when it
//! is used up, the best set found so far stands, which is never worse than the heuristic's.

use std::cmp::Ordering;

use crate::schedule::victims::cost::Cost;
use crate::schedule::victims::cost::ValueClass;
use crate::schedule::victims::cost::Worth;
use crate::unit::id::JobNo;
use crate::unit::ordered::Set;
use crate::unit::sort;

/// Subsets that the exact search looks at in one class, at most.
pub const STEPS_MAX: u32 = 20_000;

/// Up to so many in one class on nodes every subset is looked at, since each stands for itself: looking at one means
/// looking at its machines. In pools there is no such limit.
pub const EXACT_ON_NODES_MAX: usize = 12;

/// Sets in which a gang of several roles is packed anew when everything together did not let it in, at most.
pub const PACKINGS_MAX: u32 = 32;

/// Something that may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Whose it is.
    pub job: JobNo,
    /// The position of an extra pod, which goes with its gang in any case; nothing for the gang.
    pub pod: Option<u32>,
    /// Its class of value.
    pub class: ValueClass,
    /// Its place in the class.
    pub worth: Worth<'a>,
}

/// What is freed by what is taken. Items are named by their positions.
pub trait Books {
    /// Takes one that is not taken.
    fn take(&mut self, at: usize);
    /// Spares one that is taken.
    fn spare(&mut self, at: usize);
    /// Whether what is taken is enough.
    fn is_enough(&self) -> bool;
    /// Whether amounts are enough and only how pods are packed stands in the way, which proves nothing.
    fn is_only_unpacked(&self) -> bool;
    /// How many of these, none of which is taken, it takes at least until it is enough.
    fn least(&self, among: &[usize]) -> usize;
    /// Orders two by what they free: equals are interchangeable but for their cost.
    fn by_freed(&self, a: usize, b: usize) -> Ordering;
    /// Whether it matters where something is freed.
    fn are_on_nodes(&self) -> bool {
        false
    }
    /// The cheapest of a class, none of which is taken, as far as node by node tells: no dearer than what is known.
    fn cheapest_by_node(&self, _open: &[usize], _known: &[usize]) -> Option<ByNode> {
        None
    }
}

/// What is chosen node by node. Whether it is enough has to be asked.
#[derive(Clone, Debug)]
pub struct ByNode {
    /// Who is taken.
    pub choice: Vec<usize>,
    /// Whether nothing cheaper is enough.
    pub is_cheapest: bool,
}

/// Why nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// Everything together is not enough.
    TooFew,
    /// The budget ended the search.
    NotInTime {
        /// After so many steps.
        steps: u32,
    },
}

/// The cheapest of these that are enough, as a mark for each. They come with the least valuable first, and `books` with
/// nothing taken; what is taken there in the end is what was found.
pub fn cheapest(items: &[Item<'_>], books: &mut dyn Books) -> Result<Vec<bool>, NotFound> {
    let mut search = Search { items, books, taken: vec![false; items.len()], is_spared: true };
    search.take_until_enough()?;
    search.improve();
    Ok(search.taken)
}

struct Search<'s, 'a> {
    items: &'s [Item<'a>],
    books: &'s mut dyn Books,
    taken: Vec<bool>,
    /// Whether what is taken is still what the heuristic left.
    is_spared: bool,
}

impl Search<'_, '_> {
    fn set(&mut self, at: usize, is_taken: bool) {
        if self.taken[at] != is_taken {
            self.taken[at] = is_taken;
            if is_taken {
                self.books.take(at);
            } else {
                self.books.spare(at);
            }
        }
    }

    /// Takes in the order of cost until it is enough, then spares from the most valuable on, whole jobs before pods.
    fn take_until_enough(&mut self) -> Result<(), NotFound> {
        let mut is_enough = self.books.is_enough();
        for at in 0..self.items.len() {
            if is_enough {
                break;
            }
            self.set(at, true);
            is_enough = self.books.is_enough();
        }
        if !is_enough {
            self.pack_again()?;
        }
        let bound = self.bound();
        for at in 0..self.items.len() {
            if bound.contains(&self.items[at]) {
                self.set(at, true);
            }
        }
        self.spare(|item| item.pod.is_none());
        self.spare(|item| item.pod.is_some());
        Ok(())
    }

    fn spare(&mut self, is_meant: impl Fn(&Item<'_>) -> bool) {
        let bound = self.bound();
        let is_open = |at: &usize| {
            let item = &self.items[*at];
            self.taken[*at] && is_meant(item) && !bound.contains(item)
        };
        let meant: Vec<usize> = (0..self.items.len()).filter(is_open).collect();
        self.spare_each(&meant);
    }

    /// Of a list of taken candidates, spares as many as can be while it stays enough, the most valuable first.
    fn spare_each(&mut self, list: &[usize]) {
        for at in list.iter().rev() {
            self.set(*at, false);
            if !self.books.is_enough() {
                self.set(*at, true);
            }
        }
    }

    /// Everything is taken, and the pods were not packed. Other sets may let them in: less room is packed otherwise.
    fn pack_again(&mut self) -> Result<(), NotFound> {
        if !self.books.is_only_unpacked() {
            return Err(NotFound::TooFew);
        }
        let mut steps = 0;
        if self.pack_without(self.items.len(), &mut steps) {
            return Ok(());
        }
        Err(if steps < PACKINGS_MAX { NotFound::TooFew } else { NotFound::NotInTime { steps } })
    }

    /// Whether the pods are packed when some of those before `end` are spared, too; these are spared then.
    fn pack_without(&mut self, end: usize, steps: &mut u32) -> bool {
        for at in (0..end).rev() {
            if *steps == PACKINGS_MAX {
                return false;
            }
            *steps += 1;
            self.set(at, false);
            let is_open = self.books.is_enough() || (self.books.is_only_unpacked() && self.pack_without(at, steps));
            if is_open {
                return true;
            }
            self.set(at, true);
        }
        false
    }

    /// Jobs whose gang is taken: their extra pods are bound to go with it.
    fn bound(&self) -> Bound {
        if self.items.iter().all(|item| item.pod.is_none()) {
            return Bound(Set::new());
        }
        let gangs = self.items.iter().zip(&self.taken).filter(|(item, is_taken)| **is_taken && item.pod.is_none());
        Bound(gangs.map(|(item, _)| item.job).collect())
    }

    /// Replaces the choice in each class by the cheapest one.
    fn improve(&mut self) {
        let Some(top) = (0..self.items.len()).rev().find(|&at| self.taken[at]) else { return };
        let mut end = self.items.partition_point(|item| item.class <= self.items[top].class);
        while end > 0 {
            // Items are in the order of the classes: this one is start..end.
            let start = self.items.partition_point(|item| item.class < self.items[end - 1].class);
            self.improve_class(start, end);
            end = start;
        }
    }

    fn improve_class(&mut self, start: usize, end: usize) {
        let bound = self.bound();
        let (tied, open): (Vec<usize>, Vec<usize>) = (start..end).partition(|&at| bound.contains(&self.items[at]));
        for at in tied {
            self.set(at, true);
        }
        let current: Vec<usize> = open.iter().copied().filter(|&at| self.taken[at]).collect();
        if current.is_empty() {
            return;
        }
        // Nobody of those who are left by the heuristic can be spared, and there is nobody to put in their place.
        let is_all = current.len() == open.len() && self.taken[..start].iter().all(|is_taken| *is_taken);
        // The same if it is the first one alone: all below were taken when it could not be spared.
        if (is_all || current == open[..1]) && self.is_spared {
            return;
        }
        let below: Vec<bool> = self.taken[..start].to_vec();
        for at in 0..start {
            self.set(at, true);
        }
        let is_plain = self.are_cheapest(&open, &current);
        let best = if is_plain { current.clone() } else { self.cheapest_of(&open, &current) };
        let is_better = best != current;
        self.is_spared &= !is_better;
        for at in open {
            self.set(at, best.contains(&at));
        }
        // A cheaper choice here may need other ones below; those are searched next, with everything at hand.
        for at in (0..start).filter(|&at| !is_better && !below[at]) {
            self.set(at, false);
        }
    }

    /// The cheapest of a class, with everything below it taken: on nodes as node by node tells, otherwise by looking at
    /// every subset. Where both do not serve, what cannot be spared of the choice.
    fn cheapest_of(&mut self, open: &[usize], choice: &[usize]) -> Vec<usize> {
        let (mut known, mut are_all_tried) = (choice.to_vec(), true);
        if self.books.are_on_nodes() {
            are_all_tried = open.len() <= EXACT_ON_NODES_MAX;
            if !are_all_tried {
                known = self.without_spared(choice);
            }
            self.set_all(open, false);
            if let Some(ByNode { choice, is_cheapest }) = self.books.cheapest_by_node(open, &known) {
                self.set_all(&choice, true);
                if self.books.is_enough() {
                    known = choice;
                    are_all_tried &= !is_cheapest;
                }
            }
        }
        if !are_all_tried {
            return known;
        }
        self.set_all(open, true);
        Choice::cheapest(self.items, self.books, open, &known)
    }

    /// What is left of a choice when all are spared who can be, the most valuable first.
    fn without_spared(&mut self, choice: &[usize]) -> Vec<usize> {
        self.set_all(choice, true);
        self.spare_each(choice);
        choice.iter().copied().filter(|at| self.taken[*at]).collect()
    }

    fn set_all(&mut self, list: &[usize], is_taken: bool) {
        for at in list {
            self.set(*at, is_taken);
        }
    }

    /// Whether a choice is plainly the cheapest: the first in the order of cost, and no smaller number is ever enough.
    fn are_cheapest(&mut self, open: &[usize], choice: &[usize]) -> bool {
        if !open.starts_with(choice) {
            return false;
        }
        for at in choice {
            self.set(*at, false);
        }
        self.books.least(open) >= choice.len()
    }
}

/// Jobs whose gang goes.
struct Bound(Set<JobNo>);

impl Bound {
    fn contains(&self, item: &Item<'_>) -> bool {
        item.pod.is_some() && self.0.contains(&item.job)
    }
}

/// Members of a class that free the same, the cheapest first.
type Equals = Vec<usize>;

/// The search within one class.
struct Choice<'s, 'a> {
    items: &'s [Item<'a>],
    books: &'s mut dyn Books,
    kinds: Vec<Equals>,
    chosen: Vec<usize>,
    steps: u32,
    best: (Cost, Vec<usize>),
}

impl<'s, 'a> Choice<'s, 'a> {
    /// The cheapest sufficient subset of `open`, all of which are taken now and in the end.
    fn cheapest(items: &'s [Item<'a>], books: &'s mut dyn Books, open: &[usize], current: &[usize]) -> Vec<usize> {
        let mut by_freed = open.to_vec();
        sort::by(&mut by_freed, |&a, &b| books.by_freed(a, b).then(a.cmp(&b)));
        let kinds = by_freed.chunk_by(|&a, &b| books.by_freed(a, b).is_eq());
        let mut kinds: Vec<Equals> = kinds.map(<[usize]>::to_vec).collect();
        sort::by_key(&mut kinds, |kind| kind[0]);
        let best = (cost(items, current), current.to_vec());
        let mut choice = Self { items, books, kinds, chosen: Vec::new(), steps: 0, best };
        choice.descend(0, Cost::default());
        choice.best.1
    }

    /// Decides how many of a kind are taken, from none on; what is not decided yet counts as taken.
    fn descend(&mut self, kind: usize, so_far: Cost) {
        self.steps += 1;
        if self.steps > STEPS_MAX || so_far > self.best.0 || !self.books.is_enough() {
            return;
        }
        let Some(n_members) = self.kinds.get(kind).map(Vec::len) else {
            if so_far < self.best.0 || is_first(self.items, &self.chosen, &self.best.1) {
                self.best = (so_far, self.chosen.clone());
            }
            return;
        };
        for at in 0..n_members {
            self.books.spare(self.kinds[kind][at]);
        }
        self.descend(kind + 1, so_far);
        let mut taken = 0;
        let mut cost = so_far;
        while taken < n_members && cost <= self.best.0 {
            let member = self.kinds[kind][taken];
            self.books.take(member);
            self.chosen.push(member);
            cost = cost.and(self.items[member].worth.lost);
            taken += 1;
            self.descend(kind + 1, cost);
        }
        for at in taken..n_members {
            self.books.take(self.kinds[kind][at]);
        }
        self.chosen.truncate(self.chosen.len() - taken);
    }
}

fn cost(items: &[Item<'_>], choice: &[usize]) -> Cost {
    choice.iter().fold(Cost::default(), |cost, &at| cost.and(items[at].worth.lost))
}

/// Among choices of equal cost: whether this one takes who started later, then by name.
fn is_first(items: &[Item<'_>], choice: &[usize], other: &[usize]) -> bool {
    let turns = |choice: &[usize]| Worth::turns(choice.iter().map(|&at| items[at].worth));
    turns(choice) < turns(other)
}
