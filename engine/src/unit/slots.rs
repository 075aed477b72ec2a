//! Numbered values, and a draft over them: reads go to the base until something is changed.
//!
//! A round tries many things before it decides one. It works on drafts, so that it never has to undo, and pays
//! only for what it touches.

use crate::unit::ordered::Map;

/// Values that are found by their number and can be changed.
pub trait Slots<T> {
    /// The value at `at`.
    fn get(&self, at: usize) -> &T;
    /// The value at `at`, to change it.
    fn get_mut(&mut self, at: usize) -> &mut T;
}

impl<T> Slots<T> for Vec<T> {
    fn get(&self, at: usize) -> &T {
        &self[at]
    }

    fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self[at]
    }
}

/// Changes over a list, or over another draft, that stays as it is.
#[derive(Debug)]
pub struct Draft<'base, T> {
    base: Base<'base, T>,
    /// Boxed, since a map makes room for several entries at once and moves them to keep their order.
    changed: Map<usize, Box<T>>,
}

#[derive(Debug)]
enum Base<'base, T> {
    List(&'base [T]),
    Draft(&'base Draft<'base, T>),
}

impl<'base, T> Draft<'base, T> {
    /// A draft without changes.
    #[must_use]
    pub fn over(base: &'base [T]) -> Self {
        Self { base: Base::List(base), changed: Map::new() }
    }

    /// A further draft without changes of its own; it costs nothing.
    #[must_use]
    pub fn fork(&'base self) -> Self {
        // A draft that has changed nothing is passed over, so that chains stay short.
        match (&self.base, self.changed.is_empty()) {
            (Base::List(list), true) => Self::over(list),
            (Base::Draft(base), true) => Self { base: Base::Draft(base), changed: Map::new() },
            (Base::List(_) | Base::Draft(_), false) => Self { base: Base::Draft(self), changed: Map::new() },
        }
    }

    /// This draft, the one that it continues, and so on.
    fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |draft| match &draft.base {
            Base::List(_) => None,
            Base::Draft(base) => Some(base),
        })
    }

    /// The numbers and values that differ from the list, or may.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &T)> {
        self.layers().enumerate().flat_map(move |(depth, draft)| {
            let is_newest =
                move |at: usize| depth == 0 || self.layers().take(depth).all(|newer| !newer.changed.contains_key(&at));
            draft.changed.iter().map(|(at, value)| (*at, &**value)).filter(move |(at, _)| is_newest(*at))
        })
    }

    /// Whether the value at `at` may differ from the list.
    #[must_use]
    pub fn is_changed(&self, at: usize) -> bool {
        let is_here = !self.changed.is_empty() && self.changed.contains_key(&at);
        is_here || matches!(&self.base, Base::Draft(base) if base.is_changed(at))
    }

    fn read(&self, at: usize) -> &T {
        if let Some(value) = (!self.changed.is_empty()).then(|| self.changed.get(&at)).flatten() {
            return value;
        }
        match &self.base {
            Base::List(list) => &list[at],
            Base::Draft(base) => base.read(at),
        }
    }
}

impl<T: Clone> Slots<T> for Draft<'_, T> {
    fn get(&self, at: usize) -> &T {
        self.read(at)
    }

    fn get_mut(&mut self, at: usize) -> &mut T {
        let Self { base, changed } = self;
        changed.or_insert_with(at, || match base {
            Base::List(list) => Box::new(list[at].clone()),
            Base::Draft(base) => Box::new(base.read(at).clone()),
        })
    }
}
