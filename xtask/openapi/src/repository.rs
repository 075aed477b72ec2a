//! Where the files are that are read and written.

use std::path::PathBuf;

/// The repository. Cargo's word at run time: the path of the compilation may be that of another working copy.
pub(crate) fn root() -> PathBuf {
    let manifest_dir =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest_dir.join("../..")
}
