//! The nodes that a job chooses, or an instance.

use crate::operation::fields::Fields;
use crate::operation::misfit::Misfit;

/// Nodes by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignNodes {
    /// Only these, if there are any.
    pub only: Vec<String>,
    /// None of these.
    pub without: Vec<String>,
}

impl AssignNodes {
    /// What one role states, or an instance. Names say nothing while they are switched off.
    pub(super) fn read(fields: &Fields) -> Result<Self, Misfit> {
        const SWITCH: &str = "EnableAssignNode";
        let Some(spec) = fields.inside("AssignNodeSpec")? else { return Ok(Self::default()) };
        let nodes = Self { only: spec.names("NodeNames")?, without: spec.names("AntiAffinityNodeNames")? };
        match spec.switch(SWITCH)? {
            Some(false) if nodes != Self::default() => {
                Err(spec.invalid_text(SWITCH, "false", "true or left out where nodes are named"))
            }
            Some(true) if nodes == Self::default() => Err(spec.missing("NodeNames")),
            Some(_) | None => Ok(nodes),
        }
    }

    /// What all roles of a job state.
    pub(super) fn of_roles(specs: &[Fields]) -> Result<Self, Misfit> {
        let mut stated = None;
        for spec in specs {
            let nodes = Self::read(spec)?;
            if stated.as_ref().is_some_and(|first| *first != nodes) {
                let expected = "the same for all of JobSpecs: the pods of a job run on the same nodes";
                let sent = spec.value("AssignNodeSpec").cloned().unwrap_or_default();
                return Err(spec.invalid("AssignNodeSpec", &sent, expected));
            }
            stated = Some(nodes);
        }
        Ok(stated.unwrap_or_default())
    }
}
