//! The way between agents and the stand-in for the service: a socket of this computer, one question a connection.
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use agent::message::FORMAT;
use agent::message::Hello;
use agent::message::SyncAnswer;
use agent::message::SyncRequest;
use agent::message::Tail;
use agent::message::TailKept;
use agent::message::Welcome;
use agent::script::Script;
use runner::serve::Link;
use runner::serve::LinkError;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Serialize, Deserialize)]
pub(crate) enum Question {
    Hello(usize, Hello),
    Sync(usize, SyncRequest),
}

/// None is the answer to an agent that is not the newest.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    Hello(Option<Welcome>),
    Sync(Option<SyncAnswer>),
}

pub(crate) struct Socket {
    pub(crate) path: PathBuf,
    pub(crate) agent: usize,
    /// What every job executes.
    pub(crate) command: Vec<String>,
}

impl Socket {
    fn ask(&self, question: &Question) -> Result<Answer, LinkError> {
        let asked = || {
            let mut stream = UnixStream::connect(&self.path)?;
            stream.set_read_timeout(Some(Duration::from_secs(2)))?;
            write(&mut stream, question)?;
            read(&stream)
        };
        asked().map_err(|error: io::Error| LinkError::Silent(error.to_string()))
    }
}

pub(crate) fn write<T: Serialize>(stream: &mut UnixStream, message: &T) -> io::Result<()> {
    writeln!(stream, "{}", serde_json::to_string(message)?)
}

pub(crate) fn read<T: DeserializeOwned>(stream: &UnixStream) -> io::Result<T> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

impl Link for Socket {
    fn hello(&mut self, hello: &Hello) -> Result<Welcome, LinkError> {
        match self.ask(&Question::Hello(self.agent, hello.clone()))? {
            Answer::Hello(Some(welcome)) => Ok(welcome),
            Answer::Hello(None) | Answer::Sync(_) => Err(LinkError::Refused("another store".to_owned())),
        }
    }

    fn sync(&mut self, request: &SyncRequest) -> Result<SyncAnswer, LinkError> {
        match self.ask(&Question::Sync(self.agent, request.clone()))? {
            Answer::Sync(Some(answer)) => Ok(answer),
            Answer::Sync(None) | Answer::Hello(_) => Err(LinkError::Superseded),
        }
    }

    fn tail(&mut self, _tail: &Tail) -> Result<TailKept, LinkError> {
        Ok(TailKept { is_kept: false })
    }

    fn script(&mut self, _digest: &str) -> Result<Script, LinkError> {
        let (directory, environment) = (None, std::collections::BTreeMap::new());
        Ok(Script {
            format: FORMAT,
            command: self.command.clone(),
            directory,
            environment,
            checkpoint: None,
            adopted: None,
        })
    }
}
