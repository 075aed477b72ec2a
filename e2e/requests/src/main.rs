//! Answers one request natively, so that its instructions can be counted: `requests NUMBER JOBS answer_only`, or
//! `verify_and_answer` to find out who sends it as well. Without a number it names the requests, a line each.

use std::process::ExitCode;

use requests::desk;
use requests::desk::Desk;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [number, jobs, how] = arguments.as_slice() else {
        for asked in &desk::REQUESTS {
            println!("{}", asked.name);
        }
        return ExitCode::SUCCESS;
    };
    let asked = number.parse().ok().and_then(|number: usize| desk::REQUESTS.get(number));
    let Some(mut desk) = asked.zip(jobs.parse().ok()).and_then(|(asked, jobs)| Desk::new(asked, jobs)) else {
        return told("there is no such request, or no such cluster");
    };
    let is_answered = match how.as_str() {
        "answer_only" => desk::answer_only(&mut desk),
        "verify_and_answer" => desk::verify_and_answer(&mut desk),
        _ => return told("the last word is answer_only or verify_and_answer"),
    };
    if is_answered { ExitCode::SUCCESS } else { told("the request is refused") }
}

fn told(problem: &str) -> ExitCode {
    eprintln!("requests: {problem}");
    ExitCode::FAILURE
}
