//! Light, dark, or as the system has it.

use crate::api::storage::Kept;

const NAME: &str = "tidegate.theme";

/// A choice of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// All choices.
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// In storage and for the stylesheet.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    /// From storage.
    pub(crate) fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|theme| theme.as_str() == text).unwrap_or_default()
    }

    /// The choice that was kept.
    pub(crate) fn kept() -> Self {
        Kept::ForGood.get(NAME).map_or(Self::System, |text| Self::parse(&text))
    }

    /// Shows it and keeps it.
    pub(crate) fn choose(self) {
        Kept::ForGood.set(NAME, self.as_str());
        let root =
            web_sys::window().and_then(|window| window.document()).and_then(|document| document.document_element());
        if let Some(root) = root {
            // An attribute with this name is always allowed.
            let _ = root.set_attribute("data-theme", self.as_str());
        }
    }
}
