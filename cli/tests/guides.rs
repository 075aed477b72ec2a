//! The examples of the book's guides that need no service print what they show.
#![expect(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The files of the examples, by how each begins on its page.
const FILES: [(&str, &str); 3] =
    [("job_id,", "jobs.csv"), ("group,parent,gpus", "quotas.csv"), ("update vision", "urgent-first.txt")];

/// The blocks of code of a page, each with what it is in.
fn blocks(page: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src").join(page);
    let text = fs::read_to_string(path).unwrap();
    let fenced = text.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    fenced.map(|(kind, lines)| (kind.to_owned(), lines.to_owned())).collect()
}

#[test]
fn the_guides_show_what_is_printed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guides");
    fs::create_dir_all(&folder).unwrap();
    let all: Vec<(String, String)> = ["lead.md", "administrator.md"].into_iter().flat_map(blocks).collect();
    for (begins, name) in FILES {
        let (_, lines) = all.iter().find(|(_, lines)| lines.starts_with(begins)).unwrap();
        fs::write(folder.join(name), format!("{lines}\n")).unwrap();
    }
    let mut shown = 0;
    for (_, lines) in all.iter().filter(|(kind, _)| kind == "console") {
        let (command, expected) = lines.split_once('\n').unwrap();
        let words = command.strip_prefix("$ tidegate ").unwrap().split(' ');
        let output = Command::new(env!("CARGO_BIN_EXE_tidegate")).args(words).current_dir(&folder).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected.trim_end(), "{command}");
        shown += 1;
    }
    assert_eq!(shown, 2);
}
