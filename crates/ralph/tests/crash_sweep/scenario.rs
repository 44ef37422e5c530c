//! What is run: made once, and copied for each case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_testkit::{GitState, RalphCommand, Sandbox};

use crate::common::{GOAL, ralph, repository_with_work_in_progress};

pub(crate) const NOTE: &str = "remember the lighthouse";

/// Told by the agent each time it is started.
pub(crate) const TOKENS: u64 = 150;
pub(crate) const MICRO_USD: u64 = 10_000;

/// Where the agent tells the test what it did, out of ralph's reach.
const DIARY: &str = "SWEEP_DIARY";

/// Works by what it finds: the first call claims what the check does not bear out, the second makes it true, the third
/// reviews. Files are moved into place, so that none is ever half there, and are old, so that git never has to look
/// twice. All that it prints is one write.
const AGENT: &str = r#"#!/bin/sh
echo "$RALPH_ITERATION" >> "$SWEEP_DIARY/started"
cat > "$SWEEP_DIARY/prompt-$RALPH_ITERATION"
env >> "$SWEEP_DIARY/environment"
put() {
    echo "$1" > "$SWEEP_DIARY/$1.$$" && touch -d 2001-01-01 "$SWEEP_DIARY/$1.$$" && mv "$SWEEP_DIARY/$1.$$" "$1"
}
if [ ! -e first.txt ]; then
    setsid sleep 1000 > /dev/null 2>&1 < /dev/null &
    put first.txt
elif [ ! -e green ]; then
    put green
fi
printf '%s\n' '@STREAM@' && echo "$RALPH_ITERATION" >> "$SWEEP_DIARY/reported"
"#;

const BLOCK: &str = "All tasks are complete.\\n---RALPH_STATUS---\\nSTATUS: COMPLETE\\nTASKS_COMPLETED_THIS_LOOP: 1\\nFILES_MODIFIED: 1\\nTESTS_STATUS: PASSING\\nWORK_TYPE: IMPLEMENTATION\\nEXIT_SIGNAL: true\\nRECOMMENDATION: All tasks complete\\n---END_RALPH_STATUS---";

fn stream() -> String {
    let usage = r#""usage":{"input_tokens":100,"output_tokens":50}"#;
    let content = format!(r#"[{{"type":"text","text":"{BLOCK}"}}]"#);
    [
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#.to_owned(),
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","role":"assistant","content":{content},{usage}}},"parent_tool_use_id":null}}"#
        ),
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"{BLOCK}","total_cost_usd":0.01,{usage}}}"#
        ),
    ]
    .join("\n")
}

/// A project in which something is to be run, and how the user's work in it looked.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    template: Sandbox,
    pub(crate) before: GitState,
}

impl Scenario {
    /// A run from its start: a note, a check that is red before, a refused claim, an accepted one, a review.
    pub(crate) fn whole_run() -> Scenario {
        let template = repository_with_work_in_progress();
        template.install_script("agent", &AGENT.replace("@STREAM@", &stream()));
        make_folder(&template.root().join("diary"));
        ralph(&template).args(["note", NOTE]).run().assert_code(0);
        for file in ["README.md", "staged.txt", "untracked.txt"] {
            let touched = template.command("touch").args(["-d", "2001-01-01", file]).status();
            assert!(touched.expect("start touch").success());
        }
        let before = template.user_git_state();
        Scenario { name: "whole run", template, before }
    }

    /// The rest of a run whose ralph was killed in the middle of recording that the first agent had ended.
    pub(crate) fn taken_up_again() -> Scenario {
        let whole = Scenario::whole_run();
        let cut = Copy { sandbox: whole.template, agent: None };
        let run = cut.run().env("RALPH_CRASH_POINT", "kill:write half of journal.jsonl#6");
        run.run().assert_code(137);
        cut.sandbox.assert_no_processes();
        assert_eq!(cut.diary("reported").lines().count(), 1, "the agent had ended");
        Scenario { name: "taken up again", template: cut.sandbox, before: whole.before }
    }

    pub(crate) fn copy(&self) -> Copy {
        let sandbox = Sandbox::new();
        let (from, to) = (self.template.root(), sandbox.root());
        for folder in ["project", "diary"] {
            let copied = sandbox.command("cp").arg("-a").arg(from.join(folder)).arg(to).status();
            assert!(copied.expect("start cp").success());
        }
        Copy { sandbox, agent: Some(self.template.bin().join("agent")) }
    }
}

fn make_folder(path: &Path) {
    std::fs::create_dir_all(path).expect("make a folder");
}

/// One project to run in.
pub(crate) struct Copy {
    pub(crate) sandbox: Sandbox,
    /// The template's, where this is not the template.
    agent: Option<PathBuf>,
}

impl Copy {
    /// The run that is swept, listing its points.
    pub(crate) fn run(&self) -> RalphCommand {
        self.run_undisturbed().env("RALPH_CRASH_POINTS", self.points_file())
    }

    /// The same without points.
    pub(crate) fn run_undisturbed(&self) -> RalphCommand {
        self.run_for(GOAL)
    }

    /// One that has nothing to do.
    pub(crate) fn another_run(&self) -> RalphCommand {
        self.run_for("another goal")
    }

    fn run_for(&self, goal: &str) -> RalphCommand {
        let agent = self.agent.clone().unwrap_or_else(|| self.sandbox.bin().join("agent"));
        let run = ralph(&self.sandbox).args(["run", goal, "--reviews", "1", "--test-cmd", "test -e green"]);
        run.arg("--agent-cmd")
            .arg(agent)
            .env(DIARY, self.sandbox.root().join("diary"))
            .env("RALPH_CHECKPOINT_EVERY", "8")
    }

    fn points_file(&self) -> PathBuf {
        self.sandbox.root().join("tmp/points")
    }

    /// The names of the points that were passed, in order.
    pub(crate) fn points(&self) -> Vec<String> {
        std::fs::read_to_string(self.points_file()).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// What the agent wrote down; empty if it never did.
    pub(crate) fn diary(&self, page: &str) -> String {
        std::fs::read_to_string(self.sandbox.root().join("diary").join(page)).unwrap_or_default()
    }

    pub(crate) fn environment_of_agents(&self) -> String {
        self.diary("environment")
    }

    /// The prompts agents read, by iteration.
    pub(crate) fn prompts(&self) -> BTreeMap<u64, String> {
        let folder = self.sandbox.root().join("diary");
        let pages = std::fs::read_dir(folder).expect("the diary").flatten();
        pages
            .filter_map(|page| {
                let name = page.file_name().into_string().ok()?;
                Some((name.strip_prefix("prompt-")?.parse().ok()?, self.diary(&name)))
            })
            .collect()
    }
}
