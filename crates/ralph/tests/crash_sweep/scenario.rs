//! What is run: made once, and copied for each case.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ralph_testkit::{GitState, RalphCommand, Sandbox};

use crate::cases::{How, POINT};
use crate::common::{GOAL, ralph, repository_with_work_in_progress};
use crate::verdict;

pub(crate) const NOTE: &str = "remember the lighthouse";

/// Told by the agent each time it is started.
pub(crate) const TOKENS: u64 = 150;
pub(crate) const MICRO_USD: u64 = 10_000;

/// Where the agent tells the test what it did, out of ralph's reach.
pub(crate) const DIARY: &str = "SWEEP_DIARY";

/// How every agent of the sweep begins.
pub(crate) const BEGINS: &str = r#"#!/bin/sh
echo "$RALPH_ITERATION" >> "$SWEEP_DIARY/started"
cat > "$SWEEP_DIARY/half-$RALPH_ITERATION"
mv "$SWEEP_DIARY/half-$RALPH_ITERATION" "$SWEEP_DIARY/prompt-$RALPH_ITERATION"
env >> "$SWEEP_DIARY/environment"
put() {
    echo "$1" > "$SWEEP_DIARY/$1.$$" && touch -d 2001-01-01 "$SWEEP_DIARY/$1.$$" && mv "$SWEEP_DIARY/$1.$$" "$1"
}
"#;

/// And how it ends.
pub(crate) const REPORTS: &str =
    r#"printf '%s\n' '@STREAM@' && echo "$RALPH_ITERATION" >> "$SWEEP_DIARY/reported""#;

/// Works by what it finds: the first call claims what the check does not bear out, the second makes it true, the third
/// reviews. Files are moved into place, so that none is ever half there, and are old, so that git never has to look
/// twice. All that it prints is one write.
const WORK: &str = r#"if [ ! -e first.txt ]; then
    setsid sleep 1000 > /dev/null 2>&1 < /dev/null &
    put first.txt
elif [ ! -e green ]; then
    put green
fi
"#;

/// An agent that does this each time.
pub(crate) fn install_agent(template: &Sandbox, work: &str) {
    template.install_script("agent", &format!("{BEGINS}{work}{}\n", REPORTS.replace("@STREAM@", &stream())));
    std::fs::create_dir_all(template.root().join("diary")).expect("make a folder");
}

/// Old, so that git never has to look twice.
pub(crate) fn make_old(template: &Sandbox, files: &[&str]) {
    let touched = template.command("touch").args(["-d", "2001-01-01"]).args(files).status();
    assert!(touched.expect("start touch").success());
}

const BLOCK: &str = "All tasks are complete.\\n---RALPH_STATUS---\\nSTATUS: COMPLETE\\nTASKS_COMPLETED_THIS_LOOP: 1\\nFILES_MODIFIED: 1\\nTESTS_STATUS: PASSING\\nWORK_TYPE: IMPLEMENTATION\\nEXIT_SIGNAL: true\\nRECOMMENDATION: All tasks complete\\n---END_RALPH_STATUS---";

pub(crate) fn stream() -> String {
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
    pub(crate) template: Sandbox,
    pub(crate) before: GitState,
    /// And how it is to look, where that is always the same.
    pub(crate) after: Option<GitState>,
    /// How it ends undisturbed.
    pub(crate) code: i32,
    /// What is swept.
    pub(crate) command: fn(&Copy) -> RalphCommand,
    /// What must hold after a strike.
    pub(crate) verdict: fn(&Scenario, How, &str),
}

impl Scenario {
    /// A run from its start: a note, a check that is red before, a refused claim, an accepted one, a review.
    pub(crate) fn whole_run() -> Scenario {
        let template = repository_with_work_in_progress();
        install_agent(&template, WORK);
        ralph(&template).args(["note", NOTE]).run().assert_code(0);
        make_old(&template, &["README.md", "staged.txt", "untracked.txt"]);
        let before = template.user_git_state();
        let verdict = verdict::check;
        Scenario {
            name: "whole run",
            template,
            before,
            after: None,
            code: 0,
            command: run_for_the_goal,
            verdict,
        }
    }

    /// The rest of a run whose ralph was killed in the middle of recording that the first agent had ended.
    pub(crate) fn taken_up_again() -> Scenario {
        let cut = Scenario::whole_run().cut_at("write half of journal.jsonl#6", "taken up again");
        assert_eq!(cut.diary("reported").lines().count(), 1, "the agent had ended");
        cut
    }

    /// What is left to do after a kill at this point.
    pub(crate) fn cut_at(self, point: &str, name: &'static str) -> Scenario {
        let cut = Copy { sandbox: self.template, agent: None, command: self.command };
        let run = cut.run().env(POINT, format!("kill:{point}"));
        run.run().assert_code(137);
        cut.sandbox.assert_no_processes();
        Scenario { name, template: cut.sandbox, ..self }
    }

    pub(crate) fn copy(&self) -> Copy {
        let sandbox = Sandbox::new();
        let (from, to) = (self.template.root(), sandbox.root());
        for folder in ["project", "diary"] {
            let copied = sandbox.command("cp").arg("-a").arg(from.join(folder)).arg(to).status();
            assert!(copied.expect("start cp").success());
        }
        Copy { sandbox, agent: Some(self.template.bin().join("agent")), command: self.command }
    }

    fn diary(&self, page: &str) -> String {
        std::fs::read_to_string(self.template.root().join("diary").join(page)).unwrap_or_default()
    }
}

/// One project to run in.
pub(crate) struct Copy {
    pub(crate) sandbox: Sandbox,
    /// The template's, where this is not the template.
    agent: Option<PathBuf>,
    command: fn(&Copy) -> RalphCommand,
}

fn run_for_the_goal(copy: &Copy) -> RalphCommand {
    copy.run_for(GOAL)
}

impl Copy {
    /// What is swept, listing its points.
    pub(crate) fn run(&self) -> RalphCommand {
        self.run_undisturbed().env("RALPH_CRASH_POINTS", self.points_file())
    }

    /// The same without points.
    pub(crate) fn run_undisturbed(&self) -> RalphCommand {
        (self.command)(self)
    }

    /// One that has nothing to do.
    pub(crate) fn another_run(&self) -> RalphCommand {
        self.run_for("another goal")
    }

    pub(crate) fn run_for(&self, goal: &str) -> RalphCommand {
        self.with_agent(&["run", goal, "--reviews", "1", "--test-cmd", "test -e green"])
    }

    pub(crate) fn with_agent(&self, args: &[&str]) -> RalphCommand {
        let agent = self.agent.clone().unwrap_or_else(|| self.sandbox.bin().join("agent"));
        let run = ralph(&self.sandbox).args(args).arg("--agent-cmd").arg(agent);
        run.env(DIARY, self.sandbox.root().join("diary")).env("RALPH_CHECKPOINT_EVERY", "8")
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

    /// The prompts agents read to their end, by iteration.
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
