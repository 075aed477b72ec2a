//! The clusters that somebody has logged in to, each under a name: a file of theirs that nobody else may read.

use std::collections::BTreeMap;
use std::fs;
use std::fs::DirBuilder;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use engine::message::FORMAT;
use engine::unit::time::Timestamp;
use serde::Deserialize;
use serde::Serialize;

use crate::agents::run::folder_of;
use crate::shell::failure::Failure;
use crate::shell::failure::Status;

const FILE: &str = "contexts.json";
/// Where a script names the context of all its commands.
pub const VARIABLE: &str = "TIDEGATE_CONTEXT";

/// A cluster, and by what somebody is known there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// The address of the service.
    pub service: String,
    /// The cluster.
    pub cluster: String,
    /// Who they are there.
    pub user: String,
    /// The name of their access key; none where it is the service's own key.
    pub key: Option<String>,
    /// Its secret.
    pub secret: String,
    /// The session that was opened with it last.
    pub session: Option<Opened>,
}

/// A session.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// Its token.
    pub token: String,
    /// When it ends.
    pub expires: Timestamp,
}

/// What the file says.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// The format of this file.
    format: u32,
    /// Which one is meant where none is named.
    pub current: Option<String>,
    /// All of them by name.
    pub contexts: BTreeMap<String, Context>,
}

impl Contexts {
    /// Reads a folder's file; without one nobody has logged in.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let about = |what: &dyn std::fmt::Display| Failure::refused(format!("{}: {what}", path.display()));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { format: FORMAT, current: None, contexts: BTreeMap::new() });
            }
            Err(error) => return Err(about(&error)),
        };
        let others = fs::metadata(&path).map_err(|error| about(&error))?.permissions().mode() & 0o077;
        if others != 0 {
            return Err(about(&"others may read it, and it has secrets in it: chmod 600"));
        }
        let read: Self = serde_json::from_str(&text).map_err(|error| about(&error))?;
        if read.format != FORMAT {
            let what = format!("its format is {}, and this program reads format {FORMAT}", read.format);
            return Err(about(&what));
        }
        Ok(read)
    }

    /// Writes it in place of what was there, as a whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(FILE);
        let about = |error: std::io::Error| Failure::refused(format!("{}: {error}", path.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(about)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| Failure::refused(error.to_string()))?;
        // Each process has a file of its own to write: of two that write at once, one is the last.
        let new = folder.join(format!("{FILE}.{}", std::process::id()));
        let written = create(&new).and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
        let moved = written.and_then(|()| fs::rename(&new, &path));
        if moved.is_err() {
            // There is nothing in it that is not to be had again.
            drop(fs::remove_file(&new));
        }
        moved.map_err(about)
    }

    /// The context that is meant by a name, by what a script has named, or by having been chosen last; with its name.
    pub fn chosen(folder: &Path, named: Option<&str>) -> Result<(String, Context), Failure> {
        let variable = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
        Self::read(folder)?.meant(named.or(variable.as_deref()))
    }

    /// The name of the context that is meant, and it.
    pub fn meant(&self, named: Option<&str>) -> Result<(String, Context), Failure> {
        let Some(name) = named.or(self.current.as_deref()) else {
            return Err(self.nobody("nobody has logged in yet"));
        };
        let found = self.contexts.get(name).map(|context| (name.to_owned(), context.clone()));
        found.ok_or_else(|| self.nobody(&format!("there is no context {name}")))
    }

    /// A service's own key, if somebody has logged in with it to one of its clusters: it opens all of them.
    #[must_use]
    pub fn key_of_service(&self, service: &str) -> Option<String> {
        let is_meant = |context: &&Context| context.service == service && context.key.is_none();
        self.contexts.values().find(is_meant).map(|context| context.secret.clone())
    }

    fn nobody(&self, what: &str) -> Failure {
        let names: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
        let todo = if names.is_empty() {
            "write `tidegate login ADDRESS`, with the address of the service".to_owned()
        } else {
            format!("there are {}; choose one with `tidegate context NAME` or --context", names.join(", "))
        };
        Failure { status: Status::NotLoggedIn, text: format!("{what}: {todo}") }
    }
}

fn create(path: &Path) -> std::io::Result<File> {
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // What was left there by somebody else's umask.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Where the file lies.
pub fn folder() -> Result<PathBuf, Failure> {
    let base = folder_of("XDG_CONFIG_HOME", ".config");
    let base = base.map_err(|_| Failure::refused("HOME is not set, nor XDG_CONFIG_HOME: nowhere to keep a key"))?;
    Ok(base.join("tidegate"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::Context;
    use super::Contexts;
    use super::FILE;
    use crate::shell::failure::Status;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tidegate-contexts-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn lab() -> Context {
        Context {
            service: "http://127.0.0.1:8787".to_owned(),
            cluster: "lab".to_owned(),
            user: "ann".to_owned(),
            key: Some("lab.ann".to_owned()),
            secret: "secret".to_owned(),
            session: None,
        }
    }

    #[test]
    fn what_is_written_is_read_by_its_owner_alone() {
        let folder = folder("own");
        let mut contexts = Contexts::read(&folder).unwrap();
        contexts.contexts.insert("lab".to_owned(), lab());
        contexts.write(&folder).unwrap();
        let path = folder.join(FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Contexts::read(&folder).unwrap() == contexts);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let told = Contexts::read(&folder).err().unwrap().text;
        assert!(told.ends_with("others may read it, and it has secrets in it: chmod 600"), "{told}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_damaged_file_is_named_with_the_place() {
        let folder = folder("damaged");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(FILE), "{\"format\":1,").unwrap();
        fs::set_permissions(folder.join(FILE), fs::Permissions::from_mode(0o600)).unwrap();
        let told = Contexts::read(&folder).err().unwrap().text;
        assert!(told.contains("contexts.json: ") && told.contains("line 1 column"), "{told}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn who_has_not_logged_in_is_told_how_and_who_names_another_context_which_there_are() {
        let mut contexts = Contexts::read(&folder("none")).unwrap();
        let told = contexts.meant(None).err().unwrap();
        assert_eq!(told.status, Status::NotLoggedIn);
        assert!(told.text.contains("tidegate login ADDRESS"), "{}", told.text);
        contexts.contexts.insert("lab".to_owned(), lab());
        let told = contexts.meant(Some("prod")).err().unwrap().text;
        assert_eq!(
            told,
            "there is no context prod: there are lab; choose one with `tidegate context NAME` or --context"
        );
        contexts.current = Some("lab".to_owned());
        assert_eq!(contexts.meant(None).ok().unwrap().0, "lab");
    }

    #[test]
    fn a_services_own_key_opens_all_its_clusters_and_no_other_one_does() {
        let mut contexts = Contexts::read(&folder("service")).unwrap();
        contexts.contexts.insert("ann".to_owned(), lab());
        assert_eq!(contexts.key_of_service("http://127.0.0.1:8787"), None);
        let own = Context { key: None, secret: "own".to_owned(), ..lab() };
        contexts.contexts.insert("lab".to_owned(), own);
        assert_eq!(contexts.key_of_service("http://127.0.0.1:8787"), Some("own".to_owned()));
        assert_eq!(contexts.key_of_service("https://a.example.org"), None);
    }
}
