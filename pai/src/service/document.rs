//! Documents: what people send that the engine does not look at, but that answers repeat.
//!
//! A document stands beside the thing that it describes, under the thing's name. What can be learned from the engine's
//! state is never read from a document.

use serde_json::Map;
use serde_json::Value;

/// What a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A job.
    Job,
    /// What a job executes, in the words of agents, who are given it.
    Script,
    /// A job that is not to be shown any more; the document says nothing.
    Deleted,
    /// A quota.
    Quota,
    /// A workspace.
    Workspace,
    /// A quota that is attached to a workspace, named by both.
    Resource,
    /// A resource group.
    Group,
    /// An inference service.
    Service,
    /// A development instance.
    Instance,
    /// Something that there is one of.
    Setting,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Job,
        Self::Script,
        Self::Deleted,
        Self::Quota,
        Self::Workspace,
        Self::Resource,
        Self::Group,
        Self::Service,
        Self::Instance,
        Self::Setting,
    ];

    /// How the names of such documents begin.
    #[must_use]
    pub fn start(self) -> &'static str {
        match self {
            Self::Job => "job/",
            Self::Script => "script/",
            Self::Deleted => "deleted/",
            Self::Quota => "quota/",
            Self::Workspace => "workspace/",
            Self::Resource => "resource/",
            Self::Group => "group/",
            Self::Service => "service/",
            Self::Instance => "instance/",
            Self::Setting => "setting/",
        }
    }

    /// The name of the document on a thing.
    #[must_use]
    pub fn name(self, of: &str) -> String {
        format!("{}{of}", self.start())
    }
}

/// A change of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The document's name.
    pub name: String,
    /// Its text now; none if there is none any more.
    pub text: Option<String>,
}

/// The fields of a document.
pub(crate) type Document = Map<String, Value>;

impl Change {
    pub(crate) fn put(kind: Kind, of: &str, document: &Document) -> Self {
        let text = serde_json::to_string(document).unwrap_or_default();
        Self { name: kind.name(of), text: Some(text) }
    }

    pub(crate) fn drop(kind: Kind, of: &str) -> Self {
        Self { name: kind.name(of), text: None }
    }
}

/// Those fields of a request that answers repeat.
pub(crate) fn kept(sent: &Document, fields: &[&str]) -> Document {
    let mut kept = kept_all(sent);
    kept.retain(|name, _| fields.contains(&name.as_str()));
    kept
}

/// The fields that say something: nulls and empty lists do not.
pub(crate) fn kept_all(sent: &Document) -> Document {
    let says_something = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
    let kept = sent.iter().filter(|(_, value)| says_something(value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
