use ralph_testkit::after_stamp;

use crate::common::{one_call, ralph, repository, run, says_done, says_more};

#[test]
fn every_plain_line_of_a_run_has_its_time_with_the_zone() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_more());
    // The sign of POSIX: this zone is three and a half hours ahead of UTC.
    let finished = run(&sandbox, &agent).args(["--max-iterations", "1"]).env("TZ", "XST-3:30").run();
    finished.assert_code(3);
    let lines: Vec<&str> = finished.stamped_stderr.lines().collect();
    assert!(lines.len() > 5, "{finished}");
    for line in &lines {
        let words = line.strip_prefix("[ralph] ").and_then(after_stamp);
        assert!(words.is_some_and(|words| !words.is_empty()), "{line}");
        assert!(line.contains(" +03:30 "), "{line}");
    }
    finished.assert_stderr_has("[ralph] run 1 started");
}

#[test]
fn a_quiet_run_has_its_only_line_stamped_and_data_has_no_stamp() {
    let sandbox = repository();
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--reviews", "0", "--quiet", "--json"]).run();
    finished.assert_code(0);
    let line = finished.stamped_stderr.trim_end().strip_prefix("[ralph] ").and_then(after_stamp);
    assert!(line.is_some_and(|words| words.starts_with("complete")), "{}", finished.stamped_stderr);
    assert!(finished.json_lines().len() > 2);
    ralph(&sandbox).args(["status"]).run().assert_code(0).assert_stdout_has("goal:       make it green");
}
