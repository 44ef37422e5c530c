//! A notification by URL: a webhook, ntfy or Slack, sent by `curl`.
//!
//! The address often holds a token. It reaches curl on standard input, never as an argument, and messages name the host alone.

use std::time::Duration;

use ralph_core::text;
use serde_json::json;

use super::Message;
use crate::config::UrlKind;
use crate::process::{self, Brief, End, SpawnError, Spec};

/// How long curl may take; ralph ends it a little later.
const SECONDS: u64 = 10;
const LIMIT: Duration = Duration::from_secs(SECONDS + 2);
const KEPT: usize = 300;

/// Where to send, and in which form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: String,
    kind: UrlKind,
}

impl Target {
    pub fn new(url: String, kind: UrlKind) -> Self {
        let kind = match (kind, host(&url)) {
            (UrlKind::Auto, "hooks.slack.com" | "hooks.slack-gov.com") => UrlKind::Slack,
            (UrlKind::Auto, host) if host == "ntfy.sh" || host.starts_with("ntfy.") => UrlKind::Ntfy,
            (UrlKind::Auto, _) => UrlKind::Json,
            (named, _) => named,
        };
        Self { url, kind }
    }

    /// `ntfy at https://ntfy.sh/…`: the rest of an address may be a secret.
    pub fn shown(&self) -> String {
        format!("{} at {}", self.kind.word(), masked(&self.url))
    }

    /// curl, with all that it needs to know on its standard input. The user's own `.curlrc` is not read: it could switch the
    /// check of certificates off.
    pub fn spec(&self, message: &Message, cwd: &std::path::Path) -> Spec {
        Spec::new("curl", cwd).args(["-q", "-K", "-"]).stdin_bytes(self.order(message))
    }

    fn order(&self, message: &Message) -> String {
        let scheme = self.url.split("://").next().unwrap_or_default().to_ascii_lowercase();
        let (kind, body) = match self.kind {
            UrlKind::Ntfy => ("text/plain; charset=utf-8", message.below_title()),
            UrlKind::Slack => ("application/json", json!({"text": message.text}).to_string()),
            UrlKind::Json | UrlKind::Auto => ("application/json", message.document().to_string()),
        };
        let mut lines = vec![
            option("url", &self.url),
            option("proto", &format!("={scheme}")),
            option("header", &format!("Content-Type: {kind}")),
            // Not `data`: that reads a file where the text begins with @.
            option("data-raw", &body),
            option("max-time", &SECONDS.to_string()),
            option("output", "/dev/null"),
            option("write-out", "%{http_code}"),
            "silent".into(),
            "show-error".into(),
            // Brackets and braces are part of the address.
            "globoff".into(),
        ];
        if self.kind == UrlKind::Ntfy {
            lines.push(option("header", &format!("Title: {}", text::one_line(&message.title, 200))));
        }
        lines.join("\n") + "\n"
    }

    /// Whether it arrived; else why not, without the secrets of the address.
    pub fn send(&self, spec: &Spec) -> Result<(), String> {
        let Brief { end, words, stdout, .. } =
            process::run_for(spec, LIMIT).map_err(|error| match error {
                SpawnError::NotFound { .. } => "curl is not installed; notify.url needs it".to_owned(),
                error => error.to_string(),
            })?;
        let status = stdout.trim();
        match end {
            End::Exited(0) if status.starts_with('2') => Ok(()),
            End::Exited(0) if status.starts_with('3') => {
                Err(format!("the server redirects (status {status}), which is not followed"))
            }
            End::Exited(0) => Err(format!("the server refused it (status {status})")),
            End::TimedOut => Err(format!("no answer within {} seconds", LIMIT.as_secs())),
            end => {
                let words = text::one_line(&text::plain(words.trim_start_matches("000")), KEPT);
                let words = self.without_secrets(&words);
                Err(if words.is_empty() { end.to_string() } else { words })
            }
        }
    }

    fn without_secrets(&self, words: &str) -> String {
        let behind = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, path) = behind.split_at(behind.find(['/', '?', '#']).unwrap_or(behind.len()));
        let login = authority.rsplit_once('@').map_or("", |(login, _)| login);
        let mut hidden = words.to_owned();
        for secret in [path, path.trim_start_matches('/'), login].into_iter().filter(|part| part.len() > 2) {
            hidden = hidden.replace(secret, "…");
        }
        hidden
    }
}

/// An option of curl's configuration, quoted as curl reads it.
fn option(name: &str, value: &str) -> String {
    let mut quoted = String::new();
    for c in value.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {}
            c => quoted.push(c),
        }
    }
    format!("{name} = \"{quoted}\"")
}

/// An address as it may be shown.
pub(crate) fn masked(url: &str) -> String {
    let scheme = url.split("://").next().unwrap_or_default();
    format!("{scheme}://{}/…", host(url))
}

/// Without login and port.
pub(crate) fn host(url: &str) -> &str {
    let behind = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
    let named = authority.rsplit_once('@').map_or(authority, |(_, named)| named);
    match named.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => named.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target::new(url.into(), UrlKind::Auto)
    }

    #[test]
    fn the_host_tells_which_form_is_wanted_and_the_rest_of_the_address_is_not_shown() {
        for (url, shown) in [
            ("https://hooks.slack.com/services/T0/B0/secret", "slack at https://hooks.slack.com/…"),
            ("https://ntfy.sh/my-topic", "ntfy at https://ntfy.sh/…"),
            ("https://ntfy.example.org/topic?auth=x", "ntfy at https://ntfy.example.org/…"),
            ("https://me:secret@example.org:8443/hook", "json at https://example.org/…"),
            ("http://[::1]:80/hook", "json at http://::1/…"),
            ("https://example.org/ntfy.sh", "json at https://example.org/…"),
        ] {
            assert_eq!(target(url).shown(), shown, "{url}");
        }
        let named = Target::new("https://chat.example.org/hooks/1".into(), UrlKind::Slack);
        assert_eq!(named.shown(), "slack at https://chat.example.org/…");
    }

    #[test]
    fn no_text_becomes_another_option_of_curl_s_or_a_file() {
        assert_eq!(option("data-raw", "@/etc/passwd"), "data-raw = \"@/etc/passwd\"");
        assert_eq!(option("url", "a\"\nproxy = \\x\r\0"), "url = \"a\\\"\\nproxy = \\\\x\"");
    }

    #[test]
    fn what_curl_says_about_an_address_loses_its_token_and_login() {
        let target = target("https://me:pw@example.org/hook/SECRET?key=K");
        let said = "curl: (3) bad URL https://me:pw@example.org/hook/SECRET?key=K";
        assert_eq!(target.without_secrets(said), "curl: (3) bad URL https://…@example.org…");
    }
}
