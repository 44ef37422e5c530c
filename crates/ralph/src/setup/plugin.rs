//! The loop of Claude's ralph-loop plugin: one file, with its figures in front and its prompt below.

use std::path::Path;

use ralph_core::text;

pub(crate) const FILE: &str = ".claude/ralph-loop.local.md";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plugin {
    /// `None`: the file does not say, or is none of the plugin's.
    active: Option<bool>,
    iteration: Option<u64>,
    /// As it is written; 0: none.
    max_iterations: Option<String>,
    pub(crate) promise: Option<String>,
    pub(crate) prompt: String,
}

/// `None` where there is no such file.
pub(super) fn read(root: &Path) -> Option<Plugin> {
    let path = root.join(FILE);
    if !path.is_file() {
        return None;
    }
    let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Some(parse(&text.unwrap_or_default()))
}

/// What to say of it where it would hold the same session as ralph.
pub(crate) fn in_the_way(root: &Path) -> Option<String> {
    read(root).filter(|plugin| plugin.active == Some(true)).map(|plugin| plugin.told())
}

fn parse(text: &str) -> Plugin {
    let text = text.replace("\r\n", "\n");
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let Some((front, prompt)) = parts else { return Plugin::default() };
    let value = |key: &str| {
        let line = front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.map(str::trim).filter(|value| *value != "null").map(unquoted)
    };
    Plugin {
        active: value("active").and_then(|value| value.parse().ok()),
        iteration: value("iteration").and_then(|value| value.parse().ok()),
        max_iterations: value("max_iterations")
            .filter(|max| !max.is_empty() && *max != "0")
            .map(str::to_owned),
        promise: value("completion_promise").filter(|promise| !promise.is_empty()).map(str::to_owned),
        prompt: prompt.trim().to_owned(),
    }
}

/// Without one pair of quotes around it, as the plugin reads it: it escapes nothing, so that others are the text's own.
fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

impl Plugin {
    /// How it stands, and what to do about it.
    pub(super) fn told(&self) -> String {
        let nth = self.iteration.map_or_else(String::new, |nth| match &self.max_iterations {
            Some(max) => format!(", at iteration {nth} of {}", text::one_line(max, 20)),
            None => format!(", at iteration {nth}"),
        });
        match self.active {
            Some(true) => format!(
                "the ralph-loop plugin is active in this project{nth}: two loops would hold one session; \
                 /cancel-ralph ends it"
            ),
            Some(false) => format!("a loop of the ralph-loop plugin that is not active{nth}"),
            None => {
                "named like the ralph-loop plugin's, but it does not say whether its loop is active".into()
            }
        }
    }

    /// What it is limited by and listens for, as settings.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let settings = [
            ("policy.max_iterations", self.max_iterations.clone()),
            ("policy.promise", self.promise.clone()),
        ];
        settings.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }

    /// The command that goes on with its prompt: the prompt itself where it can be typed as it stands, else taken from
    /// the file.
    pub(crate) fn next(&self) -> Option<String> {
        const LONGEST: usize = 60;
        let plain = |c: char| !c.is_control() && !"\"$`\\!".contains(c);
        match self.prompt.as_str() {
            "" => None,
            short if short.chars().count() <= LONGEST && short.chars().all(plain) => {
                Some(format!("ralph run \"{short}\""))
            }
            _ => Some(format!("ralph run \"$(awk 'n > 1; /^---\\r?$/ {{n++}}' {FILE})\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "---\nactive: true\niteration: 3\nsession_id: \"abc\"\nmax_iterations: 50\n\
                        completion_promise: \"ALL DONE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\nFix it.\n";

    #[test]
    fn what_the_plugin_wrote_is_read() {
        let plugin = parse(TEXT);
        assert_eq!(
            plugin.settings(),
            [
                ("policy.max_iterations".to_owned(), "50".to_owned()),
                ("policy.promise".to_owned(), "ALL DONE".to_owned())
            ]
        );
        assert!(plugin.told().contains("is active in this project, at iteration 3 of 50: "));
        assert_eq!(plugin.next().as_deref(), Some("ralph run \"Fix it.\""));
        assert_eq!(parse(&TEXT.replace('\n', "\r\n")), plugin);
    }

    #[test]
    fn one_pair_of_quotes_is_around_a_value_and_others_are_its_own() {
        for (written, read) in [
            ("\"say \"done\"\"", Some("say \"done\"")),
            ("'it's done'", Some("it's done")),
            ("say \"done\"", Some("say \"done\"")),
            ("\"null\"", Some("null")),
            ("\"", Some("\"")),
            ("\"a -> b\"", Some("a -> b")),
            ("null", None),
            ("\"\"", None),
            ("", None),
        ] {
            let plugin = parse(&TEXT.replace("\"ALL DONE\"", written));
            assert_eq!(plugin.promise.as_deref(), read, "{written}");
        }
    }

    #[test]
    fn what_it_does_not_say_is_not_told() {
        let other = TEXT.replace("active: true", "active: false").replace("\"ALL DONE\"", "null");
        let plugin = parse(&other.replace("max_iterations: 50", "max_iterations: 0"));
        assert_eq!(plugin.settings(), []);
        assert_eq!(plugin.told(), "a loop of the ralph-loop plugin that is not active, at iteration 3");
        let none = parse("theirs\n");
        assert_eq!(none, Plugin::default());
        assert!(none.told().contains("does not say") && none.next().is_none());
    }

    #[test]
    fn a_prompt_that_cannot_be_typed_as_it_stands_is_taken_from_the_file() {
        for prompt in ["Two\nlines", "costs $5", "say \"x\""] {
            let next = parse(&TEXT.replace("Fix it.", prompt)).next().expect("a prompt");
            assert!(next.starts_with("ralph run \"$(awk "), "{next}");
        }
    }
}
