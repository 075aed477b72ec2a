//! The console and the Worker on this computer, with a running clock.
use crate::bundle;
use crate::process::{Failure, command, show};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

pub(crate) struct Options {
    port: u16,
    every_s: u32,
    is_fresh: bool,
    has_agent: bool,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { port: 8787, every_s: 60, is_fresh: false, has_agent: cfg!(target_os = "linux") };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match *word {
                "--port" => options.port = number(word, rest.next())?,
                "--every" => options.every_s = number(word, rest.next())?,
                "--fresh" => options.is_fresh = true,
                "--no-agent" => options.has_agent = false,
                other => {
                    let remedy = "use --port, --every, --fresh or --no-agent";
                    return Err(Failure::new(format!("dev has no option {other}"), remedy));
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
    let Options { port, every_s, is_fresh, has_agent } = options;
    // Before the build, so that nobody waits for a build that cannot be served.
    if let Err(error) = TcpListener::bind(("127.0.0.1", *port)) {
        return Err(Failure::new(
            format!("port {port} cannot be used: {error}"),
            "stop the program that uses it, or choose another with --port",
        ));
    }
    bundle::build(bundle::Profile::Dev, &[])?;
    let agent = has_agent.then(agent).transpose()?;

    println!("serving; a round every {every_s} s; a saved file reloads; ctrl-C stops");
    let mut node = command("node", &["worker/serve.mjs", "--watch", "--lab"]);
    node.args(["--port", &port.to_string()]);
    node.args(["--every", &every_s.to_string()]);
    if *is_fresh {
        node.arg("--fresh");
    }
    if let Some(program) = agent {
        node.arg("--agent").arg(program);
    }
    // The server takes this process's place, so that ctrl-C reaches it alone and it can shut down in order,
    // its agent first.
    let error = node.exec();
    Err(Failure::new(format!("node did not start: {error}"), "install Node 20 or later"))
}

/// The program that runs the jobs of the cluster `workshop`.
fn agent() -> Result<PathBuf, Failure> {
    let remedy = "correct what the compiler says above, or serve without real processes by --no-agent";
    show("cargo", &["build", "--locked", "--bin", "tidegate"], remedy)?;
    Ok(bundle::cargo_output_dir().join("debug/tidegate"))
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_have_defaults() {
        let Options { port, every_s, is_fresh, has_agent } = Options::parse(&[]).expect("no option is needed");
        assert_eq!((port, every_s, is_fresh, has_agent), (8787, 60, false, cfg!(target_os = "linux")));
    }

    #[test]
    fn options_are_read() {
        let words = ["--fresh", "--port", "9000", "--every", "1", "--no-agent"];
        let Options { port, every_s, is_fresh, has_agent } = Options::parse(&words).expect("these are options");
        assert_eq!((port, every_s, is_fresh, has_agent), (9000, 1, true, false));
    }

    #[test]
    fn a_port_must_be_a_number() {
        assert!(Options::parse(&["--port", "http"]).is_err());
        assert!(Options::parse(&["--port"]).is_err());
        assert!(Options::parse(&["--prot", "1"]).is_err());
    }
}
