//! A project whose issues `bd` keeps: a stand-in for it as a shell script, shaped by what bd 1.x takes and prints.

use serde_json::Value;

use crate::Sandbox;

/// The stand-in in a sandbox, with an empty database.
pub struct Beads<'s> {
    sandbox: &'s Sandbox,
}

impl<'s> Beads<'s> {
    #[track_caller]
    pub fn install(sandbox: &'s Sandbox) -> Self {
        sandbox.install_script("bd", include_str!("beads/bd.sh"));
        sandbox.write(".beads/.gitignore", "db/\n");
        sandbox.write(".beads/db/order", "");
        Self { sandbox }
    }

    /// Calls it as a person would; what it printed.
    #[track_caller]
    pub fn call(&self, args: &[&str]) -> String {
        let output = self.sandbox.command("bd").args(args).output().expect("start bd");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "bd {args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// An issue that can begin.
    #[track_caller]
    pub fn create(&self, id: &str, title: &str, more: &[&str]) {
        self.call(&[&["create", "--id", id, "--title", title], more].concat());
    }

    /// How an issue stands.
    #[track_caller]
    pub fn issue(&self, id: &str) -> Value {
        let printed: Value = serde_json::from_str(&self.call(&["show", id, "--json"])).expect("JSON");
        printed[0].clone()
    }

    /// The calls that changed something since the last time, each with all its words.
    pub fn changes(&self) -> Vec<String> {
        let calls = self.sandbox.read(".beads/db/calls");
        self.sandbox.write(".beads/db/calls", "");
        let looks = |call: &&str| ["list ", "ready ", "show "].iter().any(|verb| call.starts_with(verb));
        calls.lines().filter(|call| !looks(call)).map(str::to_owned).collect()
    }

    /// How often it was called since the last time, whatever for.
    pub fn calls(&self) -> usize {
        let calls = self.sandbox.read(".beads/db/calls");
        self.sandbox.write(".beads/db/calls", "");
        calls.lines().count()
    }

    /// From here on it is as such a file of the database makes it: `old`, `broken`, `garbage`; `fails` and
    /// `fails-once` with the command that does.
    pub fn becomes(&self, how: &str, words: &str) {
        self.sandbox.write(format!(".beads/db/{how}"), words);
    }

    /// As it was before.
    pub fn is_mended(&self) {
        for how in ["old", "broken", "garbage", "fails"] {
            let _ = std::fs::remove_file(self.sandbox.project().join(".beads/db").join(how));
        }
    }
}
