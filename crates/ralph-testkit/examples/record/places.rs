//! Recordings must not tell where they were made.

use ralph_testkit::Sandbox;
use std::path::Path;

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
    match program.to_string_lossy().split_once("/node_modules/") {
        Some((prefix, _)) => text.replace(&format!("{prefix}/node_modules/"), "/usr/lib/node_modules/"),
        None => text,
    }
}
