//! A request as it came over the wire.

use crate::escape;

/// A request before anybody has judged it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// Path and query exactly as received, escapes included.
    pub target: &'a str,
    /// Names and values of the headers. A byte of a value is one character.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

/// A header that decides something and was sent twice: there is no telling which one was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated(pub String);

/// Names and values of a query, decoded.
pub type Query = Vec<(Vec<u8>, Vec<u8>)>;

impl<'a> Request<'a> {
    /// The path exactly as received.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.split().0
    }

    /// The query, decoded; none if an escape in it is broken.
    #[must_use]
    pub fn query(&self) -> Option<Query> {
        let pairs = self.split().1.split('&').filter(|part| !part.is_empty());
        pairs
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                Some((escape::form_decoded(name)?, escape::form_decoded(value)?))
            })
            .collect()
    }

    /// The value of a header that may be sent once, without the blanks around it.
    pub fn header(&self, name: &str) -> Result<Option<&'a str>, Repeated> {
        let mut values = self.values(name);
        let first = values.next();
        if values.next().is_some() { Err(Repeated(name.to_owned())) } else { Ok(first) }
    }

    /// All values of a header, without the blanks around them.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let is_named = move |header: &&(String, String)| header.0.eq_ignore_ascii_case(name);
        self.headers.iter().filter(is_named).map(|(_, value)| value.trim_matches([' ', '\t']))
    }

    fn split(&self) -> (&'a str, &'a str) {
        self.target.split_once('?').unwrap_or((self.target, ""))
    }
}
