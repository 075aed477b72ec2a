//! Values by number, of which few are there: found at once, and without room for all the others.

/// How many numbers lie on a page: few, since a page is gone through for each value that stands alone on it.
const PAGE: usize = 16;

/// Values by number.
#[derive(Clone, Debug)]
pub struct Sparse<T>(Vec<Option<Box<[Option<T>; PAGE]>>>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Sparse<T> {
    /// The value with this number.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / PAGE)?.as_ref()?[at % PAGE].as_ref()
    }

    /// The place for a value.
    pub fn slot(&mut self, at: usize) -> &mut Option<T> {
        if self.0.len() <= at / PAGE {
            self.0.resize_with(at / PAGE + 1, || None);
        }
        let page = self.0[at / PAGE].get_or_insert_with(|| Box::new(std::array::from_fn(|_| None)));
        &mut page[at % PAGE]
    }

    /// The values in the order of their numbers.
    pub fn into_values(self) -> impl Iterator<Item = (usize, T)> {
        let slots = |(page_at, page): (usize, Option<Box<[Option<T>; PAGE]>>)| {
            let slots = page.into_iter().flat_map(|page| (0..PAGE).zip(*page));
            slots.filter_map(move |(at, slot)| slot.map(|value| (page_at * PAGE + at, value)))
        };
        self.0.into_iter().enumerate().flat_map(slots)
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
        *sparse.slot(64) = None;
        assert_eq!([3, 4, 64, 65, 5_000].map(|at| sparse.get(at).copied()), [Some(6), None, None, None, None]);
        assert_eq!(sparse.into_values().collect::<Vec<_>>(), [(3, 6), (63, 126), (1_000, 2_000)]);
    }
}
