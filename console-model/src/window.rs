//! Which rows of a long list are on the screen: only these are in the document.

use std::ops::Range;

/// Rows kept ready above and below what is seen, so that scrolling shows no gap.
const AHEAD: usize = 8;

/// The rows to render for a scroll position.
#[must_use]
pub fn visible(scroll_top: f64, height: f64, row_height: f64, n_rows: usize) -> Range<usize> {
    let first = rows_in(scroll_top.max(0.0), row_height).min(n_rows).saturating_sub(AHEAD);
    let shown = rows_in(height.max(0.0), row_height) + 2 * AHEAD + 1;
    first..(first + shown).min(n_rows)
}

/// The scroll position at which row `at` is seen, if it is not seen now.
#[must_use]
pub fn reveal(at: usize, scroll_top: f64, height: f64, row_height: f64) -> Option<f64> {
    let top = as_pixels(at) * row_height;
    if top < scroll_top {
        return Some(top);
    }
    let bottom = top + row_height;
    (bottom > scroll_top + height).then_some(bottom - height)
}

/// The height of `n_rows` rows.
#[must_use]
pub fn extent(n_rows: usize, row_height: f64) -> f64 {
    as_pixels(n_rows) * row_height
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels on a screen, checked to be positive"
)]
fn rows_in(pixels: f64, row_height: f64) -> usize {
    (pixels / row_height) as usize
}

#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^52")]
fn as_pixels(rows: usize) -> f64 {
    rows as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_screen_starts_at_the_first_row() {
        assert_eq!(visible(0.0, 400.0, 40.0, 100_000), 0..27);
    }

    #[test]
    fn a_short_list_is_rendered_whole() {
        assert_eq!(visible(0.0, 400.0, 40.0, 5), 0..5);
    }

    #[test]
    fn the_end_of_a_long_list_is_not_passed() {
        assert_eq!(visible(3_999_600.0, 400.0, 40.0, 100_000), 99_982..100_000);
    }

    #[test]
    fn a_list_that_became_shorter_renders_its_end() {
        assert_eq!(visible(90_000.0, 400.0, 40.0, 3), 0..3);
    }

    #[test]
    fn a_seen_row_does_not_scroll() {
        assert_eq!(reveal(3, 0.0, 400.0, 40.0), None);
    }

    #[test]
    fn rows_above_and_below_are_brought_to_the_edge() {
        assert_eq!(reveal(0, 80.0, 400.0, 40.0), Some(0.0));
        assert_eq!(reveal(10, 0.0, 400.0, 40.0), Some(40.0));
    }
}
