//! Files of a crate that use each other in a circle.
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::modules::{Graph, graph};
use crate::source::{Fault, Source};

type Circle = BTreeSet<String>;

/// Every circle, told where its first file steps into it.
pub(crate) fn check(sources: &[Source]) -> Vec<Fault> {
    let graph = graph(sources);
    let fault = |circle: &Circle| {
        let way = way_around(&graph, circle);
        let (first, line) = &way[0];
        let source = sources.iter().find(|source| source.path == *first).expect("the circle is of these files");
        source.fault(*line, told(circle, &way))
    };
    circles(&graph).iter().map(fault).collect()
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
    use super::check;
    use crate::source::Source;

    const A_USES_B: (&str, &str) = ("a.rs", "\nuse crate::b::B;");

    fn faults(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source { path: format!("x/src/{path}"), text: (*text).to_owned() };
        let sources: Vec<Source> = files.iter().chain([&("lib.rs", "")]).map(source).collect();
        check(&sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_of_two_files_fires_with_its_lines() {
        assert_eq!(
            faults(&[A_USES_B, ("b.rs", "use super::a::A;")]),
            [
                "x/src/a.rs:2: 2 files use each other in a circle, one way around it is x/src/a.rs:2 > x/src/b.rs:1: move \
              what they share into a file that uses none of them. All of its files: x/src/a.rs x/src/b.rs"
            ]
        );
    }

    #[test]
    fn a_longer_circle_fires_once() {
        assert_eq!(faults(&[A_USES_B, ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")]).len(), 1);
    }

    #[test]
    fn a_child_and_a_parent_that_use_each_other_fire() {
        let child = ("a/b.rs", "use super::A;");
        assert_eq!(faults(&[("a/mod.rs", "mod b;\npub struct A(b::B);"), child]).len(), 1);
        assert!(faults(&[("a/mod.rs", "mod b;\npub use b::B;\npub struct A;"), child]).is_empty());
    }

    #[test]
    fn files_in_a_row_are_no_circle() {
        assert!(faults(&[A_USES_B, ("b.rs", "use crate::c::C;"), ("c.rs", "")]).is_empty());
    }
}
