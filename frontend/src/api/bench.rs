//! The planner's engine, in a Web Worker. Nothing here blocks the page.

use js_sys::Array;
use js_sys::Object;
use js_sys::Reflect;
use planner::page::message::Ask;
use planner::page::message::Tell;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;

use crate::api::browser;
use crate::api::key;

/// Where the worker's script is.
const SCRIPT: &str = "/workbench/worker.js";

/// The worker.
pub(crate) struct Bench {
    worker: web_sys::Worker,
    // It listens as long as it is kept.
    _hear: Closure<dyn FnMut(web_sys::MessageEvent)>,
    _fail: Closure<dyn FnMut(web_sys::Event)>,
}

impl Bench {
    /// Starts the worker. `hear` is told what comes; a file that comes is saved; a worker that does not run at all says so to `fail`.
    pub(crate) fn start(hear: impl Fn(Vec<Tell>) + 'static, fail: impl Fn(String) + 'static) -> Option<Self> {
        let options = web_sys::WorkerOptions::new();
        options.set_type(web_sys::WorkerType::Module);
        let worker = web_sys::Worker::new_with_options(SCRIPT, &options).ok()?;
        let on_message = Closure::new(move |event: web_sys::MessageEvent| {
            if let Some(file) = event.data().dyn_ref::<web_sys::Blob>() {
                browser::save("plan.json", file);
                return;
            }
            let text = event.data().as_string().unwrap_or_default();
            // The worker is of the same build; what cannot be read came from somewhere else.
            if let Ok(tells) = serde_json::from_str(&text) {
                hear(tells);
            }
        });
        let on_error = Closure::new(move |event: web_sys::Event| {
            event.prevent_default();
            fail("The planner's engine cannot be started; the browser may not allow WebAssembly or workers here. The other pages work without it.".to_owned());
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Some(Self { worker, _hear: on_message, _fail: on_error })
    }

    /// Asks for something, with what it is about.
    pub(crate) fn ask(&self, plan: u32, ask: &Ask, files: &Array) {
        let message = Object::new();
        let text = serde_json::to_string(ask).unwrap_or_default();
        let key = key::get().map_or(JsValue::UNDEFINED, |key| JsValue::from_str(&key));
        let ask = JsValue::from_str(&text);
        for (name, value) in [("plan", plan.into()), ("ask", ask), ("files", files.into()), ("key", key)] {
            // Setting a member of a fresh object cannot fail.
            let _ = Reflect::set(&message, &name.into(), &value);
        }
        // What is sent is text and files, which can always be sent.
        let _ = self.worker.post_message(&message);
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}

/// Something that the service has, as the worker fetches it.
pub(crate) fn remote(url: &str) -> Array {
    Array::of1(&JsValue::from_str(url))
}
