//! What a hand does on a picture of time: it drags, pinches, turns a wheel, clicks twice.

use console_model::section::Section;
use engine::unit::time::Millis;
use leptos::ev::MouseEvent;
use leptos::ev::PointerEvent;
use leptos::ev::WheelEvent;
use leptos::html::Div;
use leptos::prelude::*;

/// What two clicks zoom to, in thousandths.
const CLICKED: i64 = 500;
/// The most that a turn of a wheel zooms by.
const WHEEL_MAX: f64 = 100.0;

/// A finger, or the mouse while its button is held: its number, and where it is.
type Pointer = (i32, i32);

/// The hand on one picture.
#[derive(Clone, Copy)]
pub(crate) struct Gesture {
    /// Whether the picture is held.
    pub(crate) is_held: RwSignal<bool>,
    element: NodeRef<Div>,
    section: Memo<Option<(Section, Millis)>>,
    go: Callback<Section>,
    pointers: StoredValue<Vec<Pointer>>,
    /// Where the pointers were when their number changed last, and what was seen then.
    begun: StoredValue<Option<(Vec<Pointer>, Section)>>,
}

impl Gesture {
    /// Nobody touches it yet.
    pub(crate) fn new(element: NodeRef<Div>, section: Memo<Option<(Section, Millis)>>, go: Callback<Section>) -> Self {
        let (pointers, begun) = (StoredValue::new(Vec::new()), StoredValue::new(None));
        Self { is_held: RwSignal::new(false), element, section, go, pointers, begun }
    }

    /// A pointer comes.
    pub(crate) fn down(&self, event: &PointerEvent) {
        if event.button() != 0 || self.pointers.with_value(Vec::len) >= 2 {
            return;
        }
        if let Some(element) = self.element.get_untracked() {
            // A pointer that has gone meanwhile is not held.
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        self.pointers.update_value(|pointers| pointers.push((event.pointer_id(), event.client_x())));
        self.begin();
    }

    /// A pointer moves.
    pub(crate) fn moves(&self, event: &PointerEvent) {
        let id = event.pointer_id();
        let mut is_known = false;
        self.pointers.update_value(|pointers| {
            for pointer in pointers.iter_mut().filter(|(known, _)| *known == id) {
                (pointer.1, is_known) = (event.client_x(), true);
            }
        });
        let (Some((was, begun)), Some((_, length)), true) =
            (self.begun.get_value(), self.section.get_untracked(), is_known)
        else {
            return;
        };
        let is = self.pointers.get_value();
        let section = match (was.as_slice(), is.as_slice()) {
            ([(_, was)], [(_, is)]) => begun.moved(-self.share(is - was), length),
            ([(_, a), (_, b)], [(_, c), (_, d)]) => {
                let (from, to) = (i64::from((a - b).abs().max(1)), i64::from((c - d).abs().max(1)));
                let moved = self.share((c + d - a - b) / 2);
                begun.zoomed(from * 1000 / to, self.place(a.midpoint(*b)), length).moved(-moved, length)
            }
            _ => return,
        };
        self.go.run(section);
    }

    /// A pointer goes.
    pub(crate) fn up(&self, event: &PointerEvent) {
        let id = event.pointer_id();
        self.pointers.update_value(|pointers| pointers.retain(|(known, _)| *known != id));
        self.begin();
    }

    fn begin(&self) {
        let pointers = self.pointers.get_value();
        self.is_held.set(!pointers.is_empty());
        self.begun.set_value(self.section.get_untracked().map(|(section, _)| (pointers, section)));
    }

    /// Two clicks zoom to where they are.
    pub(crate) fn double(&self, event: &MouseEvent) {
        if let Some((section, length)) = self.section.get_untracked() {
            self.go.run(section.zoomed(CLICKED, self.place(event.client_x()), length));
        }
    }

    /// A wheel zooms with the Ctrl key, as a pinched touchpad says it, and moves to the sides. Otherwise the page scrolls.
    pub(crate) fn wheel(&self, event: &WheelEvent) {
        let Some((section, length)) = self.section.get_untracked() else { return };
        let section = if event.ctrl_key() || event.meta_key() {
            let turned = whole(event.delta_y().clamp(-WHEEL_MAX, WHEEL_MAX));
            let to = if turned < 0 { 1_000_000 / (1000 - 4 * turned) } else { 1000 + 4 * turned };
            section.zoomed(to, self.place(event.client_x()), length)
        } else if event.delta_x().abs() > event.delta_y().abs() {
            let turned = i32::try_from(whole(event.delta_x())).unwrap_or(0);
            section.moved(self.share(turned), length)
        } else {
            return;
        };
        event.prevent_default();
        self.go.run(section);
    }

    /// A distance in thousandths of the picture's width.
    fn share(&self, pixels: i32) -> i64 {
        let width = self.element.get_untracked().map_or(1, |element| element.client_width().max(1));
        i64::from(pixels) * 1000 / i64::from(width)
    }

    /// A place on the screen in thousandths of the picture's width.
    fn place(&self, client_x: i32) -> i64 {
        let left = self.element.get_untracked().map_or(0, |element| whole(element.get_bounding_client_rect().left()));
        self.share(client_x - i32::try_from(left).unwrap_or(0)).clamp(0, 1000)
    }
}

fn whole(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "pixels on a screen")]
    let whole = number as i64;
    whole
}
