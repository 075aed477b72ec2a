//! SHA-256, as text: the name of what is published, and the proof that two states are equal.

use engine::message::snapshot::Snapshot;
use engine::state::world::State;
use sha2::Digest;
use sha2::Sha256;

/// How many characters a digest has.
pub const DIGEST_CHARS: usize = 64;

/// The digest of some bytes, in lower-case hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    spelt(&Sha256::digest(bytes))
}

/// The digest of some bytes that come in pieces.
pub fn of_pieces<E>(pieces: impl IntoIterator<Item = Result<String, E>>) -> Result<String, E> {
    let mut digest = Sha256::new();
    for piece in pieces {
        digest.update(piece?);
    }
    Ok(spelt(&digest.finalize()))
}

fn spelt(digest: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.map(|nibble| char::from(HEX[usize::from(nibble)])).collect()
}

/// The digest of a state: equal states have equal ones, on every target.
#[must_use]
pub fn of_state(state: &State) -> String {
    sha256(&Snapshot::of(state).to_bytes())
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn known_digests() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
