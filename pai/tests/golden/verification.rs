//! Requests as they were sent, and the checks that have nothing to do with their bytes.

use engine::unit::time::Millis;
use engine::unit::time::Timestamp;
use pai::calendar;
use pai::key::Accepted;
use pai::key::Secret;
use pai::nonce::Nonce;
use pai::problem::Problem;
use pai::signature::Credential;
use pai::signature::Refused;
use pai::signature::SKEW_MAX;
use pai::signature::credential;

use crate::wire;
use crate::wire::Wire;

/// The date that the request says.
pub(crate) fn date(wire: &Wire) -> Timestamp {
    calendar::read(wire.header("x-acs-date")).unwrap_or_default()
}

/// The recorded key, with the token that goes with it where the request has one.
fn recorded(wire: &Wire) -> Accepted {
    let is_temporary = !wire.header("x-acs-security-token").is_empty();
    Accepted { secret: Secret::new("testsecret"), security_token: is_temporary.then(|| Secret::new("teststs")) }
}

fn verify_with(wire: &Wire, accepted: &[Accepted], now: Timestamp) -> Result<Nonce, Refused> {
    match credential(&wire.request())? {
        Credential::Signed(signed) => {
            assert_eq!(signed.key_id(), "testid");
            signed.verify(accepted, now)
        }
        Credential::Bearer(token) => panic!("{} carries the token {token}", wire.name),
    }
}

pub(crate) fn verify_at(wire: &Wire, now: Timestamp) -> Result<Nonce, Refused> {
    verify_with(wire, &[recorded(wire)], now)
}

fn refusal(wire: &Wire) -> String {
    let problem = Problem::from(verify_at(wire, date(wire)).unwrap_err());
    assert!((400..500).contains(&problem.status) && !problem.message.is_empty());
    problem.code.into_owned()
}

#[test]
fn every_recorded_signature_is_accepted() {
    for wire in wire::signed() {
        assert!(verify_at(&wire, date(&wire)).is_ok(), "{}: {:?}", wire.name, verify_at(&wire, date(&wire)));
    }
}

#[test]
fn the_tampered_recording_is_refused() {
    assert_eq!(refusal(&wire::named("tampered_seed004_CreateJob_discount")), "InvalidContentSha256");
}

#[test]
fn other_algorithms_are_refused_by_name() {
    for (file, name) in [("auth_acs4_ListJobs", "ACS4-HMAC-SHA256"), ("auth_legacy_roa_v2_ListJobs", "acs")] {
        let refused = credential(&wire::named(file).request()).unwrap_err();
        assert_eq!(refused, Refused::Algorithm { name: name.to_owned() });
        assert!(refused.to_string().contains(name));
    }
}

#[test]
fn a_bearer_token_is_handed_out() {
    let token = |wire: &Wire| match credential(&wire.request()) {
        Ok(Credential::Bearer(token)) => Ok(token.to_owned()),
        Ok(Credential::Signed(_)) => panic!("it is not signed"),
        Err(refused) => Err(refused),
    };
    let mut wire = wire::named("auth_bearer_ListJobs");
    assert_eq!(token(&wire), Ok("testbearer".to_owned()));
    wire.headers.push(("Authorization".to_owned(), "Bearer testbearer".to_owned()));
    assert_eq!(token(&wire), Ok("testbearer".to_owned()));
    let signed = wire::named("dlc_StopJob");
    for other in ["Bearer other", signed.header("authorization")] {
        wire.headers.last_mut().unwrap().1 = other.to_owned();
        assert_eq!(token(&wire), Err(Refused::TwoCredentials), "{other}");
    }
    wire.headers.retain(|(name, _)| name != "Authorization" && name != "x-acs-bearer-token");
    assert_eq!(token(&wire), Err(Refused::Anonymous));
    wire.headers.push(("authorization".to_owned(), "Bearer alone".to_owned()));
    assert_eq!(token(&wire), Ok("alone".to_owned()));
}

#[test]
fn a_date_may_be_a_quarter_of_an_hour_off_and_no_more() {
    let wire = wire::named("dlc_StopJob");
    let date = date(&wire);
    for now in [date + SKEW_MAX, date - SKEW_MAX] {
        assert!(verify_at(&wire, now).is_ok());
    }
    for now in [date + SKEW_MAX + Millis(1), date - SKEW_MAX - Millis(1)] {
        assert_eq!(verify_at(&wire, now), Err(Refused::Stale { date, now }));
    }
}

#[test]
fn either_of_two_secrets_serves_and_no_other() {
    let wire = wire::named("dlc_StopJob");
    let accepted = |secret| Accepted { secret: Secret::new(secret), security_token: None };
    let (right, wrong) = (accepted("testsecret"), accepted("testsecreT"));
    assert!(verify_with(&wire, &[wrong.clone(), right.clone()], date(&wire)).is_ok());
    assert!(verify_with(&wire, &[right, wrong.clone()], date(&wire)).is_ok());
    let refused = verify_with(&wire, &[wrong], date(&wire)).unwrap_err();
    assert!(matches!(refused, Refused::Mismatch { .. }), "{refused:?}");
}

#[test]
fn a_key_without_secrets_does_not_exist() {
    let wire = wire::named("dlc_StopJob");
    assert_eq!(verify_with(&wire, &[], date(&wire)), Err(Refused::UnknownKey { key: "testid".to_owned() }));
}

#[test]
fn a_security_token_must_be_that_of_the_key() {
    let with = |wire: &Wire, token: Option<&str>| {
        let accepted = Accepted { secret: Secret::new("testsecret"), security_token: token.map(Secret::new) };
        verify_with(wire, &[accepted], date(wire)).map(|_| ())
    };
    let (temporary, permanent) = (wire::named("auth_sts_ListJobs"), wire::named("dlc_StopJob"));
    assert_eq!(with(&temporary, Some("teststs")), Ok(()));
    assert_eq!(with(&temporary, Some("teststt")), Err(Refused::SecurityToken));
    assert_eq!(with(&temporary, None), Err(Refused::SecurityToken));
    assert_eq!(with(&permanent, Some("teststs")), Err(Refused::SecurityToken));
}
