//! What of the user's is in the repository and in no snapshot: an agent throws it away, and the way to have it back is told, word for
//! word.

use ralph_testkit::{Finished, Sandbox, Steps};

use crate::common::{one_call, repository, run};
use crate::stage::{another, claims, harness, item, worker, writes};

/// A repository whose README is staged otherwise than it is in the files and in HEAD.
fn staged_apart(sandbox: Sandbox) -> Sandbox {
    sandbox.write("README.md", "# staged only\n");
    sandbox.git(&["add", "README.md"]);
    sandbox.write("README.md", "# in the files\n");
    sandbox
}

/// A goal's run of one iteration, in which an agent does this.
fn after(sandbox: &Sandbox, steps: Steps) -> Finished {
    let agent = one_call(sandbox, claims(steps));
    run(sandbox, &agent).args(["--max-iterations", "1"]).run()
}

/// Types what was told after these words.
fn type_what_is_told(sandbox: &Sandbox, finished: &Finished, before: &str) {
    let told = finished.stderr.split_once(before);
    let (_, told) = told.unwrap_or_else(|| panic!("'{before}' was not told\n{finished}"));
    let command = told.lines().next().unwrap_or_default();
    let command = command.split("; ").next().unwrap_or_default();
    let done = sandbox.command("sh").args(["-c", command]).current_dir(sandbox.project()).status();
    assert!(done.expect("sh").success(), "{command}\n{finished}");
}

const STAGED_AGAIN: &str =
    "what you had staged of README.md is in no file any more; to have it staged again: ";

#[test]
fn what_was_only_staged_is_named_where_an_agent_throws_it_away_with_the_way_to_have_it_back() {
    for how in ["git reset --quiet --hard", "git reset --quiet", "git add -A"] {
        let sandbox = staged_apart(repository());
        let finished = after(&sandbox, Steps::new().shell(how).write("x.txt", "x\n"));
        type_what_is_told(&sandbox, &finished, STAGED_AGAIN);
        assert_eq!(sandbox.git(&["show", ":README.md"]), "# staged only", "{how}");
    }
    // Where ralph commits it has asked git itself what is staged.
    let sandbox = staged_apart(harness(&[item("FEAT-1", "one.txt")]));
    let steps = writes("one.txt").shell("git add -A");
    let agent = another(&sandbox).call(claims(steps)).install(&sandbox);
    let finished = worker(&sandbox, &agent).run();
    type_what_is_told(&sandbox, &finished, STAGED_AGAIN);
    assert_eq!(sandbox.git(&["show", ":README.md"]), "# staged only");
}

#[test]
fn what_is_staged_and_in_the_files_is_said_to_be_unstaged_and_nothing_is_said_where_nothing_is_lost() {
    let sandbox = repository();
    sandbox.write("mine.txt", "mine\n");
    sandbox.git(&["add", "mine.txt"]);
    let finished = after(&sandbox, Steps::new().shell("git reset --quiet").write("x.txt", "x\n"));
    finished.assert_stderr_has("what you had staged is not staged any more: mine.txt");

    // Committed as it was staged, looked at, and staged beside it.
    for how in ["git commit --quiet -m all", "git status --short > /dev/null", "git add x.txt"] {
        let sandbox = repository();
        sandbox.write("mine.txt", "mine\n");
        sandbox.git(&["add", "mine.txt"]);
        let finished = after(&sandbox, Steps::new().write("x.txt", "x\n").shell(how));
        finished.assert_stderr_lacks("you had staged");
    }
}

#[test]
fn branches_and_tags_that_an_agent_deletes_or_moves_are_named_with_the_way_to_have_them_back() {
    for packed in [false, true] {
        let sandbox = repository();
        sandbox.write("more.txt", "more\n");
        let mine = sandbox.commit_all("more");
        for name in ["keep/me", "moved", "ahead"] {
            sandbox.git(&["branch", name]);
        }
        sandbox.git(&["tag", "t1"]);
        sandbox.git(&["tag", "-a", "-m", "words", "t2"]);
        let noted = sandbox.git(&["rev-parse", "t2"]);
        if packed {
            sandbox.git(&["pack-refs", "--all"]);
        }
        let lose = "git branch --quiet -D keep/me; git tag -d t1 > /dev/null; git branch -f moved HEAD~1; \
                    git tag -f t2 HEAD~1 > /dev/null; git commit --quiet --allow-empty -m further; git branch -f ahead HEAD";
        let finished = after(&sandbox, Steps::new().shell(lose).write("x.txt", "x\n"));
        let told = [
            ("a branch of yours is gone (keep/me); to have it back: ", "keep/me", &mine),
            ("a branch of yours was moved (moved); to have it back: ", "moved", &mine),
            ("a tag of yours is gone (t1); to have it back: ", "t1", &mine),
            ("a tag of yours was moved (t2); to have it back: ", "t2", &noted),
        ];
        for (words, name, id) in told {
            type_what_is_told(&sandbox, &finished, words);
            assert_eq!(sandbox.git(&["rev-parse", name]), *id, "{words}\n{finished}");
        }
        // One that only went on has lost nothing, and the branch that the user is on is told of apart.
        finished.assert_stderr_lacks("(ahead)").assert_stderr_lacks("(main)");
    }
}

#[test]
fn of_very_many_branches_that_an_agent_moves_nobody_asks_git_one_by_one() {
    let sandbox = repository();
    for nth in 0..30 {
        sandbox.git(&["branch", &format!("b{nth:02}")]);
    }
    let move_all = "git commit --quiet --allow-empty -m further; \
                    for name in $(git for-each-ref --format='%(refname:short)' refs/heads/b*); do git branch -f $name HEAD; done";
    let finished = after(&sandbox, Steps::new().shell(move_all).write("x.txt", "x\n"));
    finished.assert_stderr_lacks("of yours was moved");
    finished.assert_stderr_has("of 10 more branches nobody looked whether what was yours is still there");
}

#[test]
fn a_stash_that_an_agent_drops_is_named_with_the_way_to_have_it_back() {
    let sandbox = repository();
    sandbox.write("README.md", "# put aside\n");
    sandbox.git(&["stash"]);
    let stash = sandbox.git(&["rev-parse", "stash"]);
    let finished = after(&sandbox, Steps::new().shell("git stash drop --quiet").write("x.txt", "x\n"));
    type_what_is_told(&sandbox, &finished, "; to have it back: ");
    assert_eq!(sandbox.git(&["rev-parse", "stash"]), stash);
}
