//! What is asked of the browser itself: the clock, random names, the clipboard, the address.

use engine::unit::time::Timestamp;
use wasm_bindgen::JsCast;

/// Now, by this computer's clock.
pub(crate) fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 are far below 2^53")]
    let ms = js_sys::Date::now() as i64;
    Timestamp(ms)
}

/// A name that nobody else chooses.
pub(crate) fn unique(prefix: &str) -> String {
    format!("{prefix}-{}", random::<8>())
}

/// A short name that is not taken yet, most likely: whoever submits it is told if it is.
pub(crate) fn unique_enough(prefix: &str) -> String {
    format!("{prefix}-{}", random::<3>())
}

fn random<const BYTES: usize>() -> String {
    let mut bytes = [0u8; BYTES];
    let crypto = web_sys::window().and_then(|window| window.crypto().ok());
    if crypto.and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).ok()).is_none() {
        // Without a source of randomness the clock has to do.
        bytes.iter_mut().zip(now().0.to_le_bytes()).for_each(|(byte, tick)| *byte = tick);
    }
    bytes.iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"))
}

/// Whether the browser believes that there is a network.
pub(crate) fn is_online() -> bool {
    web_sys::window().is_none_or(|window| window.navigator().on_line())
}

/// Whether nobody sees the page, since it is in the background.
pub(crate) fn is_hidden() -> bool {
    let document = web_sys::window().and_then(|window| window.document());
    document.is_some_and(|document| document.hidden())
}

/// Loads the console anew.
pub(crate) fn reload() {
    if let Some(window) = web_sys::window() {
        // A browser that refuses shows the page as it is.
        let _ = window.location().reload();
    }
}

/// Where this page was served from: `https://host`.
pub(crate) fn origin() -> String {
    web_sys::window().and_then(|window| window.location().origin().ok()).unwrap_or_default()
}

/// A value in the address's fragment, such as `#plan=...`.
pub(crate) fn fragment(name: &str) -> Option<String> {
    let hash = web_sys::window()?.location().hash().ok()?;
    hash.strip_prefix('#')?.strip_prefix(name)?.strip_prefix('=').map(str::to_owned)
}

/// Lets the reader save a file under a name.
pub(crate) fn save(name: &str, file: &web_sys::Blob) {
    let Ok(url) = web_sys::Url::create_object_url_with_blob(file) else { return };
    let anchor = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.create_element("a").ok())
        .and_then(|element| element.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    // The browser has begun to save it.
    let _ = web_sys::Url::revoke_object_url(&url);
}

/// Puts text on the clipboard.
pub(crate) async fn copy(text: &str) -> bool {
    let Some(window) = web_sys::window() else { return false };
    wasm_bindgen_futures::JsFuture::from(window.navigator().clipboard().write_text(text)).await.is_ok()
}

/// Takes the element with this id out of the page.
pub(crate) fn remove(id: &str) {
    let document = web_sys::window().and_then(|window| window.document());
    if let Some(element) = document.and_then(|document| document.get_element_by_id(id)) {
        element.remove();
    }
}

/// Gives the element with this id the focus.
pub(crate) fn focus(id: &str) -> bool {
    let element =
        web_sys::window().and_then(|window| window.document()).and_then(|document| document.get_element_by_id(id));
    element
        .and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok())
        .is_some_and(|element| element.focus().is_ok())
}

fn date(at: Timestamp) -> js_sys::Date {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
    js_sys::Date::new(&wasm_bindgen::JsValue::from_f64(at.0 as f64))
}

/// A time of day, as this browser writes it; with the date if it was not today.
pub(crate) fn clock(at: Timestamp) -> String {
    let date = date(at);
    let time = String::from(date.to_locale_time_string("default"));
    if (now() - at).0 < 12 * 3_600_000 {
        time
    } else {
        format!("{} {time}", String::from(date.to_locale_date_string("default", &wasm_bindgen::JsValue::UNDEFINED)))
    }
}

/// A time as addresses have it: `2026-01-31T12:00:00.000Z`.
pub(crate) fn moment(at: Timestamp) -> String {
    date(at).to_iso_string().into()
}

/// A time as fields for times have it: `2026-01-31T12:00:00`, by this computer's clock.
pub(crate) fn local(at: Timestamp) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "minutes of a time zone")]
    let zone = date(at).get_timezone_offset() as i64;
    moment(Timestamp(at.0 - zone * 60_000)).chars().take(19).collect()
}

/// The time that is written so, either way.
pub(crate) fn read_moment(text: &str) -> Option<Timestamp> {
    let ms = js_sys::Date::parse(text);
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds since 1970 are far below 2^53")]
    (!ms.is_nan()).then_some(Timestamp(ms as i64))
}
