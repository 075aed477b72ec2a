//! `tidegate slurm setup --adopt-folder`: the plugin by which people's own jobs wait for Tidegate.

use runner::slurm::nodes;
use runner::slurm::nodes::SlurmNode;

use crate::agents::run;
use crate::agents::setup::Setup;
use crate::agents::setup::check;
use crate::agents::setup::share;

const PLUGIN: &str = include_str!("job_submit.lua");

/// The plugin for the partition, with what its nodes have.
pub fn plugin(asked: Setup, folder: &str) -> Result<String, String> {
    check("--partition", asked.partition)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if !folder.starts_with('/') || !folder.chars().all(is_plain) {
        return Err(format!(
            "--adopt-folder {folder}: write a whole path of letters, digits, hyphens, dots and underscores"
        ));
    }
    let known = nodes::nodes(None).map_err(|error| error.to_string())?;
    let is_asked = |name: &str| asked.nodes.is_empty() || asked.nodes.iter().any(|node| node == name);
    let mine: Vec<&SlurmNode> = known.iter().filter(|(name, _)| is_asked(name)).map(|(_, node)| node).collect();
    let number = |of| share(&mine, of).unwrap_or_default().to_string();
    Ok(filled(&[
        ("PARTITION", asked.partition),
        ("FOLDER", folder),
        ("CPUS", &number(|node| node.cpus)),
        ("MIB", &number(|node| node.memory_mib)),
        ("AGENT", &run::account(true)?.to_string()),
    ]))
}

fn filled(values: &[(&str, &str)]) -> String {
    values.iter().fold(PLUGIN.trim_end().to_owned(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn nothing_is_left_to_fill() {
        let names = ["PARTITION", "FOLDER", "CPUS", "MIB", "AGENT"];
        let text = filled(&names.map(|name| (name, "x")));
        // A shell's own word for what a script was called with stays.
        assert!(!text.replace("$@", "").contains('@'), "{text}");
        assert!(names.iter().all(|name| super::PLUGIN.contains(&format!("@{name}@"))), "each is used");
    }
}
