//! Writes a message as people would as TOML: what is read back by [`crate::shell::file::read`] is the same message.

use std::fmt::Write;

use engine::state::cluster::Cluster;
use engine::unit::amount::DimensionKind;
use engine::unit::quantity;
use engine::unit::time::Millis;

use crate::shell::file::fault::written;
use crate::shell::file::read::PRICES;
use crate::shell::file::tree::Tree;

/// Variants that hold a period.
const PERIODS: [&str; 1] = ["stop_after"];

/// A section for a table and for each item of a list of them, and a line for everything else.
#[must_use]
pub fn text(document: &Tree, cluster: &Cluster) -> String {
    let Tree::Table(entries) = document else { return value("", document, cluster) };
    let mut text = String::new();
    for (key, part) in entries {
        match part {
            Tree::List(items) => {
                for item in items {
                    let _ = writeln!(text, "\n[[{}]]", name(key));
                    section(item, cluster, &mut text);
                }
            }
            Tree::Table(_) => {
                let _ = writeln!(text, "\n[{}]", name(key));
                section(part, cluster, &mut text);
            }
            Tree::Nothing | Tree::Is(_) | Tree::Number(_) | Tree::Text(_) => line("", key, part, cluster, &mut text),
        }
    }
    text
}

fn section(item: &Tree, cluster: &Cluster, text: &mut String) {
    let Tree::Table(entries) = item else { return };
    for (key, part) in entries {
        let parts = if let Tree::Table(parts) = part { parts.as_slice() } else { &[] };
        if is_amount(parts, cluster) {
            line("", key, part, cluster, text);
            continue;
        }
        // What has parts of its own has a line for each of them.
        let prefix = format!("{}.", name(key));
        for (key, part) in parts {
            line(&prefix, key, part, cluster, text);
        }
    }
}

/// Nothing for what is not there: to leave it out says the same.
fn line(prefix: &str, key: &str, part: &Tree, cluster: &Cluster, text: &mut String) {
    let is_there = !matches!(part, Tree::Nothing) && *part != Tree::List(Vec::new());
    if is_there {
        let _ = writeln!(text, "{prefix}{}", entry(key, part, cluster));
    }
}

fn entry(key: &str, part: &Tree, cluster: &Cluster) -> String {
    let written = if matches!(part, Tree::Number(_)) { written(key) } else { key };
    format!("{} = {}", name(written), value(key, part, cluster))
}

fn value(key: &str, part: &Tree, cluster: &Cluster) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match part {
        Tree::Number(number) if PRICES.contains(&key) => quantity::price(*number),
        Tree::Number(number) if written(key) != key || PERIODS.contains(&key) => quoted(&period(Millis(*number))),
        Tree::Number(number) => number.to_string(),
        Tree::Is(is_so) => is_so.to_string(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => format!("[{}]", joined(items.iter().map(|item| value("", item, cluster)).collect())),
        Tree::Table(parts) if is_amount(parts, cluster) => amount(parts, cluster),
        Tree::Table(parts) => {
            let is_there = |part: &&(String, Tree)| part.1 != Tree::Nothing;
            let told = parts.iter().filter(is_there).map(|(key, part)| entry(key, part, cluster));
            format!("{{ {} }}", joined(told.collect()))
        }
        // The line or entry is written without it.
        Tree::Nothing => String::new(),
    }
}

/// Numbers by the names of dimensions.
fn is_amount(parts: &[(String, Tree)], cluster: &Cluster) -> bool {
    let is_of = |(key, part): &(String, Tree)| matches!(part, Tree::Number(_)) && cluster.dimension(key).is_some();
    parts.iter().all(is_of)
}

fn amount(parts: &[(String, Tree)], cluster: &Cluster) -> String {
    let told = parts.iter().filter_map(|(key, part)| {
        let (Tree::Number(number), Some(at)) = (part, cluster.dimension(key)) else { return None };
        let dimension = &cluster.dimensions[at];
        let bare = quantity::bare(dimension, *number);
        // Memory of which the gibibytes are not whole has its unit beside it.
        let is_whole = dimension.kind != DimensionKind::Memory || number % 1024 == 0;
        let told = if is_whole { bare } else { quoted(&quantity::quantity(dimension, *number)) };
        Some(format!("{} = {told}", name(key)))
    });
    let told = told.collect::<Vec<_>>().join(", ");
    if told.is_empty() { "{}".to_owned() } else { format!("{{ {told} }}") }
}

/// `2h 30m`, to the millisecond.
fn period(period: Millis) -> String {
    let mut left = period.0;
    let mut told = Vec::new();
    for (unit, size) in [("h", Millis::HOUR.0), ("m", Millis::MINUTE.0), ("s", 1_000), ("ms", 1)] {
        if left >= size {
            told.push(format!("{}{unit}", left / size));
            left %= size;
        }
    }
    if told.is_empty() { "0s".to_owned() } else { told.join(" ") }
}

/// A key: bare where it can be.
fn name(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !key.is_empty() && key.bytes().all(is_bare) { key.to_owned() } else { quoted(key) }
}

/// What JSON escapes, TOML does in the same way; but for one letter more.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
