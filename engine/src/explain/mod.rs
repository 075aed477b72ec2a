//! Data to sentences.
