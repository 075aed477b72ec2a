//! Whether a token of Cloudflare Access is signed by its team. The runtime has RSA; the bundle need not.
//!
//! The team's public keys are in the variable `ACCESS_KEYS`, as the team publishes them, or else fetched from where it
//! does and kept for an hour.

use std::cell::RefCell;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::access_token::AccessToken;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use worker::Env;
use worker::Fetch;
use worker::js_sys;
use worker::js_sys::Array;
use worker::js_sys::Function;
use worker::js_sys::JSON;
use worker::js_sys::Promise;
use worker::js_sys::Reflect;
use worker::js_sys::Uint8Array;
use worker::wasm_bindgen_futures::JsFuture;

use crate::answer::Problem;
use crate::bindings;

const KEPT: Millis = Millis::HOUR;
const ALGORITHM: &str = r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-256"}"#;

thread_local! {
    /// The keys that were fetched last, with their address and time. Only a cache.
    static FETCHED: RefCell<Option<(String, Timestamp, String)>> = const { RefCell::new(None) };
}

/// Whether the team's key of that name has signed the token.
pub(crate) async fn has_signed(env: &Env, issuer: &str, token: &AccessToken<'_>) -> Result<bool, Problem> {
    let text = keys(env, issuer).await?;
    let damaged = |_| Problem::Unavailable("the team's public keys cannot be read".to_owned());
    let keys: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| damaged(JsValue::from_str(&error.to_string())))?;
    let named = keys["keys"].as_array().and_then(|keys| keys.iter().find(|key| key["kid"] == token.key_id.as_str()));
    let Some(key) = named else { return Ok(false) };
    verify(&key.to_string(), token).await.map_err(damaged)
}

async fn keys(env: &Env, issuer: &str) -> Result<String, Problem> {
    let configured = bindings::variable(env, "ACCESS_KEYS");
    if !configured.is_empty() {
        return Ok(configured);
    }
    let (address, now) = (format!("{issuer}/cdn-cgi/access/certs"), bindings::now());
    let kept = FETCHED.with_borrow(|fetched| match fetched {
        Some((from, at, text)) if *from == address && now - *at < KEPT => Some(text.clone()),
        Some(_) | None => None,
    });
    if let Some(text) = kept {
        return Ok(text);
    }
    let url = address.parse().map_err(|_| Problem::Internal("ACCESS_TEAM is no address".to_owned()))?;
    let mut answer = Fetch::Url(url).send().await.map_err(|error| Problem::Unavailable(error.to_string()))?;
    if answer.status_code() != 200 {
        return Err(Problem::Unavailable(format!("the team's public keys: status {}", answer.status_code())));
    }
    let text = answer.text().await?;
    FETCHED.set(Some((address, now, text.clone())));
    Ok(text)
}

async fn verify(key: &str, token: &AccessToken<'_>) -> Result<bool, JsValue> {
    let subtle = Reflect::get(&Reflect::get(&js_sys::global(), &"crypto".into())?, &"subtle".into())?;
    let call = |name: &str, arguments: &[JsValue]| {
        let function: Function = Reflect::get(&subtle, &name.into())?.dyn_into()?;
        let arguments: Array = arguments.iter().collect();
        function.apply(&subtle, &arguments)?.dyn_into::<Promise>().map(JsFuture::from)
    };
    let algorithm = JSON::parse(ALGORITHM)?;
    let uses: Array = [JsValue::from("verify")].into_iter().collect();
    let key =
        call("importKey", &["jwk".into(), JSON::parse(key)?, algorithm.clone(), false.into(), uses.into()])?.await?;
    let bytes = |bytes: &[u8]| JsValue::from(Uint8Array::from(bytes));
    let answer = call("verify", &[algorithm, key, bytes(&token.signature), bytes(token.signed.as_bytes())])?.await?;
    Ok(answer.as_bool() == Some(true))
}
