//! What the holder of a key may not leave open even though the signature is genuine.

use std::fmt::Write;

use hmac::Hmac;
use hmac::Mac;
use pai::key::Accepted;
use pai::key::Secret;
use pai::signature::Credential;
use pai::signature::Refused;
use pai::signature::credential;
use sha2::Digest;
use sha2::Sha256;

use crate::verification::date;
use crate::wire;
use crate::wire::Wire;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Signs a request without parameters over these headers, as somebody would who knows the secret.
fn sign(wire: &mut Wire, signed: &[String]) {
    wire.headers.retain(|(name, _)| name != "Authorization");
    let mut text = format!("{}\n{}\n\n", wire.method, wire.target);
    for name in signed {
        let of_name = wire.headers.iter().filter(|(other, _)| other == name);
        let mut values: Vec<&str> = of_name.map(|(_, value)| value.as_str()).collect();
        values.sort_unstable();
        let _ = writeln!(text, "{name}:{}", values.join(","));
    }
    let names = signed.join(";");
    let _ = write!(text, "\n{names}\n{}", hex(&Sha256::digest(&wire.body)));
    let to_sign = format!("ACS3-HMAC-SHA256\n{}", hex(&Sha256::digest(text)));
    let mut mac = Hmac::<Sha256>::new_from_slice(b"testsecret").unwrap();
    mac.update(to_sign.as_bytes());
    let signature = hex(&mac.finalize().into_bytes());
    let value = format!("ACS3-HMAC-SHA256 Credential=testid,SignedHeaders={names},Signature={signature}");
    wire.headers.push(("Authorization".to_owned(), value));
}

fn verify(wire: &Wire) -> Result<(), Refused> {
    let accepted = Accepted { secret: Secret::new("testsecret"), security_token: None };
    match credential(&wire.request())? {
        Credential::Signed(signed) => signed.verify(&[accepted], date(wire)).map(|_| ()),
        Credential::Bearer(token) => panic!("{token}"),
    }
}

/// The recorded request, and the names that it signs.
fn recorded() -> (Wire, Vec<String>) {
    let wire = wire::named("dlc_StopJob");
    let (_, names) = wire.header("authorization").split_once("SignedHeaders=").unwrap();
    let names = names.split(',').next().unwrap().split(';').map(str::to_owned).collect();
    (wire, names)
}

#[test]
fn the_signature_made_here_is_the_recorded_one() {
    let (original, names) = recorded();
    let mut wire = original.clone();
    sign(&mut wire, &names);
    assert_eq!(wire.header("authorization"), original.header("authorization"));
}

#[test]
fn what_decides_must_be_signed_even_if_it_is_not_sent() {
    let deciding =
        ["host", "x-acs-action", "x-acs-content-sha256", "x-acs-date", "x-acs-signature-nonce", "x-acs-version"];
    for name in deciding {
        let (mut wire, mut names) = recorded();
        names.retain(|other| other != name);
        sign(&mut wire, &names);
        assert_eq!(verify(&wire), Err(Refused::Unsigned { headers: vec![name.to_owned()] }));
        wire.headers.retain(|(other, _)| other != name);
        sign(&mut wire, &names);
        assert_eq!(verify(&wire), Err(Refused::Unsigned { headers: vec![name.to_owned()] }));
    }
}

#[test]
fn what_decides_is_sent_once() {
    for (name, expected) in [("x-acs-action", false), ("host", false), ("user-agent", true)] {
        let (mut wire, names) = recorded();
        wire.headers.push((name.to_owned(), "DeleteJob".to_owned()));
        sign(&mut wire, &names);
        let refused = Refused::Repeated { header: name.to_owned() };
        assert_eq!(verify(&wire), if expected { Ok(()) } else { Err(refused) });
    }
}

#[test]
fn a_signed_header_is_sent() {
    let (mut wire, names) = recorded();
    wire.headers.retain(|(name, _)| name != "accept");
    sign(&mut wire, &names);
    assert_eq!(verify(&wire), Err(Refused::Absent { header: "accept".to_owned() }));
}

#[test]
fn one_request_names_one_key() {
    for (key, expected) in [("testid", Ok(())), ("other", Err(Refused::TwoCredentials))] {
        let (mut wire, mut names) = recorded();
        wire.headers.push(("x-acs-accesskey-id".to_owned(), key.to_owned()));
        names.push("x-acs-accesskey-id".to_owned());
        names.sort();
        sign(&mut wire, &names);
        assert_eq!(verify(&wire), expected);
    }
}

#[test]
fn a_nonce_is_short_and_plain() {
    for (nonce, expected) in
        [("0a", Ok(())), ("", Err(Refused::BadNonce)), ("a b", Err(Refused::BadNonce)), ("é", Err(Refused::BadNonce))]
    {
        let (mut wire, names) = recorded();
        let header = wire.headers.iter_mut().find(|(name, _)| name == "x-acs-signature-nonce").unwrap();
        nonce.clone_into(&mut header.1);
        sign(&mut wire, &names);
        assert_eq!(verify(&wire), expected);
    }
}

#[test]
fn the_type_of_a_body_is_signed_where_there_is_a_body() {
    let (mut wire, names) = recorded();
    wire.headers.push(("Content-Type".to_owned(), "application/octet-stream".to_owned()));
    sign(&mut wire, &names);
    assert_eq!(verify(&wire), Ok(()), "nothing is called by a type that asynchronous clients add unsigned");
    wire.body = b"{}".to_vec();
    let hash = hex(&Sha256::digest(&wire.body));
    let header = wire.headers.iter_mut().find(|(name, _)| name == "x-acs-content-sha256").unwrap();
    header.1.clone_from(&hash);
    sign(&mut wire, &names);
    assert_eq!(verify(&wire), Err(Refused::Unsigned { headers: vec!["content-type".to_owned()] }));
}
