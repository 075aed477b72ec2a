//! Files that are there whole or not at all, also after the power was lost.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How much of a file is read.
const READ_MAX: u64 = 1 << 20;

/// Makes a file that nobody has made, and has it last. The second one to try is told `AlreadyExists`.
pub(crate) fn create_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    sync_folder_of(path)
}

/// Replaces a file, and has it last.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    // Agent and supervisor may do so at the same time.
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let beside = PathBuf::from(name);
    // Where others may make files, what has this name now is not ours.
    remove(&beside)?;
    let mut file = File::options().write(true).create_new(true).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder_of(path)
}

pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// The text of a file; none if there is no such file. Jobs write some of them: a link or a pipe is no such file, and none is
/// larger than what stands in it.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let mut file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) if file.metadata()?.is_file() => file.take(READ_MAX),
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// What a file of JSON says; none if there is none, or none that can be read.
pub(crate) fn parsed<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    Ok(read(path)?.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Replaces a file of JSON.
pub(crate) fn replace_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    replace(path, &serde_json::to_string(value)?)
}

/// Removes a file that may be gone already.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
