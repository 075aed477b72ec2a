//! Every recorded request with every single thing in it changed.

use pai::problem::Problem;
use pai::signature::Credential;
use pai::signature::credential;

use crate::verification::date;
use crate::wire;
use crate::wire::Wire;

use pai::key::Accepted;
use pai::key::Secret;

/// The code by which a request is refused at the time that the untouched one says; none if it is accepted.
fn refusal(wire: &Wire, original: &Wire) -> Option<String> {
    let is_temporary = !original.header("x-acs-security-token").is_empty();
    let accepted =
        Accepted { secret: Secret::new("testsecret"), security_token: is_temporary.then(|| Secret::new("teststs")) };
    let outcome = credential(&wire.request()).and_then(|credential| match credential {
        Credential::Signed(signed) if signed.key_id() == "testid" => signed.verify(&[accepted], date(original)),
        Credential::Signed(signed) => signed.verify(&[], date(original)),
        Credential::Bearer(token) => panic!("{token}"),
    });
    outcome.err().map(|refused| Problem::from(refused).code.into_owned())
}

/// Changes each recorded request in each of these ways; all must be refused. Tells how many there were.
fn all_refused(changes: impl Fn(&Wire) -> Vec<Wire>) -> usize {
    let mut count = 0;
    for original in wire::signed() {
        for changed in changes(&original) {
            assert_ne!(changed, original);
            assert!(refusal(&changed, &original).is_some(), "accepted: {changed:#?}");
            count += 1;
        }
    }
    assert!(count > 0);
    count
}

/// The text with one of its characters made another.
fn flips(text: &str) -> Vec<String> {
    let flip = |at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] ^= 1;
        String::from_utf8(bytes).unwrap()
    };
    (0..text.len()).map(flip).collect()
}

/// The recorded request once for each of these targets, bodies or headers.
fn each<T>(original: &Wire, values: Vec<T>, set: impl Fn(&mut Wire, T)) -> Vec<Wire> {
    let changed = |value| {
        let mut wire = original.clone();
        set(&mut wire, value);
        wire
    };
    values.into_iter().map(changed).collect()
}

/// The headers that a signature covers. The type of an empty body says nothing, and asynchronous clients do not sign it.
fn signed_headers(wire: &Wire) -> Vec<usize> {
    let is_signed = |name: &str| {
        let name = name.to_lowercase();
        name.starts_with("x-acs-")
            || ["accept", "authorization", "host", "user-agent"].contains(&name.as_str())
            || (name == "content-type" && !wire.body.is_empty())
    };
    (0..wire.headers.len()).filter(|at| is_signed(&wire.headers[*at].0)).collect()
}

#[test]
fn each_character_of_each_signed_header() {
    let count = all_refused(|original| {
        let headers = signed_headers(original).into_iter();
        headers
            .flat_map(|at| {
                each(original, flips(&original.headers[at].1), move |wire, value| wire.headers[at].1 = value)
            })
            .collect()
    });
    assert!(count > 5_000, "{count}");
}

#[test]
fn each_signed_header_left_out_emptied_doubled_or_renamed() {
    all_refused(|original| {
        let headers = signed_headers(original);
        let mut changed = each(original, headers.clone(), |wire, at| drop(wire.headers.remove(at)));
        changed.extend(each(original, headers.clone(), |wire, at| wire.headers[at].1.clear()));
        changed.extend(each(original, headers.clone(), |wire, at| wire.headers.push(wire.headers[at].clone())));
        changed.extend(each(original, headers, |wire, at| wire.headers[at].0.insert(0, 'y')));
        changed
    });
}

#[test]
fn each_pair_of_values_exchanged() {
    all_refused(|original| {
        let headers = signed_headers(original);
        let pairs = headers.windows(2).map(|pair| (pair[0], pair[1])).collect();
        each(original, pairs, |wire, (a, b)| {
            let value = wire.headers[a].1.clone();
            wire.headers[a].1 = std::mem::replace(&mut wire.headers[b].1, value);
        })
    });
}

#[test]
fn each_byte_of_the_body() {
    let count = all_refused(|original| {
        let mut changed = each(original, (0..original.body.len()).collect(), |wire, at| wire.body[at] ^= 1);
        changed.extend(each(original, vec![b' ', b'{', 0], |wire, byte| wire.body.push(byte)));
        changed
    });
    assert!(count > 500, "{count}");
}

#[test]
fn each_character_of_path_and_query() {
    all_refused(|original| {
        let mut targets = flips(&original.target);
        for end in ["/", "&", "?", "&a=", "&a=b"] {
            targets.push(format!("{}{end}", original.target));
        }
        // An ampersand or question mark that says nothing changes nothing.
        targets.retain(|target| target.trim_end_matches(['&', '?']) != original.target);
        each(original, targets, |wire, target| wire.target = target)
    });
}

#[test]
fn each_parameter_left_out_or_doubled() {
    let with_query = |original: &Wire| {
        let (path, query) = original.target.split_once('?').unwrap_or((&original.target, ""));
        let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
        let mut targets = Vec::new();
        for at in 0..pairs.len() {
            let mut fewer = pairs.clone();
            fewer.remove(at);
            targets.push(format!("{path}?{}", fewer.join("&")));
            targets.push(format!("{path}?{query}&{}", pairs[at]));
        }
        each(original, targets, |wire, target| wire.target = target)
    };
    all_refused(with_query);
}

#[test]
fn the_method() {
    all_refused(|original| {
        let others = ["GET", "POST", "PUT", "DELETE", "get"].into_iter().filter(|method| *method != original.method);
        each(original, others.collect(), |wire, method| method.clone_into(&mut wire.method))
    });
}

#[test]
fn a_header_that_the_signature_does_not_know() {
    all_refused(|original| {
        each(original, vec!["x-acs-anything", "X-Acs-Security-Token", "x-acs-bearer-token"], |wire, name| {
            wire.headers.push((name.to_owned(), "1".to_owned()));
        })
    });
}

#[test]
fn the_order_of_parameters_and_what_nobody_signs_may_differ() {
    let original = wire::named("dlc_ListJobs_query_encoding");
    let (path, query) = original.target.split_once('?').unwrap();
    let mut changed = original.clone();
    let mut pairs: Vec<&str> = query.split('&').collect();
    pairs.reverse();
    changed.target = format!("{path}?{}", pairs.join("&").replace("%C3", "%c3"));
    changed.headers.reverse();
    changed.headers.retain(|(name, _)| name != "Accept-Encoding");
    changed.headers.push(("Accept-Encoding".to_owned(), "br".to_owned()));
    changed.headers.push(("traceparent".to_owned(), "00".to_owned()));
    for (name, value) in &mut changed.headers {
        *name = name.to_uppercase();
        *value = format!(" {value}\t");
    }
    assert_eq!(refusal(&changed, &original), None);
}
