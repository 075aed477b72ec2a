//! Rust text as names and signs, without comments, strings and the test module that ends a file.
use std::iter;

use crate::source::Source;

/// A name, a `::`, or a single sign, and the line that it stands on.
#[derive(Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) line: usize,
    pub(crate) text: &'a str,
}

impl Token<'_> {
    pub(crate) fn is_name(self) -> bool {
        self.text.starts_with(is_part_of_name)
    }
}

pub(crate) fn tokens(source: &Source) -> Vec<Token<'_>> {
    let mut rest = source.text_without_tests();
    let mut line = 1;
    let next = || {
        while !rest.is_empty() {
            let (kind, length) = first(rest);
            let (text, after) = rest.split_at(length);
            let token = Token { line, text };
            line += text.matches('\n').count();
            rest = after;
            if kind == Kind::Code {
                return Some(token);
            }
        }
        None
    };
    iter::from_fn(next).collect()
}

#[derive(PartialEq)]
enum Kind {
    Code,
    /// What nothing is used in: spaces, comments, strings, characters, lifetimes.
    Other,
}

/// The kind and the length of what the text begins with.
fn first(text: &str) -> (Kind, usize) {
    let mut chars = text.chars();
    let (one, two) = (chars.next().unwrap_or_default(), chars.next().unwrap_or_default());
    match (one, two) {
        ('/', '/') => (Kind::Other, text.find('\n').unwrap_or(text.len())),
        ('/', '*') => (Kind::Other, block_comment(text)),
        ('"', _) => (Kind::Other, string(text)),
        ('\'', '\\') => (Kind::Other, text[3..].find('\'').map_or(text.len(), |at| at + 4)),
        ('\'', _) if chars.next() == Some('\'') => (Kind::Other, 2 + two.len_utf8()),
        ('\'', _) => (Kind::Other, 1 + name(&text[1..])),
        ('r', '"' | '#') => raw_string(text, 1),
        ('b' | 'c', 'r') if text[2..].starts_with(['"', '#']) => raw_string(text, 2),
        (':', ':') => (Kind::Code, 2),
        _ if is_part_of_name(one) => (Kind::Code, name(text)),
        _ if one.is_whitespace() => (Kind::Other, one.len_utf8()),
        _ => (Kind::Code, one.len_utf8()),
    }
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name(text: &str) -> usize {
    text.find(|c| !is_part_of_name(c)).unwrap_or(text.len())
}

/// Comments of this kind hold others.
fn block_comment(text: &str) -> usize {
    let (mut at, mut n_open) = (0, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            n_open += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            n_open -= 1;
            at += 2;
            if n_open == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let mut is_escaped = true;
    let end = |c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    text.find(end).map_or(text.len(), |at| at + 1)
}

/// A string that begins after `prefix` letters, or else a name such as `r#type`.
fn raw_string(text: &str, prefix: usize) -> (Kind, usize) {
    let n_hashes = text[prefix..].find(|c| c != '#').unwrap_or_default();
    let inside = prefix + n_hashes + 1;
    if !text[prefix + n_hashes..].starts_with('"') {
        return (Kind::Code, prefix + n_hashes + name(&text[prefix + n_hashes..]));
    }
    let end = format!("\"{}", "#".repeat(n_hashes));
    (Kind::Other, text[inside..].find(&end).map_or(text.len(), |at| inside + at + end.len()))
}

#[cfg(test)]
mod tests {
    use super::tokens;
    use crate::source::Source;

    fn words(text: &str) -> String {
        let source = Source { path: String::new(), text: text.to_owned() };
        let words: Vec<&str> = tokens(&source).iter().map(|token| token.text).collect();
        words.join(" ")
    }

    #[test]
    fn names_and_signs_are_told_apart() {
        assert_eq!(words("a::b_1(&x)"), "a :: b_1 ( & x )");
        assert_eq!(words("r#type br cr1"), "r#type br cr1");
    }

    #[test]
    fn comments_are_left_out() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), "a c g");
    }

    #[test]
    fn strings_are_left_out() {
        assert_eq!(words(r#"a "b // \" \\" c b"d" e"#), "a c b e");
        assert_eq!(words("a r#\"b \" c\"# d br\"e\" f"), "a d f");
    }

    #[test]
    fn characters_and_lifetimes_are_left_out() {
        assert_eq!(words(r#"a '\'' b 'ä' '\u{1f}' c '"' d"#), "a b c d");
        assert_eq!(words("&'static str, &'a T"), "& str , & T");
    }

    #[test]
    fn lines_are_counted_through_what_is_left_out() {
        let source = Source { path: String::new(), text: "\"a\n\" /*\n*/\nb".to_owned() };
        assert_eq!(tokens(&source)[0].line, 4);
    }

    #[test]
    fn the_test_module_is_left_out() {
        assert_eq!(words("a\n#[cfg(test)]\nmod tests {\nb\n}"), "a");
    }
}
