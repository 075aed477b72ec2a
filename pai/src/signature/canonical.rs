//! The text that a signature covers: the request, written in the one way on which both sides agree.

use std::fmt::Write;

use crate::escape;
use crate::request::Query;
use crate::request::Request;

/// The canonical request.
pub(super) fn request(request: &Request, query: &str, signed: &[&str], body_hash: &str) -> String {
    let path = if request.path().is_empty() { "/" } else { request.path() };
    let mut text = format!("{}\n{path}\n{query}\n", request.method);
    for name in signed {
        let mut values: Vec<&str> = request.values(name).collect();
        values.sort_unstable();
        let _ = writeln!(text, "{name}:{}", values.join(","));
    }
    let _ = write!(text, "\n{}\n{body_hash}", signed.join(";"));
    text
}

/// The canonical query as it is documented: names and values escaped, in order.
pub(super) fn query(query: &Query) -> String {
    written(query, escape::encoded)
}

/// The canonical query as the SDKs write it, with bare names; none where that is the same, or where a bare name could
/// be taken for something else than a name.
pub(super) fn sdk_query(query: &Query) -> Option<String> {
    let is_same = query.iter().all(|(name, _)| escape::encoded(name).as_bytes() == name);
    let is_clear = |name: &[u8]| !name.iter().any(|byte| b"&=".contains(byte) || byte.is_ascii_control());
    if is_same || !query.iter().all(|(name, _)| is_clear(name) && str::from_utf8(name).is_ok()) {
        return None;
    }
    Some(written(query, |name| String::from_utf8_lossy(name).into_owned()))
}

fn written(query: &Query, name: impl Fn(&[u8]) -> String) -> String {
    let mut pairs: Vec<&(Vec<u8>, Vec<u8>)> = query.iter().collect();
    pairs.sort();
    let pairs: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{}={}", name(key), escape::encoded(value))).collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::query;
    use super::sdk_query;
    use crate::request::Query;
    use crate::request::Request;

    fn read(raw: &str) -> Query {
        let target = format!("/?{raw}");
        Request { method: "GET", target: &target, headers: &[], body: b"" }.query().unwrap()
    }

    #[test]
    fn a_query_is_sorted_and_escaped_in_one_way() {
        assert_eq!(query(&read("b=2&a=x+y&&c&a=*")), "a=%2A&a=x%20y&b=2&c=");
        assert_eq!(query(&read("")), "");
    }

    #[test]
    fn bare_names_are_tried_only_where_they_differ_and_are_clear() {
        assert_eq!(sdk_query(&read("Range.Start=1")), None);
        assert_eq!(sdk_query(&read("Tag%5B1%5D=a+b")), Some("Tag[1]=a%20b".to_owned()));
        // Written bare, this would be two parameters.
        assert_eq!(sdk_query(&read("a%3D1%26b=")), None);
        assert_eq!(sdk_query(&read("%FF=1")), None);
    }
}
