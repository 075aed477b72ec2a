//! Files of a crate that use each other in a circle.
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::modules::{Graph, graph};
use crate::source::{Fault, Source};

/// The circles that are still there, each a paragraph with a file a line.
pub(crate) const KNOWN: &str = "xtask/tests/tidy/circles.txt";

type Circle = BTreeSet<String>;

/// Every circle that is not listed, and every listed one that is not there.
pub(crate) fn check(sources: &[Source], known: &Source) -> Vec<Fault> {
    let graph = graph(sources);
    let found = circles(&graph);
    let listed = paragraphs(known);
    let is_listed = |circle: &&Circle| listed.iter().any(|(_, known)| known == *circle);
    let new = found.iter().filter(|circle| !is_listed(circle)).map(|circle| {
        let way = way_around(&graph, circle);
        let (first, line) = &way[0];
        let source = sources.iter().find(|source| source.path == *first).expect("the circle is of these files");
        source.fault(*line, told(circle, &way))
    });
    let gone = listed.iter().filter(|(_, circle)| !found.contains(circle)).map(|(line, circle)| {
        let smaller = found.iter().find(|found| found.is_subset(circle));
        let what = smaller.map_or("no such circle is there any more: delete its lines".to_owned(), |smaller| {
            let left: Vec<&str> = circle.difference(smaller).map(String::as_str).collect();
            format!("the circle is smaller now: delete the lines {}", left.join(" "))
        });
        known.fault(*line, what)
    });
    new.chain(gone).collect()
}

/// The listed circles, each with its first line.
fn paragraphs(known: &Source) -> Vec<(usize, Circle)> {
    let mut circles: Vec<(usize, Circle)> = Vec::new();
    let mut is_inside = false;
    for (index, line) in known.text.lines().enumerate() {
        match circles.last_mut() {
            Some((_, circle)) if is_inside && !line.is_empty() => {
                circle.insert(line.to_owned());
            }
            Some(_) | None if line.is_empty() => {}
            Some(_) | None => circles.push((index + 1, Circle::from([line.to_owned()]))),
        }
        is_inside = !line.is_empty();
    }
    circles
}

fn told(circle: &Circle, way: &[(String, usize)]) -> String {
    let steps: Vec<String> = way.iter().map(|(file, line)| format!("{file}:{line}")).collect();
    let files: Vec<&str> = circle.iter().map(String::as_str).collect();
    format!(
        "{} files use each other in a circle, one way around it is {}: move what they share into a file that uses none \
         of them. All of its files: {}",
        files.len(),
        steps.join(" > "),
        files.join(" "),
    )
}

/// Files of which each is reached from each.
fn circles(graph: &Graph) -> Vec<Circle> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (file.as_str(), reach(graph, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        if others.contains(file) {
            let back = others.iter().filter(|other| reached[*other].contains(file));
            circles.insert(back.map(|other| (*other).to_owned()).collect::<Circle>());
        }
    }
    circles.into_iter().collect()
}

/// The files that one uses, and that these use, and so on.
fn reach<'a>(graph: &'a Graph, file: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        open.extend(graph[file].keys().map(String::as_str).filter(|used| reached.insert(*used)));
    }
    reached
}

/// A shortest way from the circle's first file back to it: each file with the line that uses the next one.
fn way_around(graph: &Graph, circle: &Circle) -> Vec<(String, usize)> {
    let start = circle.first().expect("a circle has files");
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open = VecDeque::from([start.as_str()]);
    while let Some(file) = open.pop_front() {
        for used in graph[file].keys().filter(|used| circle.contains(*used)) {
            before.entry(used).or_insert_with(|| {
                open.push_back(used);
                file
            });
        }
    }
    let mut way = Vec::new();
    let mut next = start.as_str();
    loop {
        let file = before[next];
        way.insert(0, (file.to_owned(), graph[file][next]));
        next = file;
        if file == start {
            return way;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, check};
    use crate::source::Source;

    const A_USES_B: (&str, &str) = ("a.rs", "\nuse crate::b::B;");

    fn faults(known: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source { path: format!("x/src/{path}"), text: (*text).to_owned() };
        let sources: Vec<Source> = files.iter().chain([&("lib.rs", "")]).map(source).collect();
        let known = Source { path: KNOWN.to_owned(), text: known.to_owned() };
        check(&sources, &known).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_of_two_files_fires_with_its_lines() {
        assert_eq!(
            faults("", &[A_USES_B, ("b.rs", "use super::a::A;")]),
            [
                "x/src/a.rs:2: 2 files use each other in a circle, one way around it is x/src/a.rs:2 > x/src/b.rs:1: move \
              what they share into a file that uses none of them. All of its files: x/src/a.rs x/src/b.rs"
            ]
        );
    }

    #[test]
    fn a_longer_circle_fires_once() {
        assert_eq!(faults("", &[A_USES_B, ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")]).len(), 1);
    }

    #[test]
    fn a_child_and_a_parent_that_use_each_other_fire() {
        let child = ("a/b.rs", "use super::A;");
        assert_eq!(faults("", &[("a/mod.rs", "mod b;\npub struct A(b::B);"), child]).len(), 1);
        assert!(faults("", &[("a/mod.rs", "mod b;\npub use b::B;\npub struct A;"), child]).is_empty());
    }

    #[test]
    fn files_in_a_row_are_no_circle() {
        assert!(faults("", &[A_USES_B, ("b.rs", "use crate::c::C;"), ("c.rs", "")]).is_empty());
    }

    #[test]
    fn a_known_circle_is_free_until_it_changes() {
        let known = "\nx/src/a.rs\nx/src/b.rs\n";
        let b = ("b.rs", "use crate::a::A;");
        assert!(faults(known, &[A_USES_B, b]).is_empty());
        assert_eq!(
            faults(known, &[A_USES_B, ("b.rs", "")]),
            ["xtask/tests/tidy/circles.txt:2: no such circle is there any more: delete its lines"]
        );
        let grown = [A_USES_B, ("b.rs", "use crate::a::A;\nuse crate::c::C;"), ("c.rs", "use crate::b::B;")];
        assert_eq!(faults(known, &grown).len(), 2);
    }

    #[test]
    fn a_known_circle_that_is_smaller_fires() {
        let known = "x/src/z.rs\n\nx/src/a.rs\nx/src/b.rs\nx/src/c.rs\n";
        assert_eq!(
            faults(known, &[A_USES_B, ("b.rs", "use crate::a::A;"), ("c.rs", "")])[1..],
            [
                "xtask/tests/tidy/circles.txt:1: no such circle is there any more: delete its lines",
                "xtask/tests/tidy/circles.txt:3: the circle is smaller now: delete the lines x/src/c.rs",
            ]
        );
    }
}
