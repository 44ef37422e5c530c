//! Invariant 4: each side effect of crate ralph has one owner.

use crate::sources::{Source, names, shipped};

/// A side effect, how it looks in code, and who may have it. Owners are paths from `crates/ralph/src/`: a
/// folder ends with `/`.
struct Effect {
    what: &'static str,
    patterns: &'static [&'static str],
    owners: &'static [(&'static str, &'static str)],
    instead: &'static str,
}

const EFFECTS: &[Effect] = &[
    Effect {
        what: "starts a program",
        patterns: &["Command::new", "process::Command"],
        owners: &[("process.rs", "the only spawner"), ("process/", "the only spawner")],
        instead: "use process::Spec",
    },
    Effect {
        what: "calls git",
        patterns: &["\"git\""],
        owners: &[("git.rs", "the only caller of git"), ("git/", "the only caller of git")],
        instead: "use git::Call or Repo::call",
    },
    Effect {
        what: "talks to standard output or standard error",
        patterns: &[
            "io::stdout", "io::stderr", "rustix::stdio", "print!", "println!", "eprint!", "eprintln!",
        ],
        owners: &[
            ("ui.rs", "the only owner of standard output and standard error"),
            ("ui/", "the only owner of standard output and standard error"),
            ("process/keep.rs", "the keeper hands its own over to the command it keeps"),
        ],
        instead: "use Ui",
    },
    Effect {
        what: "reads the time of day",
        patterns: &["Timestamp::now", "SystemTime::now", "Zoned::now"],
        owners: &[("clock.rs", "the only clock")],
        instead: "use clock::now",
    },
    Effect {
        what: "writes, renames or removes files",
        patterns: &[
            "fs::write",
            "fs::rename",
            "fs::copy",
            "fs::hard_link",
            "fs::set_permissions",
            "File::create",
            "File::create_new",
            "File::options",
            "OpenOptions",
            "remove_file",
            "fs::remove_dir",
            "remove_dir_all",
            "fs::symlink",
        ],
        owners: &[
            ("store/", "the only writer of ralph's files"),
            ("tree/", "its own index and object store"),
            ("process/keep.rs", "its lock file, /dev/null and its own name in /proc"),
            ("process/keep/copy.rs", "the transcript, which must not be lost with ralph"),
            ("point/armed.rs", "the list of points, in debug builds"),
            ("unix.rs", "names what makes a link on unix, for store/"),
        ],
        instead: "use store::",
    },
    Effect {
        what: "makes folders",
        patterns: &["fs::create_dir", "create_dir_all", "DirBuilder"],
        owners: &[
            ("store/", "ralph's own folders"),
            ("tree/", "its own index and object store"),
            ("demo.rs", "the throw-away project of the demo"),
        ],
        instead: "use store::",
    },
    Effect {
        what: "ends the process",
        patterns: &["process::exit", "process::abort"],
        owners: &[("ui.rs", "the second Ctrl-C; everything else leaves through main")],
        instead: "return an ExitCode",
    },
    Effect {
        what: "does what only unix can",
        patterns: &["os::unix", "os::fd", "os::linux"],
        owners: &[
            ("unix.rs", "names and files"),
            ("process/", "processes, signals and descriptors"),
            ("clock/alarm.rs", "the kernel's timer, which is a descriptor"),
        ],
        instead: "use unix::",
    },
    Effect {
        what: "sleeps",
        patterns: &["thread::sleep"],
        owners: &[("tree.rs", "nobody tells when another program has finished writing a file")],
        instead: "wait for what you wait for: a channel, a deadline, a file descriptor",
    },
];

const SRC: &str = "crates/ralph/src/";

pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in sources {
        for effect in
            EFFECTS.iter().filter(|effect| !effect.owners.iter().any(|(owner, _)| owns(owner, file)))
        {
            for (number, line) in shipped(file).into_iter().filter(|(_, line)| effect.is_in(line)) {
                complaints.push(format!(
                    "{}:{number}: {}, which is not its to do: {}, or name it as an owner, with the reason, in {}\n\
                     \x20   {}",
                    file.path,
                    effect.what,
                    effect.instead,
                    file!(),
                    line.trim()
                ));
            }
        }
    }
    complaints
}

/// Owners that have no such effect any more: the table must not grow soft.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for effect in EFFECTS {
        for (owner, _) in effect.owners {
            let there = sources.iter().any(|file| owns(owner, file));
            if !there || !still_does(effect, owner, sources) {
                complaints.push(format!(
                    "{owner} no longer {}: take it off the table in {}",
                    effect.what,
                    file!()
                ));
            }
        }
    }
    complaints
}

/// A module's file and its folder count as one owner.
fn still_does(effect: &Effect, owner: &str, sources: &[Source]) -> bool {
    let module = owner.trim_end_matches('/').trim_end_matches(".rs");
    let (file, folder) = (format!("{module}.rs"), format!("{module}/"));
    let mut both = sources.iter().filter(|source| owns(&file, source) || owns(&folder, source));
    both.any(|source| shipped(source).iter().any(|(_, line)| effect.is_in(line)))
}

fn owns(owner: &str, file: &Source) -> bool {
    let Some(path) = file.path.strip_prefix(SRC) else { return false };
    if owner.ends_with('/') { path.starts_with(owner) } else { path == owner }
}

impl Effect {
    fn is_in(&self, line: &str) -> bool {
        // A folder may be called git.
        let line = line.replace(".join(\"git\")", "");
        self.patterns.iter().any(|pattern| names(&line, pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::source;

    fn complaints(path: &str, line: &str) -> usize {
        violations(&[source(&format!("{SRC}{path}"), &format!("fn f() {{\n    {line}\n}}\n"))]).len()
    }

    #[test]
    fn each_effect_is_told_outside_of_its_owner_and_not_in_it() {
        for (line, owner) in [
            ("let child = Command::new(program);", "process/spec.rs"),
            ("let spec = Spec::new(\"git\", cwd);", "git/call.rs"),
            ("println!(\"hello\");", "ui/plain.rs"),
            ("let err = io::stderr();", "process/keep.rs"),
            ("let now = SystemTime::now();", "clock.rs"),
            ("std::fs::write(path, text)?;", "store/files.rs"),
            ("let file = OpenOptions::new();", "store/lock.rs"),
            ("std::fs::create_dir_all(path)?;", "demo.rs"),
            ("std::process::exit(1);", "ui.rs"),
            ("std::thread::sleep(time);", "tree.rs"),
        ] {
            assert_eq!(complaints("cli/run.rs", line), 1, "{line}");
            assert_eq!(complaints(owner, line), 0, "{line}");
        }
    }

    #[test]
    fn an_owner_that_does_it_no_more_is_told() {
        let clock = source("crates/ralph/src/clock.rs", "pub fn now() {}\n");
        assert!(
            stale(&[clock])
                .iter()
                .any(|complaint| complaint.starts_with("clock.rs no longer reads the time"))
        );
        let clock = source("crates/ralph/src/clock.rs", "fn now() { SystemTime::now() }\n");
        assert!(!stale(&[clock]).iter().any(|complaint| complaint.starts_with("clock.rs")));
    }

    #[test]
    fn a_folder_called_git_is_no_call() {
        assert_eq!(complaints("tree/place.rs", "let dir = store.join(\"git\");"), 0);
    }
}
