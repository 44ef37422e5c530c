//! The user's hooks and signing have their say in a commit of ralph's, and neither holds ralph up nor outlives it.

use ralph_testkit::{Sandbox, Signal};

use crate::common::ralph;
use crate::stage::{
    commits, committed, files_of, harness, hook, item, item_now, recorded, slow_hook, worker, writer,
};

fn one_item() -> Sandbox {
    harness(&[item("FEAT-1", "one.txt")])
}

#[test]
fn every_hook_of_a_commit_runs_where_git_runs_it_and_sees_what_is_committed() {
    let sandbox = one_item();
    sandbox.write("mine.txt", "mine\n");
    sandbox.git(&["add", "mine.txt"]);
    let log = sandbox.root().join("tmp/hooks");
    for name in ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"] {
        let script = format!(
            "{{ echo \"{name} $(pwd) $(git symbolic-ref --short HEAD) dir=$GIT_DIR source=$2\"\n\
             git diff --cached --name-only HEAD; }} >> '{}'",
            log.display()
        );
        hook(&sandbox, name, &script);
    }
    hook(&sandbox, "commit-msg", "sed -i 's/^feat(/feat!(/' \"$1\"; printf '\\n\\n\\n\\n' >> \"$1\"");
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    let at = |name: &str, source: &str| {
        format!("{name} {} main dir= source={source}\n", sandbox.project().display())
    };
    let told = std::fs::read_to_string(&log).expect("the hooks' words");
    let committing = ".claude/harness/feature_list.json\none.txt\n";
    let committing = if files_of(&sandbox, "HEAD").len() == 1 { "one.txt\n" } else { committing };
    let expected = format!(
        "{}{committing}{}{committing}{}mine.txt\n",
        at("pre-commit", ""),
        at("prepare-commit-msg", "message"),
        at("post-commit", "")
    );
    assert_eq!(told, expected);
    let message = sandbox.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("feat!(FEAT-1)") && !message.contains("\n\n\n"), "{message}");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "mine.txt");
}

#[test]
fn what_a_hook_makes_of_the_files_is_committed_and_said() {
    let sandbox = one_item();
    hook(&sandbox, "pre-commit", "echo formatted > one.txt; git add one.txt");
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).run();
    finished
        .assert_code(0)
        .assert_stderr_has("a hook changed what is committed")
        .assert_stderr_has("one.txt");
    assert_eq!(committed(&sandbox, "one.txt"), "formatted");
    assert_eq!(sandbox.git(&["diff", "--name-only", "HEAD", "--", "one.txt"]), "");
    ralph(&sandbox).args(["evidence", "verify", "--no-run"]).run().assert_code(1);
}

#[test]
fn ctrl_c_ends_a_slow_hook_and_a_second_one_ends_all() {
    let sandbox = one_item();
    slow_hook(&sandbox, "");
    let agent = writer(&sandbox, &["one.txt"]);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("hooked");
    running.signal(Signal::INT);
    running.wait().assert_stderr_has("not committed").assert_stderr_has("you asked ralph to stop");
    sandbox.assert_no_processes();
    assert_eq!((commits(&sandbox), sandbox.exists(".git/index.lock")), (2, false));
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
    assert_eq!(item_now(&sandbox, "FEAT-1")["status"], "PASSING", "it is proved all the same");

    let sandbox = one_item();
    slow_hook(&sandbox, "trap '' INT TERM HUP");
    let agent = writer(&sandbox, &["one.txt"]);
    let running = worker(&sandbox, &agent).spawn();
    sandbox.wait_for("hooked");
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    assert!([130, 143].contains(&running.wait().code));
    sandbox.assert_no_processes();
    assert_eq!(commits(&sandbox), 2);
    // It was cut off while settling, and settles when it is taken up again.
    sandbox.release("let-go");
    worker(&sandbox, &agent).run().assert_code(0);
    assert_eq!((commits(&sandbox), recorded(&sandbox, "commit")), (3, 1));
}

#[test]
fn a_hook_that_never_ends_is_ended_when_its_time_is_up() {
    let sandbox = one_item();
    slow_hook(&sandbox, "");
    let agent = writer(&sandbox, &["one.txt"]);
    let finished = worker(&sandbox, &agent).args(["--set", "check_timeout=2s"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("the pre-commit hook refused")
        .assert_stderr_has("check_timeout");
    sandbox.assert_no_processes();
    assert_eq!(commits(&sandbox), 2);
}

#[test]
fn a_commit_is_signed_where_the_user_s_are() {
    let sandbox = one_item();
    let signer = sandbox.install_script(
        "signs",
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\n",
    );
    sandbox.git(&["config", "gpg.program", signer.to_str().expect("a path")]);
    sandbox.git(&["config", "commit.gpgSign", "true"]);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0);
    let raw = sandbox.git(&["cat-file", "commit", "HEAD"]);
    assert!(raw.contains("gpgsig -----BEGIN PGP SIGNATURE-----"), "{raw}");
    // One that cannot sign makes no commit.
    let sandbox = one_item();
    sandbox.git(&["config", "gpg.program", "false"]);
    sandbox.git(&["config", "commit.gpgSign", "true"]);
    let agent = writer(&sandbox, &["one.txt"]);
    worker(&sandbox, &agent).run().assert_code(0).assert_stderr_has("proved and not committed");
    assert_eq!(commits(&sandbox), 2);
}
