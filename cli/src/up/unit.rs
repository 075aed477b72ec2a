//! The unit with which systemd keeps the service up.

use std::path::Path;

/// Arguments that are not for the unit's own call.
const NOT_KEPT: &str = "--unit";

/// The unit's text: this call again, with the folder written out.
pub fn text(state: &Path) -> Result<String, String> {
    let problem = |error: std::io::Error| error.to_string();
    let program = std::env::current_exe().map_err(problem)?;
    let state = std::path::absolute(state).map_err(problem)?;
    let mut words = vec![program.display().to_string()];
    words.extend(std::env::args().skip(1).filter(|word| word != NOT_KEPT));
    if !words.iter().any(|word| word == "--state" || word.starts_with("--state=")) {
        words.extend(["--state".to_owned(), state.display().to_string()]);
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let call = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    Ok(format!(
        "\
# /etc/systemd/system/tidegate.service, or ~/.config/systemd/user/tidegate.service
[Unit]
Description=Tidegate
After=network.target

[Service]
ExecStart={call}
Environment={}
WorkingDirectory={}
UMask=0077
Restart=always
RestartSec=5
# Jobs go on when the service is started again: only its own processes are ended, and jobs have groups below its own.
KillMode=process
Delegate=yes

[Install]
WantedBy=default.target",
        quoted(&format!("PATH={path}")),
        quoted(&std::env::current_dir().map_err(problem)?.display().to_string()),
    ))
}

/// A word as systemd reads it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=./:,@+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    let escaped: String = word
        .chars()
        .map(|letter| match letter {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '%' => "%%".to_owned(),
            '$' => "$$".to_owned(),
            other => other.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_read_back_as_they_are() {
        assert_eq!(quoted("--port=8787"), "--port=8787");
        assert_eq!(quoted(r#"a "b" 5% $x \"#), r#""a \"b\" 5%% $$x \\""#);
        assert_eq!(quoted(""), r#""""#);
    }
}
