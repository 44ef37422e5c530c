//! Notifications by URL, over TLS on loopback, with the real curl.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use ralph_testkit::{RalphCommand, Sandbox, Schema, StatusBlock, Steps};
use serde_json::{Value, json};

use crate::common::{GOAL, one_call, ralph, repository, run, says_done};

const USER: &str = "../home/.config/ralph/config.toml";
const SECRET: &str = "T0K3N-of-the-webhook";
const QUESTION: &str = "which port shall it listen on?";

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Whether the machine has what these tests need. The gate requires it.
fn can_be_tried() -> bool {
    let missing = ["curl", "python3", "openssl"].into_iter().find(|name| program(name).is_none());
    let Some(missing) = missing else { return true };
    let required = std::env::var_os("RALPH_REQUIRE_AGENTS").is_some_and(|value| value == "1");
    assert!(!required, "{missing} is not installed, and RALPH_REQUIRE_AGENTS=1");
    false
}

/// A server that is gone with the test.
struct Server {
    process: Child,
    port: u16,
    log: PathBuf,
    certificate: PathBuf,
}

impl Server {
    fn start(sandbox: &Sandbox) -> Self {
        let dir = sandbox.root().join("tls");
        fs::create_dir(&dir).expect("a folder");
        let (certificate, key, log) = (dir.join("cert.pem"), dir.join("key.pem"), dir.join("requests"));
        let made = sandbox
            .command("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate)
            .output()
            .expect("openssl");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/morning/tls.py");
        let mut process = sandbox
            .command("python3")
            .args([&script, &certificate, &key, &log])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut line).expect("a port");
        let port = line.trim().parse().expect("a port");
        Server { process, port, log, certificate }
    }

    fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// ralph, where curl believes the certificate.
    fn believed(&self, command: RalphCommand) -> RalphCommand {
        command.env("CURL_CA_BUNDLE", &self.certificate)
    }

    fn requests(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Notes with which arguments curl is started.
fn watch_curl(sandbox: &Sandbox) {
    let curl = program("curl").expect("curl");
    let log = sandbox.root().join("curl-arguments");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), curl.display());
    sandbox.install_script("curl", &script);
}

#[test]
fn a_webhook_gets_the_summary_over_tls_and_its_token_is_in_no_argument() {
    if !can_be_tried() {
        return;
    }
    let sandbox = repository();
    let server = Server::start(&sandbox);
    watch_curl(&sandbox);
    sandbox
        .write(USER, format!("[notify]\nurl = '{}'\n", server.url(&format!("/hook/{SECRET}?key={SECRET}"))));
    let blocked = StatusBlock::blocked(&format!("Blocked: {QUESTION}"));
    let agent = one_call(&sandbox, Steps::new().say("I \"need\" to\nknow: \\o/ ©").status(&blocked));
    let finished = server.believed(run(&sandbox, &agent)).run();
    finished.assert_code(2).assert_stderr_lacks("warning").assert_stderr_lacks(SECRET);

    let requests = server.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(requests[0]["path"], format!("/hook/{SECRET}?key={SECRET}"));
    assert_eq!(requests[0]["headers"]["content-type"], "application/json");
    let sent: Value = serde_json::from_str(requests[0]["body"].as_str().expect("a body")).expect("JSON");
    Schema::published("ralph.notification/1").assert(&sent);
    Schema::published("ralph.summary/1").assert(&sent["summary"]);
    assert_eq!((&sent["event"], &sent["run"]), (&json!("blocked"), &json!(1)));
    assert_eq!(sent["title"], "project: Run 1: blocked");
    let text = sent["text"].as_str().expect("a text");
    assert_eq!(text, ralph(&sandbox).arg("summary").run().stdout.trim_end(), "as `ralph summary` says it");
    assert!(text.contains(QUESTION) && text.contains("answer with: ralph note"), "{text}");
    let arguments = fs::read_to_string(sandbox.root().join("curl-arguments")).expect("curl was started");
    assert_eq!(arguments.trim(), "-q -K -");
}

#[test]
fn ntfy_gets_a_title_and_text_and_slack_gets_its_own_json() {
    if !can_be_tried() {
        return;
    }
    let sandbox = repository();
    let server = Server::start(&sandbox);
    let agent = one_call(&sandbox, says_done());
    for kind in ["ntfy", "slack"] {
        let variables = [("RALPH_NOTIFY_URL", server.url("/topic")), ("RALPH_NOTIFY_URL_KIND", kind.into())];
        let command = run(&sandbox, &agent).args(["--fresh", "--reviews", "0"]).envs(variables);
        server.believed(command).run().assert_code(0).assert_stderr_lacks("warning");
    }
    let [ntfy, slack] = server.requests().try_into().expect("two requests");
    let title = ntfy["headers"]["title"].as_str().expect("a title");
    assert!(title.starts_with("project: Run 1: complete"), "{title}");
    assert!(
        ntfy["body"]
            .as_str()
            .is_some_and(|body| body.contains(&format!("Goal: {GOAL}\n")) && !body.contains("Run 1"))
    );
    let slack: Value = serde_json::from_str(slack["body"].as_str().expect("a body")).expect("JSON");
    assert!(slack["text"].as_str().is_some_and(|text| text.starts_with("Run 2: complete")), "{slack}");
    assert_eq!(slack.as_object().expect("an object").len(), 1);
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_and_the_run_ends_as_it_would() {
    if !can_be_tried() {
        return;
    }
    let sandbox = repository();
    let server = Server::start(&sandbox);
    sandbox.write(USER, format!("[notify]\nurl = '{}'\n", server.url(&format!("/{SECRET}"))));
    // The user's own curl settings do not weaken it.
    sandbox.write("../home/.curlrc", "insecure\n");
    let agent = one_call(&sandbox, says_done());
    let finished = run(&sandbox, &agent).args(["--reviews", "0"]).run();
    finished
        .assert_code(0)
        .assert_stderr_has("warning: the notification to json at https://localhost/… failed: curl: (60)")
        .assert_stderr_has("certificate")
        .assert_stderr_lacks(SECRET);
    assert_eq!(server.requests(), Vec::<Value>::new());
}

#[test]
fn a_test_says_where_it_was_sent_or_why_it_was_not_taken() {
    if !can_be_tried() {
        return;
    }
    let sandbox = repository();
    let server = Server::start(&sandbox);
    let test = |path: &str| {
        let command = ralph(&sandbox).args(["notify", "test"]).env("RALPH_NOTIFY_URL", server.url(path));
        server.believed(command).run()
    };
    let good = test("/good");
    good.assert_code(0)
        .assert_stderr_has("sent to json at https://localhost/…")
        .assert_stderr_has("notified");
    test("/refuse?token=abc").assert_code(1).assert_stderr_has("status 403").assert_stderr_lacks("abc");
    test("/move")
        .assert_code(1)
        .assert_stderr_has("the server redirects (status 302), which is not followed");
    let paths: Vec<Value> = server.requests().iter().map(|request| request["path"].clone()).collect();
    assert_eq!(json!(paths), json!(["/good", "/refuse?token=abc", "/move"]), "a redirect is not followed");
}

#[test]
fn a_url_of_the_project_needs_consent_and_one_of_the_user_s_does_not() {
    if !can_be_tried() {
        return;
    }
    let sandbox = repository();
    let server = Server::start(&sandbox);
    sandbox.write(".ralph/config.toml", format!("[notify]\nurl = '{}'\n", server.url("/theirs")));
    let test = |args: &[&str]| server.believed(ralph(&sandbox).args(["notify", "test"]).args(args)).run();
    test(&[]).assert_code(64).assert_stderr_has("(.ralph/config.toml, notify.url)");
    let agent = one_call(&sandbox, says_done());
    let asked = ralph(&sandbox).args(["run", GOAL, "--reviews", "0", "--agent-cmd"]).arg(agent.path());
    server.believed(asked).run().assert_code(64).assert_stderr_has("notify.url");
    assert_eq!(server.requests(), Vec::<Value>::new());
    test(&["--yes"]).assert_code(0);
    assert_eq!(server.requests().len(), 1);
    sandbox.write(".ralph/config.toml", "");
    sandbox.write(USER, format!("[notify]\nurl = '{}'\n", server.url("/mine")));
    test(&[]).assert_code(0);
    assert_eq!(server.requests()[1]["path"], "/mine");
}

#[test]
fn without_curl_the_warning_says_so_and_a_wrong_address_is_not_shown() {
    let sandbox = repository();
    let bin = sandbox.root().join("few");
    fs::create_dir(&bin).expect("a folder");
    for name in ["git", "sh"] {
        symlink(program(name).expect("installed"), bin.join(name)).expect("a link");
    }
    let test = |url: &str| {
        ralph(&sandbox).args(["notify", "test"]).env("PATH", &bin).env("RALPH_NOTIFY_URL", url).run()
    };
    test("https://example.org/hook").assert_code(1).assert_stderr_has("curl is not installed");
    let config = |args: &[&str]| {
        let command = ralph(&sandbox).arg("config").args(args);
        command.env("RALPH_NOTIFY_URL", "https://example.org/tok3n").run()
    };
    let shown = config(&["show"]);
    shown.assert_stdout_has("https://example.org/…");
    assert!(!shown.stdout.contains("tok3n"), "a list of settings is shown to others\n{shown}");
    config(&["get", "notify.url"]).assert_stdout_has("https://example.org/tok3n");
    for wrong in ["ftp://example.org/tok3n", "example.org/tok3n", "https:///tok3n", "https://a b/tok3n"] {
        test(wrong)
            .assert_code(64)
            .assert_stderr_has("RALPH_NOTIFY_URL: url is not an address that begins with https://")
            .assert_stderr_lacks("tok3n");
    }
}
