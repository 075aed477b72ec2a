//! What becomes of an input, and what has to hold of each.

/// How inputs are checked: by what needs nothing, or by what is made once.
pub(crate) enum Work {
    Plain(fn(&[u8]) -> Result<Told, String>),
    Made(fn() -> Result<Check, String>),
}

impl Work {
    pub(crate) fn check(&self) -> Result<Check, String> {
        match self {
            Self::Plain(check) => Ok(Box::new(*check)),
            Self::Made(make) => make(),
        }
    }
}

/// Reads an input. An error is a fault of the code; that something is refused is none.
pub(crate) type Check = Box<dyn FnMut(&[u8]) -> Result<Told, String>>;

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It cannot be read, and somebody was told why.
    Refused,
    /// It can be read, and what it is for refuses it.
    Read,
    /// It has an effect.
    Accepted,
}

/// A refusal has to say something.
pub(crate) fn refused(words: &impl ToString) -> Result<Told, String> {
    if words.to_string().len() < 8 { Err("it is refused without words".to_owned()) } else { Ok(Told::Refused) }
}

/// What can be read is the same once it has been written and read again.
pub(crate) fn same<T: PartialEq>(one: &T, again: Result<T, String>) -> Result<(), String> {
    match again {
        Ok(again) if again == *one => Ok(()),
        Ok(_) => Err("it is something else once it has been written and read again".to_owned()),
        Err(error) => Err(format!("it cannot be read again once it has been written: {error}")),
    }
}
