//! A copy of the repository to change: whoever works in the original is not disturbed, and what has been built of the
//! copy stays warm.
use crate::process::{Failure, output, root};
use std::fs;
use std::path::Path;

/// Makes the copy equal to the original. What is equal already is not touched, so that it is not built again.
pub(crate) fn refresh(tree: &Path) -> Result<(), Failure> {
    let list = output("git", &["ls-files", "--cached", "--others", "--exclude-standard"])
        .ok_or_else(|| Failure::new("git does not list the files", "run it in a working copy of the repository"))?;
    for name in list.lines() {
        let (from, to) = (root().join(name), tree.join(name));
        let Ok(wanted) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|current| current == wanted) {
            continue;
        }
        let folder = to.parent().unwrap_or(tree);
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
        fs::write(&to, wanted).map_err(|error| Failure::file(&to, &error))?;
    }
    forget(tree, tree, &list.lines().collect())
}

/// Removes what the original has no more.
fn forget(tree: &Path, folder: &Path, names: &std::collections::BTreeSet<&str>) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::file(folder, &error))?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            forget(tree, &path, names)?;
            continue;
        }
        let name = path.strip_prefix(tree).unwrap_or(&path).display().to_string();
        if !names.contains(name.as_str()) || !root().join(&name).exists() {
            fs::remove_file(&path).map_err(|error| Failure::file(&path, &error))?;
        }
    }
    Ok(())
}
