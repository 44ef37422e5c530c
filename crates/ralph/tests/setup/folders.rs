//! `ralph init` in every kind of folder: all that it says and writes is in a file of `init/` beside this one. Files that are
//! the same as in an empty folder are only named there, and of settings only the lines that differ are shown.
//! `RALPH_BLESS=1 cargo test -p ralph --test setup folders` writes them anew.
#![expect(clippy::disallowed_methods, reason = "the test's own files")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use ralph_testkit::{RalphCommand, Sandbox};

use crate::common::snapshot::holds;
use crate::common::{ralph, repository};

type Files = BTreeMap<String, String>;

/// Everything that a check may begin with, so that what is found does not depend on the machine.
const TOOLS: [&str; 20] = [
    "bun", "bundle", "cargo", "cargo-clippy", "cmake", "composer", "ctest", "dotnet", "go", "golangci-lint",
    "gradle", "just", "make", "mix", "mvn", "npm", "php", "pnpm", "pytest", "ruff",
];

/// A kind of folder: a repository with these files, unless it is made in another way.
struct Kind {
    sandbox: Sandbox,
    /// Where it is called, from the project.
    cwd: &'static str,
    args: &'static [&'static str],
    /// Like the rest of the project, but not in it.
    with: Option<RalphCommand>,
}

fn with_tools(sandbox: Sandbox) -> Kind {
    for tool in TOOLS {
        sandbox.install_script(tool, "#!/bin/sh\nexit 0\n");
    }
    sandbox.install_script("claude", "#!/bin/sh\nexit 0\n");
    Kind { sandbox, cwd: ".", args: &[], with: None }
}

fn kind(files: &[(&str, &str)]) -> Kind {
    let kind = with_tools(repository());
    files.iter().for_each(|(path, text)| kind.sandbox.write(path, text));
    kind
}

/// All files below a folder but git's own, with what is in them.
fn files(top: &Path) -> Files {
    fn walk(top: &Path, dir: &Path, files: &mut Files) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(top).expect("below it").display().to_string();
            if path.is_symlink() {
                files.insert(name, "a link\n".into());
            } else if path.is_dir() && entry.file_name() != ".git" {
                walk(top, &path, files);
            } else if path.is_file() {
                files.insert(name, String::from_utf8_lossy(&fs::read(&path).expect("read")).into_owned());
            }
        }
    }
    let mut all = Files::new();
    walk(top, top, &mut all);
    all
}

/// What it says and writes.
fn shown(kind: Kind, usual: &Files) -> String {
    let Kind { sandbox, cwd, args, with } = kind;
    let before = files(sandbox.root());
    let command = with.unwrap_or_else(|| ralph(&sandbox).args(["init", "--yes"]));
    let done = command.args(args).in_folder(cwd).run();
    let root = sandbox.root().display().to_string();
    let mut text =
        format!("$ ralph {}\n", ["init", "--yes"].iter().chain(args).copied().collect::<Vec<_>>().join(" "));
    text.push_str(&format!("{}{}", done.stdout, done.stderr).replace(&root, "ROOT"));
    let _ = writeln!(text, "exit {}", done.code);
    let after = files(sandbox.root());
    let kept = |name: &str| name.replacen("/.ralph/", "/.ralph/before-ralph/", 1);
    let is_kept = |(name, text): (&String, &String)| {
        after.contains_key(name) || after.get(&kept(name)).is_some_and(|moved| moved == text)
    };
    assert!(before.iter().all(is_kept), "nothing is removed");
    for (name, made) in after.iter().filter(|(name, made)| before.get(*name) != Some(made)) {
        let how = if before.contains_key(name) { "changed" } else { "new" };
        let file = name.rsplit("/.ralph/").next().unwrap_or(name);
        let _ = write!(text, "\n== {name} ({how}");
        match usual.get(file) {
            Some(usual) if usual == made => text.push_str(", as in an empty folder)\n"),
            Some(usual) if file == "config.toml" => {
                text.push_str(", else as in an empty folder)\n");
                let others = |text: &str, of: &str, mark: char| -> String {
                    let others = text.lines().filter(|line| of.lines().all(|other| other != *line));
                    others.map(|line| format!("{mark} {line}\n")).collect()
                };
                text.push_str(&others(usual, made, '-'));
                text.push_str(&others(made, usual, '+'));
            }
            _ => {
                let _ = write!(text, ")\n{made}");
            }
        }
    }
    text
}

#[track_caller]
fn snapshots(kinds: Vec<(&str, Kind)>) {
    let empty = with_tools(Sandbox::new());
    ralph(&empty.sandbox).args(["init", "--yes"]).run().assert_code(0);
    let usual = files(&empty.sandbox.project().join(".ralph"));
    assert_eq!(usual.len(), 6, "{:?}", usual.keys());
    for (name, kind) in kinds {
        let none = Files::new();
        let usual = if name == "empty" { &none } else { &usual };
        holds(&format!("crates/ralph/tests/setup/init/{name}.txt"), &shown(kind, usual));
    }
}

#[test]
fn wherever_it_is_called() {
    let nested = kind(&[("inner/x", "")]);
    nested.sandbox.git(&["init", "--quiet", "inner"]);
    let worktree = kind(&[]);
    worktree.sandbox.git(&["worktree", "add", "--quiet", "../other"]);
    let bare = with_tools(Sandbox::new());
    bare.sandbox.git(&["init", "--quiet", "--bare", "."]);
    let linked = kind(&[("../elsewhere/x", "")]);
    symlink("../elsewhere", linked.sandbox.project().join(".ralph")).expect("linked");
    let no_git = with_tools(Sandbox::new());
    no_git.sandbox.write("notes.txt", "ours\n");
    let no_agent = Kind { sandbox: repository(), cwd: ".", args: &[], with: None };
    let monorepo = [
        ("api/go.mod", "module api\n"),
        ("web/package.json", r#"{"scripts":{"test":"vitest run","build":"vite build"}}"#),
        ("tools/Cargo.toml", "[package]\nname = 'tools'\n"),
    ];
    snapshots(vec![
        ("empty", with_tools(Sandbox::new())),
        ("no_git", no_git),
        ("repository", kind(&[])),
        ("no_agent", no_agent),
        ("monorepo", kind(&monorepo)),
        ("below_the_top", Kind { cwd: "deep/er", ..kind(&[("deep/er/x", "")]) }),
        ("nested_repository", Kind { cwd: "inner", ..nested }),
        ("worktree", Kind { cwd: "../other", ..worktree }),
        ("bare_repository", bare),
        ("linked_elsewhere", linked),
        ("read_only", read_only()),
    ]);
}

/// A folder that may not be written to. Whoever is allowed everything is let go of that right first.
fn read_only() -> Kind {
    let kind = kind(&[]);
    let project = kind.sandbox.project();
    fs::set_permissions(&project, fs::Permissions::from_mode(0o555)).expect("changed");
    if fs::write(project.join("may-everything"), "").is_err() {
        return kind;
    }
    fs::remove_file(project.join("may-everything")).expect("removed");
    let rights =
        ["--bounding-set", "-dac_override,-dac_read_search", env!("CARGO_BIN_EXE_ralph"), "init", "--yes"];
    let with = Some(kind.sandbox.ralph(Path::new("setpriv")).args(rights));
    Kind { with, ..kind }
}

#[test]
fn each_stack_by_its_files() {
    snapshots(vec![
        ("rust", kind(&[("Cargo.toml", "[package]\nname = 'x'\n"), ("src/lib.rs", "")])),
        ("npm", kind(&[("package.json", r#"{"scripts":{"test":"jest","lint":"eslint .","build":"tsc"}}"#)])),
        (
            "pnpm",
            kind(&[
                ("package.json", r#"{"scripts":{"test":"vitest run"},"devDependencies":{"typescript":"5"}}"#),
                ("pnpm-lock.yaml", ""),
            ]),
        ),
        ("python", kind(&[("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n")])),
        ("go", kind(&[("go.mod", "module x\n")])),
        ("maven", kind(&[("pom.xml", "<project/>\n")])),
        ("gradle", kind(&[("build.gradle.kts", "plugins { kotlin(\"jvm\") }\n")])),
        ("dotnet", kind(&[("x.sln", "")])),
        ("cmake", kind(&[("CMakeLists.txt", "project(x CXX)\nenable_testing()\n")])),
        ("elixir", kind(&[("mix.exs", "")])),
        ("ruby", kind(&[("Gemfile", "gem 'rspec'\n"), (".rspec", ""), ("spec/x_spec.rb", "")])),
        ("php", kind(&[("composer.json", r#"{"scripts":{"test":"phpunit"}}"#)])),
        ("makefile", kind(&[("Makefile", "test:\n\ttrue\nlint:\n\ttrue\n")])),
        ("justfile", kind(&[("justfile", "test:\n    true\n"), ("Cargo.toml", "[package]\nname = 'x'\n")])),
    ]);
}

const PRD: &str = r#"{"project":"x","branchName":"ralph/x","userStories":[
 {"id":"US-1","title":"Log in","acceptanceCriteria":["It does"],"priority":1,"passes":false,"notes":""},
 {"id":"US-2","title":"Log out","acceptanceCriteria":["It does"],"priority":2,"passes":true,"notes":""}]}
"#;

#[test]
fn what_other_loops_left_is_used_where_it_is() {
    let second = r#"{"schemaVersion":"2.0","userStories":[
 {"id":"US-1","title":"Log in","status":"in_progress","dependencies":{"depends_on":[],"blocks":["US-2"]}},
 {"id":"US-2","title":"Log out","status":"blocked","dependencies":{"depends_on":["US-1"],"blocks":[]}}]}
"#;
    let features = r#"[{"category":"ui","description":"A button","steps":["Click it"],"passes":false}]"#;
    let stories = r#"{"version":1,"stories":[{"id":"S-1","title":"Log in","status":"open","dependsOn":[]}]}"#;
    let plan = "# Plan\n\n## High\n- [ ] Log in\n- [/] Log out\n\n## Low\n- [x] Read me\n";
    let prompt = "Study the specs. One thing at a time.\n";
    let plugin = |active: &str| {
        format!(
            "---\nactive: {active}\niteration: 3\nsession_id: abc\nmax_iterations: 20\ncompletion_promise: \"SHIPPED\"\n\
             started_at: \"2026-01-02T03:04:05Z\"\n---\n\nMake the login work,\nthen the logout.\n"
        )
    };
    let harness = r#"{"schema_version":"1.0","items":[{"id":"AUTH-1","title":"Log in","status":"FAILING","priority":1,
 "dependencies":[],"verification":["true"],"attempts":[],"ralph_loop":{"enabled":true,"max_iterations":5}}]}
"#;
    let yml = "project:\n  name: x\ntasks:\n  - id: login\n    title: Log in\n    status: todo\n    priority: high\n";
    let active = plugin("true");
    let inactive = plugin("false");
    snapshots(vec![
        ("prd_json", kind(&[("prd.json", PRD)])),
        ("prd_json_2", kind(&[("prd.json", second)])),
        ("prd_json_features", kind(&[("prd.json", features)])),
        ("prd_json_stories", kind(&[(".agents/tasks/prd.json", stories)])),
        (
            "prd_json_in_scripts",
            kind(&[
                ("scripts/ralph/prd.json", PRD),
                ("scripts/ralph/prompt.md", prompt),
                ("progress.txt", "\n"),
            ]),
        ),
        ("prd_json_broken", kind(&[("prd.json", "{ not json")])),
        ("plan", kind(&[("IMPLEMENTATION_PLAN.md", plan), ("PROMPT_build.md", prompt)])),
        ("fix_plan", kind(&[("fix_plan.md", plan), ("PROMPT.md", prompt)])),
        ("fix_plan_at", kind(&[("@fix_plan.md", plan), ("@PROMPT.md", prompt)])),
        (
            "fix_plan_below",
            kind(&[(".ralph/fix_plan.md", plan), (".ralph/PROMPT.md", prompt), (".ralphrc", "A=1\n")]),
        ),
        ("prd_json_below", kind(&[(".ralph/prd.json", PRD)])),
        ("plan_below", kind(&[(".ralph/IMPLEMENTATION_PLAN.md", plan)])),
        ("plugin_active", kind(&[(".claude/ralph-loop.local.md", active.as_str())])),
        ("plugin_inactive", kind(&[(".claude/ralph-loop.local.md", inactive.as_str())])),
        (
            "harness",
            kind(&[
                (".claude/harness/feature_list.json", harness),
                (".claude/harness/init.sh", "#!/bin/sh\nexit 0\n"),
                (".claude/prd/AUTH-1.json", "{}\n"),
            ]),
        ),
        (
            "ralph_folder",
            kind(&[
                (".ralph/ralph.yml", yml),
                (".ralph/state.json", "{}\n"),
                (".ralph/session.md", "# Session\n"),
            ]),
        ),
    ]);
}

#[test]
fn asked_otherwise_or_again() {
    let again = kind(&[]);
    ralph(&again.sandbox).args(["init", "--yes"]).run().assert_code(0);
    again.sandbox.write(".ralph/prompt.md", "mine\n");
    let forced = kind(&[("scripts/ralph/prd.json", PRD)]);
    ralph(&forced.sandbox).args(["init", "--yes"]).run().assert_code(0);
    forced.sandbox.write(".ralph/guardrails.md", "mine\n");
    snapshots(vec![
        ("again", again),
        ("force", Kind { args: &["--force"], ..forced }),
        ("share", Kind { args: &["--share"], ..kind(&[]) }),
        (
            "share_found",
            Kind {
                args: &["--share"],
                ..kind(&[(".ralph/fix_plan.md", "- [ ] Log in\n"), (".ralph/PROMPT.md", "Study.\n")])
            },
        ),
        ("share_ignored", Kind { args: &["--share"], ..kind(&[(".gitignore", ".ralph/\n")]) }),
    ]);
}
