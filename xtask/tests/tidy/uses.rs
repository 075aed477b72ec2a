//! What a file names: its `use` declarations, and the paths in its code.
use crate::source::Source;
use crate::tokens::{Token, tokens};

/// The steps of a path, such as `super`, `tree`, `Quota`.
pub(crate) type Path = Vec<String>;

#[derive(Default)]
pub(crate) struct Uses {
    pub(crate) imports: Vec<Import>,
    /// Paths and single names of the code, with their lines.
    pub(crate) named: Vec<(usize, Path)>,
}

pub(crate) struct Import {
    pub(crate) line: usize,
    /// What it is called in the file.
    pub(crate) name: String,
    pub(crate) path: Path,
    /// Whether other files get it from here: such an import alone uses nothing.
    pub(crate) is_exported: bool,
}

pub(crate) fn uses(source: &Source) -> Uses {
    let tokens = tokens(source);
    let mut uses = Uses::default();
    let mut at = 0;
    while at < tokens.len() {
        let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
        let token = tokens[at];
        if token.text == "use" && matches!(before, "" | ";" | "{" | "}" | "]" | ")" | "pub") {
            let is_exported = matches!(before, ")" | "pub");
            at = import(&tokens, at + 1, &Path::new(), is_exported, &mut uses.imports);
        } else if token.is_name() {
            let (path, end) = path(&tokens, at);
            // What stands after these is a member of a value, or a name that is given here.
            if !matches!(before, "." | "fn" | "mod") {
                uses.named.push((token.line, path));
            }
            at = end;
        } else {
            at += 1;
        }
    }
    uses
}

/// The names that `::` joins, and where they end.
fn path(tokens: &[Token], start: usize) -> (Path, usize) {
    let mut path = vec![tokens[start].text.to_owned()];
    let mut at = start + 1;
    while let [colons, name, ..] = &tokens[at..]
        && colons.text == "::"
        && name.is_name()
    {
        path.push(name.text.to_owned());
        at += 2;
    }
    (path, at)
}

/// Reads one branch of a declaration, whose trunk is `prefix`, and says where it ends.
fn import(tokens: &[Token], start: usize, prefix: &Path, is_exported: bool, imports: &mut Vec<Import>) -> usize {
    let text = |at: usize| tokens.get(at).map_or(";", |token| token.text);
    let mut full = prefix.clone();
    let mut at = start;
    while !matches!(text(at), "," | "}" | ";" | "as") {
        match text(at) {
            "{" => {
                while !matches!(text(at), "}" | ";") {
                    at = import(tokens, at + 1, &full, is_exported, imports);
                }
                return at + 1;
            }
            // `{self}` names what stands before the brace.
            "self" if !full.is_empty() => {}
            "::" => {}
            step => full.push(step.to_owned()),
        }
        at += 1;
    }
    let mut name = full.last().cloned().unwrap_or_default();
    if text(at) == "as" {
        text(at + 1).clone_into(&mut name);
        at += 2;
    }
    // Nothing stands between a last comma and its brace.
    if full.len() > prefix.len() || text(start) == "self" {
        imports.push(Import { line: tokens[start].line, name, path: full, is_exported });
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Import, uses};
    use crate::source::Source;

    fn source(text: &str) -> Source {
        Source { path: String::new(), text: text.to_owned() }
    }

    fn imports(text: &str) -> Vec<String> {
        let line = |Import { line, name, path, is_exported }: Import| {
            format!("{line} {}{name}={}", if is_exported { "pub " } else { "" }, path.join("::"))
        };
        uses(&source(text)).imports.into_iter().map(line).collect()
    }

    fn named(text: &str) -> Vec<String> {
        uses(&source(text)).named.iter().map(|(line, path)| format!("{line} {}", path.join("::"))).collect()
    }

    #[test]
    fn imports_are_read() {
        assert_eq!(imports("use a::b::C;\nuse d;"), ["1 C=a::b::C", "2 d=d"]);
        assert_eq!(imports("pub use a::B;\npub(crate) use c::D;"), ["1 pub B=a::B", "2 pub D=c::D"]);
    }

    #[test]
    fn groups_of_imports_are_read() {
        assert_eq!(
            imports("use a::{self, b::{C, D},\n e::F as G,};\nuse h::I;"),
            ["1 a=a", "1 C=a::b::C", "1 D=a::b::D", "2 G=a::e::F", "3 I=h::I"]
        );
    }

    #[test]
    fn imports_without_a_name_and_of_all_are_read() {
        assert_eq!(imports("use a::B as _;\nuse c::*;"), ["1 _=a::B", "2 *=c::*"]);
    }

    #[test]
    fn paths_of_code_are_read() {
        assert_eq!(named("a::b::<c::D>();\ne"), ["1 a::b", "1 c::D", "2 e"]);
    }

    #[test]
    fn members_and_what_is_named_here_are_no_uses() {
        assert_eq!(named("a.b"), ["1 a"]);
        assert_eq!(named("fn f();").first().map(String::as_str), Some("1 fn"));
        assert_eq!(named("fn f();").len(), 1);
    }

    #[test]
    fn what_a_type_captures_is_no_import() {
        assert!(imports("impl A + use<'a, B>").is_empty());
    }
}
