//! Whether a token of Cloudflare Access is signed by its team. The runtime has RSA; the bundle need not.
//!
//! The team's public keys are in the variable `ACCESS_KEYS`, as the team publishes them, or else fetched from where it
//! does and kept for an hour, or until a token names one that is not among them.

use std::cell::RefCell;

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::access_token::AccessToken;
use serde_json::Value;
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
/// How soon keys are fetched again when a token names another one: the team changes them now and then.
const KEPT_WITHOUT: Millis = Millis::MINUTE;
const ALGORITHM: &str = r#"{"name":"RSASSA-PKCS1-v1_5","hash":"SHA-256"}"#;

thread_local! {
    /// The keys that were fetched last, with their address and time. Only a cache.
    static FETCHED: RefCell<Option<(String, Timestamp, String)>> = const { RefCell::new(None) };
}

/// Whether the team's key of that name has signed the token.
pub(crate) async fn has_signed(env: &Env, issuer: &str, token: &AccessToken<'_>) -> Result<bool, Problem> {
    let configured = bindings::variable(env, "ACCESS_KEYS");
    let found = if configured.is_empty() { fetched(issuer, token).await? } else { named(&configured, token)? };
    let Some(key) = found else { return Ok(false) };
    verify(&key, token).await.map_err(|_| damaged())
}

/// The key with which a token says that it is signed, of those that the team publishes.
fn named(keys: &str, token: &AccessToken<'_>) -> Result<Option<String>, Problem> {
    let keys: Value = serde_json::from_str(keys).map_err(|_| damaged())?;
    let named = keys["keys"].as_array().and_then(|keys| keys.iter().find(|key| key["kid"] == token.key_id.as_str()));
    Ok(named.map(Value::to_string))
}

fn damaged() -> Problem {
    Problem::Unavailable("the team's public keys cannot be read".to_owned())
}

/// The key of a token among those that were fetched; one that is not there may be new, and they are fetched again.
async fn fetched(issuer: &str, token: &AccessToken<'_>) -> Result<Option<String>, Problem> {
    let (address, now) = (format!("{issuer}/cdn-cgi/access/certs"), bindings::now());
    let kept = FETCHED.with_borrow(|fetched| fetched.clone().filter(|(from, ..)| *from == address));
    if let Some((_, at, text)) = kept {
        let found = named(&text, token)?;
        let kept_for = if found.is_some() { KEPT } else { KEPT_WITHOUT };
        if now - at < kept_for {
            return Ok(found);
        }
    }
    let text = fetch(&address).await?;
    let found = named(&text, token)?;
    FETCHED.set(Some((address, now, text)));
    Ok(found)
}

async fn fetch(address: &str) -> Result<String, Problem> {
    let url = address.parse().map_err(|_| Problem::Internal("ACCESS_TEAM is no address".to_owned()))?;
    let mut answer = Fetch::Url(url).send().await.map_err(|error| Problem::Unavailable(error.to_string()))?;
    if answer.status_code() != 200 {
        return Err(Problem::Unavailable(format!("the team's public keys: status {}", answer.status_code())));
    }
    Ok(answer.text().await?)
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
