//! Complaints about words.

/// What is wrong with a word, or what should stand there.
pub(crate) fn about(word: &str, complaint: &str) -> String {
    ["\"", word, "\" ", complaint].concat()
}
