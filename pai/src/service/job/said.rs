//! Lists of jobs by what was sent with them: the engine does not look at it, so the documents are read.

use engine::state::jobs::Job;
use serde_json::Value;

use crate::operation::job::Said;
use crate::problem::Problem;
use crate::service::context::Context;
use crate::service::context::contains;
use crate::service::document::Document;
use crate::service::document::Kind;

/// Those of the jobs whose documents say what is asked for.
pub(super) fn those_that_say<'j>(context: &Context, asked: &Said, jobs: Vec<&'j Job>) -> Result<Vec<&'j Job>, Problem> {
    let mut found = Vec::new();
    for job in jobs {
        if says(&context.document(Kind::Job, job.spec.id.as_str())?, asked) {
            found.push(job);
        }
    }
    Ok(found)
}

fn says(document: &Document, asked: &Said) -> bool {
    let settings = document.get("Settings");
    let setting = |name: &str| settings?.get(name)?.as_str();
    let tag = |name: &str| settings?.get("Tags")?.get(name)?.as_str();
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let roles = document.get("JobSpecs").and_then(Value::as_array);
    let mut images = roles.into_iter().flatten().filter_map(|role| role.get("Image")?.as_str());
    asked.tags.iter().all(|(name, value)| tag(name) == Some(value))
        && asked.settings.iter().all(|(name, value)| setting(name) == Some(value))
        && asked.accessibility.as_ref().is_none_or(|wanted| text("Accessibility").eq_ignore_ascii_case(wanted))
        && asked.parts.iter().all(|(name, part)| contains(text(name), Some(part)))
        && asked.image_part.as_ref().is_none_or(|part| images.any(|image| contains(image, Some(part))))
}
