//! Recordings must not tell where they were made.

use ralph_testkit::Sandbox;
use std::env;
use std::path::{Path, PathBuf};

/// Panics where something of this machine is left.
pub(crate) fn same_everywhere(text: &str, sandbox: &Sandbox, url: &str, program: &Path) -> String {
    let (_, port) = url.rsplit_once(':').expect("a port");
    let mut text = text.to_owned();
    // As part of an address, and as Node shows a socket.
    for before in ["127.0.0.1:", "remotePort: "] {
        text = text.replace(&format!("{before}{port}"), &format!("{before}8080"));
    }
    // Without the first slash: some agents show paths from the root of the file system.
    let root = sandbox.root().to_string_lossy().trim_start_matches('/').to_owned();
    for (folder, name) in [("project", "project"), ("home", "home/dev"), ("tmp", "tmp")] {
        let path = format!("{root}/{folder}");
        text = text.replace(&path, name);
        // A path as the name of a folder: Claude Code's and Gemini's folders for a project.
        text = text.replace(&path.replace('/', "-"), &name.replace('/', "-"));
    }
    // Where the agent is installed stands in Gemini's stack traces.
    let program = program.canonicalize().expect("the program's real path");
    let program = program.to_string_lossy();
    let install = program.split_once("/node_modules/").map_or(&*program, |(folder, _)| folder);
    text = text.replace(&format!("{install}/node_modules/"), "/usr/lib/node_modules/");
    for place in [root, install.to_owned()].into_iter().chain(outside()) {
        assert!(!text.contains(&place), "{place} is still in the recording:\n{text}");
    }
    text
}

/// Folders of the person who records, unless their names tell nothing.
fn outside() -> impl Iterator<Item = String> {
    let folders = [env::current_dir().ok(), env::home_dir()].into_iter().flatten();
    let telling = |folder: &PathBuf| folder.parent().is_some() && folder != Path::new("/home/dev");
    folders.filter(telling).map(|folder| folder.to_string_lossy().into_owned())
}
