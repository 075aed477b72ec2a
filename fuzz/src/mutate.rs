//! Changes of a text: of its bytes, of its words and numbers, and parts of other texts put into it.

use std::collections::BTreeSet;

use crate::random::Random;

/// Bytes that an input may have: larger ones are refused by their size alone, or have to be as slow as they are long.
const BYTES_MAX: usize = 96 * 1024;
/// How many words of a corpus are kept to be put into its texts.
const WORDS_MAX: usize = 4_000;

/// What often tells careless code.
const ODD: [&[u8]; 42] = [
    b"0",
    b"-1",
    b"1",
    b"-0",
    b"1e400",
    b"-1e-400",
    b"0.1",
    b"1e18",
    b"9007199254740993",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967296",
    b"65536",
    b"255",
    b"99999999999999999999999999",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xc3",
    b"\xf0\x9f\xa6\x80",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    b"\xef\xbb\xbf",
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b",",
    b":",
    b"{",
    b"[",
    b"]",
    b"}",
    b"%",
];

/// The texts that inputs are made of, and the words in them.
pub(crate) struct Stock {
    texts: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Stock {
    pub(crate) fn of(texts: Vec<Vec<u8>>) -> Self {
        assert!(!texts.is_empty(), "a corpus has at least one text");
        let of_text =
            |text: &Vec<u8>| words(text).into_iter().map(|(from, to)| text[from..to].to_vec()).collect::<Vec<_>>();
        let all: BTreeSet<Vec<u8>> = texts.iter().flat_map(of_text).collect();
        Self { words: all.into_iter().take(WORDS_MAX).collect(), texts }
    }

    /// The input of a number: sometimes a text as it is.
    pub(crate) fn input(&self, number: u64) -> Vec<u8> {
        let mut random = Random::new(number);
        let mut input = random.of(&self.texts).cloned().unwrap_or_default();
        for _ in 0..random.below(6) {
            self.change(&mut input, &mut random);
            input.truncate(BYTES_MAX);
        }
        input
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() + 1);
        match random.below(11) {
            0 => replace(input, at, 1, &[u8::try_from(random.below(256)).unwrap_or_default()]),
            1 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => replace(input, at, 1 + random.below(24), &[]),
            3 => replace(input, at, 0, random.of(&ODD).copied().unwrap_or_default()),
            4 => input.truncate(at),
            5 => {
                // Something of it once more, and deep where it opens something.
                let part = input[at..input.len().min(at + 1 + random.below(64))].to_vec();
                let times = [1, 1, 2, 200][random.below(4)];
                replace(input, at, 0, &part.repeat(times));
            }
            6 => {
                let other = random.of(&self.texts).cloned().unwrap_or_default();
                let from = random.below(other.len() + 1);
                let to = other.len().min(from + random.below(200));
                replace(input, at, 0, &other[from..to]);
            }
            // A word or a number in the place of another one leaves the form as it is.
            7 | 8 => self.exchange(input, random, false),
            9 => self.exchange(input, random, true),
            _ => {
                // Two parts in each other's places.
                let (from, bytes) = (random.below(input.len() + 1), random.below(40));
                let part = input[from..input.len().min(from + bytes)].to_vec();
                replace(input, from, part.len(), &[]);
                let at = random.below(input.len() + 1);
                replace(input, at, 0, &part);
            }
        }
    }

    fn exchange(&self, input: &mut Vec<u8>, random: &mut Random, is_odd: bool) {
        let places = words(input);
        let Some(&(from, to)) = random.of(&places) else { return };
        let new: &[u8] = if is_odd {
            random.of(&ODD).copied().unwrap_or_default()
        } else {
            random.of(&self.words).map(Vec::as_slice).unwrap_or_default()
        };
        replace(input, from, to - from, new);
    }
}

/// Where the words and numbers of a text are.
fn words(text: &[u8]) -> Vec<(usize, usize)> {
    let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80;
    let mut found = Vec::new();
    let mut start = None;
    for (at, byte) in text.iter().enumerate() {
        match (is_inside(*byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    found.extend(start.map(|from| (from, text.len())));
    found
}

fn replace(input: &mut Vec<u8>, at: usize, count: usize, new: &[u8]) {
    let end = input.len().min(at + count);
    input.splice(at.min(end)..end, new.iter().copied());
}
