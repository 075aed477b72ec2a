//! Letters that nobody sees: a name with one of them looks like another name, or turns round what stands beside it.
//!
//! They are refused where a name is new, and nowhere else: what has been stored can be read, changed and removed. Other
//! control characters are in no name at all ([`engine::unit::id`]).

use engine::message::command::Command;
use engine::message::envelope::Envelope;
use engine::message::rejection::Rejection;
use engine::state::world::State;

/// Letters of no width, and those that change the direction of others.
fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters that join others, without which some languages and pictures cannot be written. Texts may have them.
fn is_joint(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200d}')
}

/// Whether all that a command names for the first time can be seen.
pub(crate) fn check(state: &State, envelope: &Envelope) -> Result<(), Rejection> {
    name("command", envelope.id.as_str())?;
    of_command(state, &envelope.command)
}

fn of_command(state: &State, command: &Command) -> Result<(), Rejection> {
    if let Command::ApplyPlan(plan) = command {
        return plan.commands.iter().try_for_each(|command| of_command(state, command));
    }
    if let Command::SubmitJob(command) = command
        && state.jobs.find(&command.job).is_none()
    {
        name("job", command.job.as_str())?;
        command.user.as_ref().map_or(Ok(()), |user| name("user", user.as_str()))?;
        text("the name", command.name.as_deref())?;
    } else if let Command::CreateQuota(command) = command
        && state.quota_no(&command.quota).is_none()
    {
        name("quota", command.quota.as_str())?;
    } else if let Command::PutGroup(command) = command
        && state.group_no(&command.group).is_none()
    {
        name("resource group", command.group.as_str())?;
    } else if let Command::PutNode(command) = command
        && state.node_no(&command.node).is_none()
    {
        name("node", command.node.as_str())?;
    } else if let Command::CreateOffer(command) = command
        && state.market.offer_no(&command.offer).is_none()
    {
        name("offer", command.offer.as_str())?;
    } else if let Command::PutWorkspace(command) = command {
        if !state.workspaces.contains_key(&command.workspace) {
            name("workspace", command.workspace.as_str())?;
        }
        text("the name", command.name.as_deref())?;
        text("the description", command.description.as_deref())?;
    } else if let Command::PutMember(command) = command
        && state.workspaces.get(&command.workspace).is_none_or(|of| !of.members.contains_key(&command.user))
    {
        name("user", command.user.as_str())?;
    } else if let Command::CreateKey(command) = command
        && !state.keys.contains_key(&command.key)
    {
        name("key", command.key.as_str())?;
        name("user", command.user.as_str())?;
    }
    Ok(())
}

fn name(what: &str, name: &str) -> Result<(), Rejection> {
    refuse(format_args!("the name of the {what}"), name, is_unseen)
}

fn text(what: &str, text: Option<&str>) -> Result<(), Rejection> {
    text.map_or(Ok(()), |text| refuse(what, text, |letter| is_unseen(letter) && !is_joint(letter)))
}

fn refuse(what: impl std::fmt::Display, text: &str, is_bad: impl Fn(char) -> bool) -> Result<(), Rejection> {
    let Some(bad) = text.chars().find(|letter| is_bad(*letter)) else { return Ok(()) };
    let shown: String =
        text.chars().take(40).map(|letter| if is_bad(letter) { char::REPLACEMENT_CHARACTER } else { letter }).collect();
    let code = u32::from(bad);
    let reason = format!("{what} \"{shown}\" has a letter that nobody sees, U+{code:04X}; leave it out");
    Err(Rejection::Structure { reason })
}

#[cfg(test)]
mod tests {
    use engine::message;
    use engine::message::command::Command;
    use engine::message::envelope::Envelope;
    use engine::state::world::State;

    use super::check;

    fn told(id: &str, command: &str) -> Result<(), String> {
        let command: Command = message::read(command.as_bytes()).expect("it can be read");
        let envelope = Envelope {
            format: message::FORMAT,
            id: engine::unit::id::CommandId::new(id).expect("a good name"),
            by: None,
            base: None,
            dry_run: false,
            command,
        };
        check(&State::default(), &envelope).map_err(|rejection| rejection.to_string())
    }

    #[test]
    fn letters_that_nobody_sees_are_in_no_new_name() {
        for letter in ['\u{200b}', '\u{200d}', '\u{200f}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{ad}', '\u{e0041}'] {
            let pods = r#""pods":[{"amount":{"gpu":1000}}]"#;
            for command in [
                format!(r#"{{"submit_job":{{"job":"a{letter}b","quota":"q",{pods}}}}}"#),
                format!(r#"{{"submit_job":{{"job":"ab","user":"x{letter}","quota":"q",{pods}}}}}"#),
                format!(r#"{{"create_quota":{{"quota":"a{letter}","min":{{}}}}}}"#),
                format!(r#"{{"put_group":{{"group":"a{letter}","resource_type":"lingjun"}}}}"#),
                format!(r#"{{"put_node":{{"node":"a{letter}","group":"g","amount":{{}}}}}}"#),
                format!(r#"{{"put_workspace":{{"workspace":"{letter}w"}}}}"#),
                format!(r#"{{"put_member":{{"workspace":"w","user":"a{letter}","roles":["guest"]}}}}"#),
                format!(r#"{{"create_key":{{"key":"demo.k","user":"a{letter}"}}}}"#),
                format!(r#"{{"apply_plan":{{"commands":[{{"create_quota":{{"quota":"a{letter}","min":{{}}}}}}]}}}}"#),
            ] {
                let told = told("x", &command).expect_err(&command);
                assert!(told.contains(&format!("U+{:04X}; leave it out", u32::from(letter))), "{told}");
                assert!(!told.contains(letter), "{told}");
            }
            assert!(told(&format!("x{letter}"), r#"{"round":{}}"#).is_err());
        }
    }

    #[test]
    fn texts_may_join_letters_and_turn_nothing_round() {
        let named = |text: &str| {
            let pods = r#""pods":[{"amount":{"gpu":1000}}]"#;
            told("x", &format!(r#"{{"submit_job":{{"job":"ab","quota":"q","name":"{text}",{pods}}}}}"#))
        };
        assert_eq!(named("训练 می\u{200c}خواهم 👩\u{200d}💻 naïve"), Ok(()));
        let told = named("gpj.\u{202e}exe").expect_err("it is refused");
        assert_eq!(told, "the name \"gpj.\u{fffd}exe\" has a letter that nobody sees, U+202E; leave it out");
    }
}
