//! git in the sandbox, and the state of a repository as its user sees it.

use super::Sandbox;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

pub(super) fn write_user_config(home: &Path) {
    let config = "[user]\n\tname = Test User\n\temail = user@example.invalid\n[init]\n\tdefaultBranch = main\n\
                  [commit]\n\tgpgsign = false\n";
    fs::write(home.join(".gitconfig"), config).expect("write .gitconfig");
}

impl Sandbox {
    /// Runs git in the project; its standard output without the last line end.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.git_bytes(args);
        String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned()
    }

    pub fn init_git(&self) {
        self.git(&["init", "--quiet"]);
    }

    /// Commits everything, new files too, and gives back the commit's hash.
    #[track_caller]
    pub fn commit_all(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// What must stay as it is when something promises not to touch the user's git state.
    #[track_caller]
    pub fn user_git_state(&self) -> GitState {
        let git_path = |name: &str| self.project().join(self.git(&["rev-parse", "--git-path", name]));
        // First of all: nothing after this may have refreshed it.
        let index = fs::read(git_path("index")).ok();
        let text = |args: &[&str]| pieces(&self.git_bytes(args), b'\n');
        GitState {
            index: index.map(|bytes| digest(&bytes)),
            // Names a branch, whose commit stands among the refs, or is a commit itself.
            head: fs::read_to_string(git_path("HEAD")).expect("read HEAD").trim_end().to_owned(),
            refs: text(&["for-each-ref"]),
            stash: text(&["stash", "list"]),
            status: pieces(&self.git_bytes(&["status", "--porcelain=v2", "-z"]), 0),
            files: self.work_files(),
        }
    }

    fn work_files(&self) -> BTreeMap<String, String> {
        let listing = self.git_bytes(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let names = listing.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(OsStr::from_bytes);
        names.map(|name| (format!("{name:?}"), describe(&self.project().join(name)))).collect()
    }

    #[track_caller]
    fn git_bytes(&self, args: &[&str]) -> Vec<u8> {
        // Without this, a mere `status` writes the index.
        let output =
            self.command("git").env("GIT_OPTIONAL_LOCKS", "0").args(args).output().expect("start git");
        let Output { status, stdout, stderr } = output;
        assert!(
            status.success(),
            "git {args:?}: {status}\n{}{}",
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr),
        );
        stdout
    }
}

fn pieces(bytes: &[u8], separator: u8) -> Vec<String> {
    let pieces = bytes.split(|&byte| byte == separator).filter(|piece| !piece.is_empty());
    pieces.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
}

/// Kind, permissions and content of a file in one short line.
fn describe(path: &Path) -> String {
    let Ok(metadata) = path.symlink_metadata() else { return "missing".to_owned() };
    if metadata.is_symlink() {
        return format!("link to {}", fs::read_link(path).expect("read a link").display());
    }
    if metadata.is_dir() {
        return "folder".to_owned();
    }
    let mode = metadata.permissions().mode() & 0o777;
    match fs::read(path) {
        Ok(bytes) => format!("mode {mode:o}, {}", digest(&bytes)),
        Err(error) => format!("mode {mode:o}, unreadable: {error}"),
    }
}

/// Stands for bytes that nobody wants to see printed, and shows them where they are short text.
fn digest(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let (length, hash) = (bytes.len(), hasher.finish());
    match std::str::from_utf8(bytes) {
        Ok(text) if length <= 60 => format!("{text:?}"),
        _ => format!("{length} bytes, hash {hash:016x}"),
    }
}

/// Index, HEAD, refs, stash, status and every file that is not ignored. Equal means untouched.
#[derive(Clone, PartialEq, Eq)]
pub struct GitState {
    index: Option<String>,
    head: String,
    refs: Vec<String>,
    stash: Vec<String>,
    status: Vec<String>,
    files: BTreeMap<String, String>,
}

impl GitState {
    /// One line for each thing that differs, `-` as it was here and `+` as it is in the other.
    pub fn differences(&self, later: &GitState) -> Vec<String> {
        let before = BTreeSet::from_iter(self.lines(usize::MAX));
        let after = BTreeSet::from_iter(later.lines(usize::MAX));
        let gone = before.difference(&after).map(|line| format!("- {line}"));
        let new = after.difference(&before).map(|line| format!("+ {line}"));
        gone.chain(new).collect()
    }

    /// Like `assert_eq!`, printing the differences only.
    #[track_caller]
    pub fn assert_same(&self, later: &GitState) {
        assert!(self == later, "git state changed:\n{}", self.differences(later).join("\n"));
    }

    fn lines(&self, most_files: usize) -> Vec<String> {
        let index = self.index.as_deref().unwrap_or("none");
        let mut lines = vec![format!("index: {index}"), format!("HEAD: {}", self.head)];
        for (name, values) in [("ref", &self.refs), ("stash", &self.stash), ("status", &self.status)] {
            lines.extend(values.iter().map(|value| format!("{name}: {value}")));
        }
        let files = self.files.iter().map(|(name, content)| format!("file {name}: {content}"));
        lines.extend(files.take(most_files));
        if self.files.len() > most_files {
            lines.push(format!("and {} more files", self.files.len() - most_files));
        }
        lines
    }
}

impl fmt::Debug for GitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitState\n    {}\n", self.lines(40).join("\n    "))
    }
}
