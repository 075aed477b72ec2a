//! Values by number, of which few are there: found at once, and without room for all the others.

/// How many numbers lie on a page: few, since a page is gone through for each value that stands alone on it.
const PAGE: usize = 32;

/// A page; nothing is in most of its places.
type Page<T> = Box<[Option<T>; PAGE]>;

/// Values by number.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    /// The number of the first page: where a single number is looked at, there is no list of those before it.
    first: usize,
    pages: Vec<Option<Page<T>>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self { first: 0, pages: Vec::new() }
    }
}

impl<T> Sparse<T> {
    /// The value with this number.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        let page = (at / PAGE).checked_sub(self.first)?;
        self.pages.get(page)?.as_ref()?[at % PAGE].as_ref()
    }

    /// Takes the value with this number away.
    pub fn take(&mut self, at: usize) -> Option<T> {
        let page = (at / PAGE).checked_sub(self.first)?;
        self.pages.get_mut(page)?.as_mut()?[at % PAGE].take()
    }

    /// The place for a value.
    pub fn slot(&mut self, at: usize) -> &mut Option<T> {
        let page = at / PAGE;
        if self.pages.is_empty() {
            self.first = page;
        }
        if let Some(before) = self.first.checked_sub(page).filter(|before| *before > 0) {
            self.pages.splice(0..0, std::iter::repeat_with(|| None).take(before));
            self.first = page;
        }
        let page = page - self.first;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new(std::array::from_fn(|_| None)));
        &mut page[at % PAGE]
    }

    /// The values in the order of their numbers.
    pub fn into_values(self) -> impl Iterator<Item = (usize, T)> {
        let slots = |(page_at, page): (usize, Option<Page<T>>)| {
            let slots = page.into_iter().flat_map(|page| (0..PAGE).zip(*page));
            slots.filter_map(move |(at, slot)| slot.map(|value| (page_at * PAGE + at, value)))
        };
        (self.first..).zip(self.pages).flat_map(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::Sparse;

    #[test]
    fn values_are_found_by_number_and_come_out_in_order() {
        let mut sparse = Sparse::default();
        for at in [1_000, 3, 64, 63] {
            *sparse.slot(at) = Some(at * 2);
        }
        assert_eq!([64, 64, 5_000].map(|at| sparse.take(at)), [Some(128), None, None]);
        assert_eq!([3, 4, 64, 65, 5_000].map(|at| sparse.get(at).copied()), [Some(6), None, None, None, None]);
        assert_eq!(sparse.into_values().collect::<Vec<_>>(), [(3, 6), (63, 126), (1_000, 2_000)]);
    }
}
