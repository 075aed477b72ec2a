//! When agents were last heard, as far as that is known: by what they have asked since this memory is there, and by their
//! sockets, which the runtime answers while the object sleeps.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::unit::time::Timestamp;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use worker::State;
use worker::WebSocket;
use worker::js_sys::Date;
use worker::js_sys::Function;
use worker::js_sys::Reflect;
use worker::web_sys;
use worker::worker_sys::DurableObjectState;

/// What is known of it.
pub(super) struct Heard {
    /// The runtime's own state of the object: the bindings do not have all that it answers.
    runtime: JsValue,
    asked: RefCell<BTreeMap<String, Timestamp>>,
}

impl Heard {
    /// Knows of nobody yet; the state comes back as it was.
    pub(super) fn new(state: State) -> (State, Self) {
        let runtime: DurableObjectState = state._inner();
        let heard = Self { runtime: JsValue::from(runtime.clone()), asked: RefCell::default() };
        (State::from(runtime), heard)
    }

    /// An agent has asked for something.
    pub(super) fn note(&self, agent: &str, now: Timestamp) {
        self.asked.borrow_mut().insert(agent.to_owned(), now);
    }

    /// When an agent was last heard that has these sockets.
    pub(super) fn last(&self, agent: &str, sockets: &[WebSocket]) -> Option<Timestamp> {
        let asked = self.asked.borrow().get(agent).copied();
        sockets.iter().filter_map(|socket| self.answered(socket)).chain(asked).max()
    }

    /// When the runtime last answered on a socket by itself.
    fn answered(&self, socket: &WebSocket) -> Option<Timestamp> {
        let name = JsValue::from_str("getWebSocketAutoResponseTimestamp");
        let ask: Function = Reflect::get(&self.runtime, &name).ok()?.dyn_into().ok()?;
        let socket: &web_sys::WebSocket = socket.as_ref();
        let at: Date = ask.call1(&self.runtime, socket).ok()?.dyn_into().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds has no gaps for a long while")]
        Some(Timestamp(at.get_time() as i64))
    }
}
