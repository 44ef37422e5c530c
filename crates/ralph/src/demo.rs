//! The demo's project and its scripted agent, which talks like Claude Code's stream.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{self, Error, Result};
use crate::git::Call;
use crate::point;
use crate::process;
use crate::store;
use crate::ui::{self, Ui};

pub const GOAL: &str = "greet.sh must greet the person whose name it is given";
pub const TEST: &str = "sh test.sh";

const GREET: &str = "#!/bin/sh\n# Greets people.\necho \"Hello, world!\"\n";
const GREET_FIXED: &str = "#!/bin/sh\n# Greets people.\necho \"Hello, ${1:-world}!\"\n";
const TESTS: &str = r##"#!/bin/sh
# Prints TAP; exits 1 if a test fails.
failed=0
expect() { # name, expected, actual
  if [ "$2" = "$3" ]; then echo "ok - $1"; else
    echo "not ok - $1"; echo "# expected: $2"; echo "# actual:   $3"; failed=1
  fi
}
expect greets_the_world "Hello, world!" "$(sh greet.sh)"
expect greets_by_name "Hello, Ada!" "$(sh greet.sh Ada)"
exit $failed
"##;
const README: &str = "# greet\n\n`sh greet.sh NAME` greets NAME. `sh test.sh` runs the tests.\n";

/// Makes the project: a git repository with one commit and one red test.
pub fn make(dir: Option<PathBuf>) -> Result<PathBuf> {
    let dir = match dir {
        Some(dir) => dir,
        None => {
            let id = uuid::Uuid::now_v7().simple().to_string();
            std::env::temp_dir().join(format!("ralph-demo-{}", &id[id.len() - 8..]))
        }
    };
    let used = std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some());
    if used || dir.is_file() {
        return Err(Error::usage(format!("{} is not an empty folder", dir.display()))
            .hint("leave --dir away: the demo then makes a folder of its own"));
    }
    point::file("make folder", &dir)
        .and_then(|()| std::fs::create_dir_all(&dir))
        .map_err(error::io("cannot make", &dir))?;
    let dir = std::fs::canonicalize(&dir).map_err(error::io("cannot find", &dir))?;
    for (name, text) in [("greet.sh", GREET), ("test.sh", TESTS), ("README.md", README)] {
        store::write_new(&dir.join(name), text.as_bytes())
            .map_err(error::io("cannot write", &dir.join(name)))?;
    }
    let git = |command, args: &[&str]| {
        let call = Call::new(&dir, command).args(args);
        call.output()
            .map(drop)
            .map_err(|error| Error::new("the demo's repository cannot be made").because(error))
    };
    git("init", &["--quiet", "--initial-branch=main"])?;
    // For this repository only: the demo must not depend on, or sign with, anybody's identity.
    git("config", &["user.name", "demo"])?;
    git("config", &["user.email", "demo@localhost"])?;
    git("config", &["commit.gpgSign", "false"])?;
    git("add", &["."])?;
    git("commit", &["--quiet", "--message", "A greeter with a red test"])?;
    Ok(dir)
}

/// How the demo starts its own agent: this very program.
pub fn agent_command() -> Result<String> {
    let exe =
        std::env::current_exe().map_err(|error| Error::new("ralph cannot find itself").because(error))?;
    let exe = exe.to_str().ok_or_else(|| Error::new("ralph's own path is not UTF-8"))?;
    let pace = if ui::watched() { " --slowly" } else { "" };
    Ok(format!("{} demo-agent{pace}", quoted(exe)))
}

/// `ralph`, or where it is if it is not on the PATH.
pub fn own_name() -> String {
    match (process::find_program("ralph"), std::env::current_exe()) {
        (None, Ok(exe)) => quoted(&exe.to_string_lossy()),
        _ => "ralph".into(),
    }
}

fn quoted(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_'));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The scripted agent: it lies first, then mends the program, then reviews and finds nothing to change.
pub fn agent(ui: &Ui, slowly: bool) -> Result<ExitCode> {
    let mut prompt = String::new();
    if slowly {
        // Nobody sends anything: this only waits.
        let (_keep, nothing) = mpsc::channel::<()>();
        let _ = nothing.recv_timeout(Duration::from_millis(1200));
    }
    // Like a real one it reads its prompt, and it tells a review by it.
    std::io::stdin().read_to_string(&mut prompt).map_err(|error| Error::new("no prompt").because(error))?;
    let reviewing = prompt.contains("# This iteration is a review");
    let refused = prompt.contains("was refused");
    let tell = |event: &Value| ui.exact_line(&event.to_string());
    tell(&json!({"type": "system", "subtype": "init", "session_id": "demo", "model": "scripted"}));
    let (words, block) = if reviewing {
        tell(&tool("Bash", &json!({"command": TEST})));
        (
            "I read greet.sh and ran the tests: the greeting uses the name, with a default. Nothing to change.",
            block(0, "All tasks complete, tests passing, reviewed"),
        )
    } else if refused {
        edit(Path::new("greet.sh"), GREET_FIXED)?;
        tell(&tool("Edit", &json!({"file_path": "greet.sh"})));
        (
            "The name was never used. greet.sh now greets the person it is given.",
            block(1, "All tasks complete, tests passing, greet.sh uses the name"),
        )
    } else {
        edit(Path::new("README.md"), &format!("{README}\nGreeting by name is supported.\n"))?;
        tell(&tool("Edit", &json!({"file_path": "README.md"})));
        (
            "Done! Greeting by name works and all tests pass.",
            block(1, "All tasks complete, tests passing, trust me"),
        )
    };
    tell(&message(&json!({"type": "text", "text": format!("{words}\n\n{block}")})));
    tell(
        &json!({"type": "result", "subtype": "success", "is_error": false, "result": words, "session_id": "demo"}),
    );
    Ok(ExitCode::SUCCESS)
}

/// Its rights stay as they are, as they would with any editor.
fn edit(path: &Path, text: &str) -> Result<()> {
    store::edit(path, |_| Ok((Some(text.into()), ())))
}

fn tool(name: &str, input: &Value) -> Value {
    message(&json!({"type": "tool_use", "name": name, "input": input}))
}

fn message(part: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [part]}, "parent_tool_use_id": null})
}

fn block(files: u64, recommendation: &str) -> String {
    format!(
        "---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: {files}\n\
         TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\n\
         RECOMMENDATION: {recommendation}\n---END_RALPH_STATUS---"
    )
}
