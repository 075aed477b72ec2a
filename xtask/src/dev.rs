//! The console and the Worker on this computer, with a running clock.
use crate::bundle;
use crate::process::{Failure, command};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;

pub(crate) struct Options {
    port: u16,
    every_s: u32,
    is_fresh: bool,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { port: 8787, every_s: 60, is_fresh: false };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match *word {
                "--port" => options.port = number(word, rest.next())?,
                "--every" => options.every_s = number(word, rest.next())?,
                "--fresh" => options.is_fresh = true,
                other => {
                    return Err(Failure::new(format!("dev has no option {other}"), "use --port, --every or --fresh"));
                }
            }
        }
        Ok(options)
    }
}

fn number<N: std::str::FromStr>(option: &str, value: Option<&&str>) -> Result<N, Failure> {
    value
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Failure::new(format!("{option} needs a number"), "give it one"))
}

pub(crate) fn serve(options: &Options) -> Result<(), Failure> {
    let Options { port, every_s, is_fresh } = options;
    // Before the build, so that nobody waits for a build that cannot be served.
    if let Err(error) = TcpListener::bind(("127.0.0.1", *port)) {
        return Err(Failure::new(
            format!("port {port} cannot be used: {error}"),
            "stop the program that uses it, or choose another with --port",
        ));
    }
    bundle::build(bundle::Profile::Dev)?;

    println!("serving; a round every {every_s} s; a saved file reloads; ctrl-C stops");
    let mut node = command("node", &["worker/serve.mjs", "--watch", "--lab"]);
    node.args(["--port", &port.to_string()]);
    node.args(["--every", &every_s.to_string()]);
    if *is_fresh {
        node.arg("--fresh");
    }
    // The server takes this process's place, so that ctrl-C reaches it alone and it can shut down in order.
    let error = node.exec();
    Err(Failure::new(format!("node did not start: {error}"), "install Node 20 or later"))
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_have_defaults() {
        let Options { port, every_s, is_fresh } = Options::parse(&[]).expect("no option is needed");
        assert_eq!((port, every_s, is_fresh), (8787, 60, false));
    }

    #[test]
    fn options_are_read() {
        let words = ["--fresh", "--port", "9000", "--every", "1"];
        let Options { port, every_s, is_fresh } = Options::parse(&words).expect("these are options");
        assert_eq!((port, every_s, is_fresh), (9000, 1, true));
    }

    #[test]
    fn a_port_must_be_a_number() {
        assert!(Options::parse(&["--port", "http"]).is_err());
        assert!(Options::parse(&["--port"]).is_err());
        assert!(Options::parse(&["--prot", "1"]).is_err());
    }
}
