//! A Markdown file: its heading, and the blocks that are scenarios.

/// A file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text of its first heading.
    pub title: String,
    /// Its scenarios.
    pub blocks: Vec<Block>,
}

/// A block of scenario lines.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of its first line in the file, counted from 1.
    pub first: usize,
    /// Its lines as they stand there.
    pub lines: Vec<String>,
}

const OPENING: &str = "```scenario";
const CLOSING: &str = "```";
/// What a line of expectation begins with.
pub const MARK: &str = "> ";

impl Document {
    /// Reads a file's text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or("without a heading").to_owned();
        let mut blocks: Vec<Block> = Vec::new();
        let mut is_inside = false;
        for (at, line) in text.lines().enumerate() {
            match line.trim_end() {
                OPENING if !is_inside => {
                    is_inside = true;
                    blocks.push(Block { first: at + 2, lines: Vec::new() });
                }
                CLOSING => is_inside = false,
                _ if is_inside => {
                    if let Some(block) = blocks.last_mut() {
                        block.lines.push(line.to_owned());
                    }
                }
                _ => {}
            }
        }
        Self { title, blocks }
    }
}

/// The file's text with other lines in its blocks.
#[must_use]
pub fn rewritten(text: &str, blocks: &[Vec<String>]) -> String {
    let mut result = String::new();
    let mut blocks = blocks.iter();
    let mut is_inside = false;
    for line in text.lines() {
        let is_opening = line.trim_end() == OPENING && !is_inside;
        if is_inside && line.trim_end() == CLOSING {
            is_inside = false;
        }
        if !is_inside {
            result.push_str(line);
            result.push('\n');
        }
        if is_opening {
            is_inside = true;
            for line in blocks.next().into_iter().flatten() {
                result.push_str(line);
                result.push('\n');
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::Document;
    use super::rewritten;

    const TEXT: &str = "# A title\n\nProse.\n\n```scenario\nquota Q 8\nround\n> old\n```\n\nMore.\n";

    #[test]
    fn a_block_is_found_with_its_place() {
        let document = Document::read(TEXT);
        assert_eq!(document.title, "A title");
        assert_eq!(document.blocks[0].first, 6);
        assert_eq!(document.blocks[0].lines, ["quota Q 8", "round", "> old"]);
    }

    #[test]
    fn only_blocks_are_rewritten() {
        let lines = vec!["quota Q 8".to_owned(), "round".to_owned(), "> new".to_owned()];
        assert_eq!(rewritten(TEXT, &[lines]), TEXT.replace("old", "new"));
    }
}
