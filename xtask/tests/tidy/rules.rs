//! Habits of the whole tree.
use crate::source::{Fault, Source};

/// A file that is longer holds more than one thing.
const LINES_MAX: usize = 400;

/// Where a rule looks, the words that break it, and what to do instead.
struct Ban {
    under: &'static str,
    words: &'static [&'static str],
    instead: &'static str,
}

const SPEAK_PLAINLY: &str = "people read it; the planner's module is built without what writes values for programmers";

const BANS: [Ban; 8] = [
    Ban {
        under: "",
        words: &["#[allow(", "#![allow("],
        instead: "use `#[expect(lint, reason = \"...\")]`, which tells when it is no longer needed",
    },
    Ban { under: "", words: &["todo!", "unimplemented!"], instead: "finish it, or leave it out" },
    Ban {
        under: "engine/src/",
        words: &["HashMap", "HashSet"],
        instead: "use BTreeMap or BTreeSet: the order of a hash differs from run to run",
    },
    Ban {
        under: "engine/src/",
        words: &["SystemTime", "Instant"],
        instead: "take the time as an argument: the engine has no clock",
    },
    Ban {
        under: "agent/src/",
        words: &["SystemTime", "Instant", "std::process", "std::fs", "std::thread", "std::net"],
        instead: "the agent's decisions have no clock and no hands: that is for agent/runner",
    },
    Ban { under: "engine/src/", words: &[":?}"], instead: SPEAK_PLAINLY },
    Ban { under: "script/src/", words: &[":?}"], instead: SPEAK_PLAINLY },
    Ban { under: "planner/src/", words: &[":?}"], instead: SPEAK_PLAINLY },
];

/// Compares books for tests, and says what differs.
const FOR_PROGRAMMERS: &str = "engine/src/ledger/check.rs";

pub(crate) fn check(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(too_long(source));
    let is_free = |ban: &Ban| source.path == FOR_PROGRAMMERS && ban.instead == SPEAK_PLAINLY;
    for ban in BANS.iter().filter(|ban| source.path.starts_with(ban.under) && !is_free(ban)) {
        for (line, code) in source.code() {
            let found = ban.words.iter().find(|word| contains_word(code, word));
            faults.extend(found.map(|word| source.fault(line, format!("no {word} here: {}", ban.instead))));
        }
    }
    faults
}

fn too_long(source: &Source) -> Option<Fault> {
    let n_lines = source.code().count();
    (n_lines > LINES_MAX).then(|| {
        let what = format!("{n_lines} lines of at most {LINES_MAX}: split the file by what it holds");
        source.fault(LINES_MAX + 1, what)
    })
}

/// Whether the word occurs by itself, so that `Instantaneous` is not `Instant`.
fn contains_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let is_open = word.ends_with(|c: char| !is_part(c));
        let begins = !word.starts_with(is_part) || !before.is_some_and(is_part);
        begins && (is_open || !after.is_some_and(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::{FOR_PROGRAMMERS, LINES_MAX, check};
    use crate::source::Source;

    fn n_faults(path: &str, text: &str) -> usize {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        check(&source).len()
    }

    #[test]
    fn a_long_file_fires() {
        assert_eq!(n_faults("cli/src/main.rs", &"\n".repeat(LINES_MAX + 1)), 1);
        assert_eq!(n_faults("cli/src/main.rs", &"\n".repeat(LINES_MAX)), 0);
    }

    #[test]
    fn a_long_test_module_is_free() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}", "\n".repeat(LINES_MAX + 1));
        assert_eq!(n_faults("cli/src/main.rs", &text), 0);
    }

    #[test]
    fn a_silenced_lint_fires() {
        assert_eq!(n_faults("cli/src/main.rs", "#[allow(dead_code)]"), 1);
        assert_eq!(n_faults("cli/src/main.rs", "#![allow(dead_code)]"), 1);
    }

    #[test]
    fn unfinished_code_fires() {
        assert_eq!(n_faults("worker/src/lib.rs", "    todo!()"), 1);
        assert_eq!(n_faults("worker/src/lib.rs", "    unimplemented!(\"soon\")"), 1);
    }

    #[test]
    fn a_hash_order_in_the_engine_fires() {
        assert_eq!(n_faults("engine/src/unit.rs", "use std::collections::HashMap;"), 1);
        assert_eq!(n_faults("engine/src/unit.rs", "let a: HashSet<u8>;"), 1);
        assert_eq!(n_faults("cli/src/main.rs", "use std::collections::HashMap;"), 0);
    }

    #[test]
    fn a_clock_in_the_engine_fires() {
        assert_eq!(n_faults("engine/src/unit.rs", "let now = Instant::now();"), 1);
        assert_eq!(n_faults("engine/src/unit.rs", "let now = SystemTime::now();"), 1);
        assert_eq!(n_faults("engine/src/unit.rs", "struct Instantaneous;"), 0);
    }

    #[test]
    fn hands_of_the_agent_fire() {
        assert_eq!(n_faults("agent/src/agent.rs", "use std::process::Command;"), 1);
        assert_eq!(n_faults("agent/src/agent.rs", "let now = Instant::now();"), 1);
        assert_eq!(n_faults("agent/runner/src/local.rs", "use std::process::Command;"), 0);
    }

    #[test]
    fn a_value_for_programmers_fires() {
        assert_eq!(n_faults("script/src/line.rs", "format!(\"{word:?} is not known\")"), 1);
        assert_eq!(n_faults("engine/src/unit.rs", "write!(f, \"{:?}\", self)"), 1);
        assert_eq!(n_faults("cli/src/main.rs", "println!(\"{word:?}\")"), 0);
        assert_eq!(n_faults(FOR_PROGRAMMERS, "format!(\"{kept:?}\")"), 0);
    }

    #[test]
    fn a_comment_is_free() {
        assert_eq!(n_faults("engine/src/unit.rs", "// no HashMap here"), 0);
    }
}
