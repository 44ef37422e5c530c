//! What the files of a project contribute to a prompt.

use std::path::Path;

use ralph_core::profile::Protocol;
use ralph_core::prompt::Materials;

use crate::project::Project;

#[derive(Debug, Default)]
pub(crate) struct Texts {
    instructions: Option<String>,
    knowledge: Option<String>,
    handoff: Option<String>,
    guardrails: Option<String>,
    /// What was left out, and why.
    pub(crate) warnings: Vec<String>,
}

impl Texts {
    /// `knowledge` is the file that the agent does not load itself.
    pub(crate) fn read(project: &Project, protocol: Protocol, knowledge: Option<&str>) -> Self {
        let mut warnings = Vec::new();
        let mut read = |dir: &Path, name: &str| read_text(&dir.join(name), &mut warnings);
        let (own, root) = (&project.ralph_dir, &project.root);
        let names = match protocol {
            Protocol::StatusFile => ["handoff.md", "scratchpad.md"],
            _ => ["scratchpad.md", "handoff.md"],
        };
        Self {
            instructions: read(own, "prompt.md"),
            guardrails: read(own, "guardrails.md"),
            handoff: names.iter().find_map(|name| read(own, name)),
            knowledge: knowledge.and_then(|name| read(root, name)),
            warnings,
        }
    }

    pub(crate) fn materials<'a>(&'a self, project: &'a str) -> Materials<'a> {
        Materials {
            project,
            instructions: self.instructions.as_deref(),
            knowledge: self.knowledge.as_deref(),
            handoff: self.handoff.as_deref(),
            guardrails: self.guardrails.as_deref(),
        }
    }
}

/// A file for the prompt, whatever its bytes; absent if it is empty or not there. Only regular files: a pipe would
/// hold the loop up.
pub(super) fn read_text(path: &Path, warnings: &mut Vec<String>) -> Option<String> {
    let data = std::fs::metadata(path).ok()?;
    if !data.is_file() {
        warnings.push(format!("{} is not a file and was left out of the prompt", path.display()));
        return None;
    }
    match std::fs::read(path) {
        Ok(bytes) => {
            Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.trim().is_empty())
        }
        Err(error) => {
            warnings.push(format!("{} was left out of the prompt: {error}", path.display()));
            None
        }
    }
}
