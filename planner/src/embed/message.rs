//! What a page asks of the planner and what it is told. A page may hold several planners; each has a number.

use std::fmt::Write;

use crate::words::Language;

/// Where a plan comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A scenario: a Markdown file, or its lines alone.
    Scenario(String),
    /// What stands behind `#plan=` in an address.
    Address(String),
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Opens a plan; what the planner of this number had open is forgotten.
    Open {
        /// The plan.
        source: Source,
        /// The language of all that it is told.
        language: Language,
    },
    /// Runs the plan with its controls at these values. What it did before is given up.
    Run {
        /// A value for each control.
        values: Vec<i64>,
    },
    /// Gives up what the planner does.
    Cancel,
    /// Makes a link to the plan with its controls at these values.
    Link {
        /// A value for each control.
        values: Vec<i64>,
    },
    /// Forgets the planner.
    Close,
}

/// What a page is told, and by which of its planners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tell {
    /// The planner.
    pub planner: u32,
    /// What.
    pub news: News,
}

/// What a page is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// The plan is open.
    Opened {
        /// The controls, as HTML; each input has its number in `data-control`.
        controls: String,
        /// The cluster at the beginning, as SVG.
        picture: String,
    },
    /// The scenario has been played to its end.
    Played {
        /// The cluster then, as SVG.
        picture: String,
        /// What has happened, as HTML.
        events: String,
    },
    /// How far the run has come.
    Progress {
        /// In thousandths.
        done: i64,
    },
    /// The run is over.
    Ran {
        /// The result, as HTML.
        result: String,
    },
    /// What the planner did was given up.
    Cancelled,
    /// The link.
    Linked {
        /// What stands behind `#plan=`.
        link: String,
    },
    /// Something is wrong; what was there before is still there.
    Failed {
        /// What, and what to do.
        message: String,
    },
}

impl Tell {
    /// Messages as a JSON list; each has its `kind`, `planner`, and a text for each field.
    #[must_use]
    pub fn list(told: &[Self]) -> String {
        let told: Vec<String> = told.iter().map(Self::json).collect();
        format!("[{}]", told.join(","))
    }

    /// The message as JSON.
    #[must_use]
    fn json(&self) -> String {
        let Self { planner, news } = self;
        let done;
        let (kind, fields): (&str, &[(&str, &str)]) = match news {
            News::Opened { controls, picture } => ("opened", &[("controls", controls), ("picture", picture)]),
            News::Played { picture, events } => ("played", &[("picture", picture), ("events", events)]),
            News::Progress { done: thousandths } => {
                done = thousandths.to_string();
                ("progress", &[("done", &done)])
            }
            News::Ran { result } => ("ran", &[("result", result)]),
            News::Cancelled => ("cancelled", &[]),
            News::Linked { link } => ("linked", &[("link", link)]),
            News::Failed { message } => ("failed", &[("message", message)]),
        };
        let mut text = format!(r#"{{"kind":"{kind}","planner":{planner}"#);
        for (name, value) in fields {
            let _ = write!(text, r#","{name}":""#);
            quote(&mut text, value);
            text.push('"');
        }
        text.push('}');
        text
    }
}

fn quote(text: &mut String, value: &str) {
    for letter in value.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\0'..='\x1f' => {
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::News;
    use super::Tell;

    #[test]
    fn what_is_told_is_json() {
        let message = "a \"b\" \\ c\nd \u{1} 等".to_owned();
        let failed = Tell { planner: 7, news: News::Failed { message: message.clone() } };
        let cancelled = Tell { planner: 0, news: News::Cancelled };
        let told = Tell::list(&[failed, cancelled.clone()]);
        let read: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(read[0]["kind"], "failed");
        assert_eq!(read[0]["planner"], 7);
        assert_eq!(read[0]["message"], message.as_str());
        assert_eq!(Tell::list(&[cancelled]), r#"[{"kind":"cancelled","planner":0}]"#);
        assert_eq!(Tell::list(&[]), "[]");
    }
}
