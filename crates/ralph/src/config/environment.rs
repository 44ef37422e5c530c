//! `RALPH_*`: above the files and below the command line. `RALPH_GATE` is the policy's `gate`. What ralph does not know is
//! passed over, for agents, tests and other tools have variables of that kind too.

use std::ffi::OsString;

use ralph_core::profile::KEYS;

use super::{BACKLOG, Config, PERMISSIONS, POOL, PROFILE, notify, profile_named};
use crate::error::{Error, Result};
use crate::settings::{Value, pool};

/// What ralph says to agents, checks and commands: never read as a setting.
#[cfg(test)]
const SAID: [&str; 8] = [
    "RALPH_PROMPT_FILE",
    "RALPH_ITERATION",
    "RALPH_RUN_ID",
    "RALPH_DIR",
    "RALPH_NOTIFY_EVENT",
    "RALPH_NOTIFY_TITLE",
    "RALPH_NOTIFY_TEXT",
    "RALPH_CHECKPOINT_EVERY",
];

/// The variables beside those of the policy, and the keys that they stand for.
const OWN: [(&str, &str); 6] = [
    ("RALPH_PROFILE", PROFILE),
    ("RALPH_AGENTS", POOL),
    ("RALPH_PERMISSIONS", PERMISSIONS),
    ("RALPH_BACKLOG", BACKLOG),
    ("RALPH_NOTIFY_URL", "notify.url"),
    ("RALPH_NOTIFY_URL_KIND", "notify.url_kind"),
];

/// The variable that stands for a key of the file.
pub(super) fn variable(key: &str) -> Option<String> {
    if let Some(name) = key.strip_prefix("policy.") {
        return Some(format!("RALPH_{}", name.to_uppercase()));
    }
    OWN.iter().find(|(_, own)| *own == key).map(|(name, _)| (*name).to_owned())
}

pub(super) fn read(var: impl Fn(&str) -> Option<OsString>) -> Result<Config> {
    let mut config = Config::default();
    let text = |name: &str| match var(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(Err(_)) => Err(Error::usage(format!("{name}: this is not UTF-8")).hint(format!("unset {name}"))),
    };
    for (name, key) in OWN {
        let Some(value) = text(name)? else { continue };
        let said = Value { key: key.into(), value: value.clone(), origin: name.into() };
        match key {
            PROFILE => config.profile = Some(profile_named(&value, name)?),
            POOL => {
                config.agents.pool = value.split(',').map(|agent| agent.trim().to_owned()).collect();
                config.agents.pool_from = Some(name.into());
                for agent in &config.agents.pool {
                    pool::role_of(agent)
                        .map_err(|error| Error { what: format!("{name}: {}", error.what), ..error })?;
                }
            }
            PERMISSIONS => {
                let wrong = || {
                    super::agents::no_permissions(&value, name)
                        .hint(format!("{name}={}", super::agents::meant(&value)))
                };
                config.agents.permissions = Some(pool::permissions(&value).ok_or_else(wrong)?);
            }
            BACKLOG => config.backlog = Some(said.clone()),
            "notify.url" => {
                let value = notify::address(value, name)?;
                config.notify.url = Some(Value { value, ..said.clone() });
            }
            _ => config.notify.url_kind = Some(notify::url_kind(&value, name)?),
        }
        config.said.push(said);
    }
    for key in KEYS {
        let name = format!("RALPH_{}", key.name.to_uppercase());
        let Some(value) = text(&name)? else { continue };
        config.said.push(Value {
            key: format!("policy.{}", key.name),
            value: value.clone(),
            origin: name.clone(),
        });
        config.values.push(Value { key: key.name.into(), value, origin: name });
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys;

    fn with(list: &[(&str, &str)]) -> Result<Config> {
        read(|name| list.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn variables_are_settings_and_what_is_unknown_or_empty_is_passed_over() {
        let config = with(&[
            ("RALPH_GATE", "dual"),
            ("RALPH_MAX_ITERATIONS", " 7 "),
            ("RALPH_PROFILE", "strict"),
            ("RALPH_TIMEOUT", ""),
            ("RALPH_AGENTS", "claude, codex:review"),
            ("RALPH_PERMISSIONS", "edits"),
            ("RALPH_TEST_X", "1"),
            ("RALPH_BACKLOG", "plan.md"),
        ])
        .expect("read");
        let values: Vec<_> = config.values.iter().map(|v| (&*v.key, &*v.value, &*v.origin)).collect();
        assert_eq!(values, [("gate", "dual", "RALPH_GATE"), ("max_iterations", "7", "RALPH_MAX_ITERATIONS")]);
        assert_eq!(config.profile.as_deref(), Some("strict"));
        assert_eq!(config.agents.pool, ["claude", "codex:review"]);
        assert_eq!(config.backlog.expect("named").value, "plan.md");
        assert_eq!(config.said.len(), 6);
    }

    #[test]
    fn a_wrong_variable_is_named() {
        for (name, value, told) in [
            ("RALPH_PROFILE", "strickt", "RALPH_PROFILE: there is no profile 'strickt'"),
            ("RALPH_AGENTS", "claude:revue", "RALPH_AGENTS: there is no role"),
            ("RALPH_PERMISSIONS", "all", "RALPH_PERMISSIONS: 'all' is none of"),
        ] {
            let error = with(&[(name, value)]).expect_err(name).to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn no_setting_has_a_variable_that_ralph_uses_for_something_else() {
        for key in keys::all() {
            let Some(variable) = variable(&key.name) else { continue };
            assert!(!SAID.contains(&&*variable), "{variable}");
            assert!(
                !variable.starts_with("RALPH_TEST_") || key.name.starts_with("policy.test_"),
                "{variable}"
            );
            assert!(!variable.starts_with("RALPH_CRASH_"), "{variable}");
        }
    }
}
