//! A list of which only the visible rows are in the document, and the place in it that the keyboard is at.

use std::ops::Range;

use leptos::html::Div;
use leptos::prelude::*;

use console_model::window::reveal;
use console_model::window::visible;

/// The scroll position of a list, and its active row.
#[derive(Clone, Copy)]
pub(crate) struct Scroller {
    /// The element that scrolls.
    pub(crate) element: NodeRef<Div>,
    top: RwSignal<f64>,
    height: RwSignal<f64>,
    row_height: f64,
}

impl Scroller {
    /// A list with rows of this height, in pixels.
    pub(crate) fn new(row_height: f64) -> Self {
        let scroller =
            Self { element: NodeRef::new(), top: RwSignal::new(0.0), height: RwSignal::new(800.0), row_height };
        Effect::new(move |_| scroller.measure());
        let resized = window_event_listener(leptos::ev::resize, move |_| scroller.measure());
        on_cleanup(move || resized.remove());
        scroller
    }

    /// Takes up the element's position and height; to be called when it scrolls.
    pub(crate) fn measure(&self) {
        if let Some(element) = self.element.get() {
            self.top.set(f64::from(element.scroll_top()));
            self.height.set(f64::from(element.client_height()));
        }
    }

    /// The rows to render of `n_rows`.
    pub(crate) fn range(&self, n_rows: usize) -> Range<usize> {
        visible(self.top.get(), self.height.get(), self.row_height, n_rows)
    }

    /// How many rows fit.
    pub(crate) fn page(&self) -> usize {
        visible(0.0, self.height.get_untracked(), self.row_height, usize::MAX).len().saturating_sub(18).max(1)
    }

    /// Scrolls until row `at` is seen. The header, as high as a row, stays above the rows.
    pub(crate) fn reveal(&self, at: usize) {
        let Some(element) = self.element.get_untracked() else { return };
        let height = f64::from(element.client_height()) - self.row_height;
        if let Some(top) = reveal(at, f64::from(element.scroll_top()), height, self.row_height) {
            let options = web_sys::ScrollToOptions::new();
            options.set_top(top);
            element.scroll_to_with_scroll_to_options(&options);
            self.measure();
        }
    }
}

/// Whether a key was pressed on something in the list that has keys of its own, such as a link or a button.
pub(crate) fn is_on_control(event: &leptos::ev::KeyboardEvent) -> bool {
    use wasm_bindgen::JsCast;
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.is_some_and(|element| matches!(element.tag_name().as_str(), "A" | "BUTTON" | "INPUT" | "SELECT"))
}
