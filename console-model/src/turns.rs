//! Questions of which one is under way at a time: of those that come meanwhile only the last one counts.

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns<T> {
    is_under_way: bool,
    next: Option<T>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { is_under_way: false, next: None }
    }
}

impl<T> Turns<T> {
    /// A question comes; it is given back if it is to be asked now.
    #[must_use]
    pub fn come(&mut self, question: T) -> Option<T> {
        if self.is_under_way {
            self.next = Some(question);
            return None;
        }
        self.is_under_way = true;
        Some(question)
    }

    /// An answer comes; the question that is to be asked now, if there is one.
    #[must_use]
    pub fn answered(&mut self) -> Option<T> {
        let next = self.next.take();
        self.is_under_way = next.is_some();
        next
    }
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn of_many_questions_the_first_and_the_last_are_asked() {
        let mut turns = Turns::default();
        let asked: Vec<i32> = (1..=5).filter_map(|question| turns.come(question)).collect();
        assert_eq!(asked, [1]);
        assert_eq!((turns.answered(), turns.answered()), (Some(5), None));
        assert_eq!(turns.come(6), Some(6));
    }
}
