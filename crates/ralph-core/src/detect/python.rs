//! Python: pytest and ruff where the project speaks of them, by whatever manages its environment.

use super::{Detected, Folder};
use crate::prelude::*;

const PYPROJECT: &str = "pyproject.toml";
const MARKS: [&str; 7] =
    [PYPROJECT, "setup.cfg", "setup.py", "pytest.ini", "tox.ini", "requirements.txt", "Pipfile"];

/// Nothing is built: archives are what is published, and making one downloads what it takes.
pub(super) fn tools(folder: &Folder, all: &mut Detected) {
    let Some(mark) = folder.first(&MARKS) else { return };
    all.written_in("Python", mark);
    let (before, manager) = environment(folder);
    let mut add = |check, tool: &str, source: &str| {
        all.add(check, format!("{before}{tool}"), source);
        if let Some(manager) = manager {
            all.needs(manager);
        }
    };
    match pytest(folder) {
        Some(source) => add("test", "pytest", source),
        None if folder.text("tox.ini").contains("[testenv") => add("test", "tox", "tox.ini"),
        None => {}
    }
    let ruff = folder.first(&["ruff.toml", ".ruff.toml"]);
    let ruff = ruff.or_else(|| folder.text(PYPROJECT).contains("ruff").then_some(PYPROJECT));
    if let Some(source) = ruff {
        add("lint", "ruff check", source);
    }
}

/// Where it says that tests are run by pytest, which also runs those of unittest.
fn pytest(folder: &Folder) -> Option<&'static str> {
    const SPOKEN_OF: [(&str, &str); 6] = [
        (PYPROJECT, "pytest"),
        ("setup.cfg", "pytest"),
        ("tox.ini", "[pytest]"),
        ("tox.ini", "pytest"),
        ("requirements-dev.txt", "pytest"),
        ("requirements.txt", "pytest"),
    ];
    let own = folder.first(&["pytest.ini", ".pytest.ini", "conftest.py"]);
    let spoken =
        || SPOKEN_OF.iter().find(|(file, word)| folder.mentions(&[file], word)).map(|(file, _)| *file);
    let tests = || folder.first(&["tests", "test"]).filter(|_| folder.has(PYPROJECT)).map(|_| PYPROJECT);
    own.or_else(spoken).or_else(tests)
}

/// What stands before a tool's name, and the program that this needs, if it is not the tool itself.
fn environment(folder: &Folder) -> (&'static str, Option<&'static str>) {
    let says = |word: &str| folder.text(PYPROJECT).contains(word);
    if folder.has("uv.lock") || says("[tool.uv") {
        ("uv run ", Some("uv"))
    } else if folder.has("poetry.lock") || says("[tool.poetry") {
        ("poetry run ", Some("poetry"))
    } else if folder.has("pdm.lock") || says("[tool.pdm") {
        ("pdm run ", Some("pdm"))
    } else if folder.has("Pipfile") {
        ("pipenv run ", Some("pipenv"))
    } else if folder.has(".venv") {
        // Not activated as a rule, and then nothing of it is on the PATH.
        (".venv/bin/", None)
    } else {
        ("", None)
    }
}
