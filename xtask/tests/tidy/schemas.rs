//! What the program calls its JSON is published: `"ralph.status/1"` in the sources is `schemas/ralph.status-1.json`.
//! Whether the one is as the other says, the tests of the program hold.

use crate::sources::{Source, shipped};

/// Names in sources that ship without a schema of that name.
pub(crate) fn unpublished(sources: &[Source], schemas: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in sources {
        for (number, line) in shipped(file) {
            for name in line.split('"').filter(|text| is_name(text)) {
                if schemas.iter().all(|schema| schema.path != path_of(name)) {
                    complaints.push(format!(
                        "{}:{number}: {name} is not published: write {}",
                        file.path,
                        path_of(name)
                    ));
                }
            }
        }
    }
    complaints
}

/// Schemas that no source or test names, or whose title is not their name.
pub(crate) fn unused(sources: &[Source], schemas: &[Source]) -> Vec<String> {
    let wrong = schemas.iter().filter(|schema| {
        let stem = schema.path.trim_start_matches("schemas/").trim_end_matches(".json");
        let Some((name, version)) = stem.rsplit_once('-') else { return true };
        let name = format!("\"{name}/{version}\"");
        let named = sources.iter().any(|file| file.text.contains(&name));
        !named || !schema.text.contains(&format!("\"title\": {name}"))
    });
    wrong
        .map(|schema| format!("{}: nobody holds anything against it, or its title is another", schema.path))
        .collect()
}

fn path_of(name: &str) -> String {
    format!("schemas/{}.json", name.replace('/', "-"))
}

/// `ralph.status/1`
fn is_name(text: &str) -> bool {
    let parts = text.strip_prefix("ralph.").and_then(|rest| rest.split_once('/'));
    parts.is_some_and(|(name, version)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
            && !version.is_empty()
            && version.chars().all(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    #[test]
    fn a_document_without_a_schema_and_a_schema_without_a_document_are_told() {
        let sources = [source("crates/ralph/src/a.rs", "let x = \"ralph.status/1\"; // \"ralph.old/1\"\n")];
        let schema = |path| source(path, "{ \"title\": \"ralph.status/1\" }");
        assert!(unpublished(&sources, &[schema("schemas/ralph.status-1.json")]).is_empty());
        let complaints = unpublished(&sources, &[]);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("schemas/ralph.status-1.json"), "{complaints:?}");
        assert!(unused(&sources, &[schema("schemas/ralph.status-1.json")]).is_empty());
        assert_eq!(unused(&sources, &[schema("schemas/ralph.moon-1.json")]).len(), 1);
        assert_eq!(unused(&sources, &[source("schemas/ralph.status-1.json", "{}")]).len(), 1);
    }

    #[test]
    fn a_name_has_a_version() {
        assert!(is_name("ralph.status/1"));
        for other in ["ralph.status", "ralph/1", "ralph.a b/1", "ralph.status/x", "status/1"] {
            assert!(!is_name(other), "{other}");
        }
    }
}
