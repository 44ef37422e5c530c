//! A folder of its own for each test, a clean environment, and custody of every process started there.

mod git;
mod path;
mod processes;
mod record;

pub use git::GitState;
pub use processes::MARKER;

use crate::agent::{self, AgentCall};
use crate::run::RalphCommand;
use crate::sync::Points;
use record::Record;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The base folder for sandboxes, where the usual temporary folder will not do.
const BASE: &str = "RALPH_SANDBOX_BASE";
/// Set to keep the folders for looking at them after the tests.
const KEEP: &str = "RALPH_KEEP_SANDBOX";
/// Processes that were just told to end need a moment.
const GRACE: Duration = Duration::from_secs(3);

/// `home/`, `project/` (where commands run), `bin/` (first on the search path), `tmp/`, `prompts/`.
///
/// ```
/// use ralph_testkit::Sandbox;
/// let sandbox = Sandbox::new();
/// sandbox.init_git();
/// sandbox.write("src/a.txt", "one\n");
/// sandbox.commit_all("first");
/// let before = sandbox.user_git_state();
/// assert_eq!(before, sandbox.user_git_state());
/// ```
pub struct Sandbox {
    root: PathBuf,
    id: String,
    search_path: OsString,
    points: Points,
    record: Record,
    /// Removes the folder at the end; `None` when it is kept.
    _folder: Option<TempDir>,
}

impl Sandbox {
    #[expect(clippy::new_without_default, reason = "making folders is not a default")]
    pub fn new() -> Self {
        let base = std::env::var_os(BASE).map_or_else(std::env::temp_dir, PathBuf::from);
        refuse_inside_a_repository(&base);
        let folder = tempfile::Builder::new().prefix("ralph-").rand_bytes(12).tempdir_in(&base);
        let folder = folder.unwrap_or_else(|error| panic!("no sandbox in {}: {error}", base.display()));
        let root = folder.path().canonicalize().expect("the sandbox's real path");
        for name in ["home", "project", "bin", "tmp", "prompts", "points", "agents"] {
            fs::create_dir(root.join(name)).expect("make a folder of the sandbox");
        }
        let folder = if std::env::var_os(KEEP).is_some() {
            eprintln!("sandbox kept: {}", folder.keep().display());
            None
        } else {
            Some(folder)
        };
        // The folder's name is random, and unique on this machine as long as the sandbox lives.
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let sandbox = Sandbox {
            id: format!("{}-{name}", std::process::id()),
            search_path: path::search_path(&root, &root.join("bin")),
            points: Points::new(root.join("points")),
            record: Record::default(),
            root,
            _folder: folder,
        };
        git::write_user_config(&sandbox.home());
        sandbox
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The value of [`MARKER`] in the environment of everything started here.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A command in the project folder with nothing of the outer environment.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let home = self.home();
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear();
        command.env("PATH", &self.search_path).env("HOME", &home).env("TMPDIR", self.root.join("tmp"));
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("TERM", "dumb");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env(MARKER, &self.id);
        for (variable, folder) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_RUNTIME_DIR", ".run"),
        ] {
            command.env(variable, home.join(folder));
        }
        command
    }

    /// The given ralph binary (or any other program), to be run in the project.
    pub fn ralph(&self, exe: &Path) -> RalphCommand {
        self.record.made_by(exe);
        RalphCommand::new(self.command(exe))
    }

    /// For a test that damages a journal: at the end of any other, `ralph replay` must agree with every run that was
    /// recorded in the project.
    pub fn damages_the_record(&self) {
        self.record.is_damaged();
    }

    /// Writes a file of the project, with the folders it needs.
    #[track_caller]
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("make the file's folder");
        fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
    }

    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("read {}: {error}", path.display()))
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.project().join(path).symlink_metadata().is_ok()
    }

    /// Puts a shell script into `bin/`. Copied by another process: a program must not be open for writing
    /// anywhere when it is started, and tests running beside this one inherit our open files for a moment.
    pub fn install_script(&self, name: &str, text: &str) -> PathBuf {
        let source = self.root.join("tmp").join(format!("{name}.source"));
        let program = self.bin().join(name);
        fs::write(&source, text).expect("write a script");
        let copy = "cp -- \"$1\" \"$2\" && chmod 755 -- \"$2\"";
        let status = self.command("sh").args(["-c", copy, "sh"]).arg(&source).arg(&program).status();
        assert!(status.expect("start sh").success(), "cannot install {}", program.display());
        program
    }

    /// Every call of a scripted agent so far, in order.
    pub fn agent_calls(&self) -> Vec<AgentCall> {
        agent::calls(&self.root.join("prompts"))
    }

    /// Blocks until a scripted agent has reached the point of that name ([`crate::Steps::reach`]).
    #[track_caller]
    pub fn wait_for(&self, point: &str) {
        self.points.wait_for(point, crate::LIMIT);
    }

    /// Lets one agent held at the point go on ([`crate::Steps::hold`]).
    pub fn release(&self, point: &str) {
        self.points.release(point);
    }

    /// The pipe of a point, for a script that is no scripted agent: it writes a line to tell that it is there, or reads
    /// one to be held.
    pub fn point(&self, name: &str) -> PathBuf {
        self.points.pipe(name).0
    }

    /// Living processes that were started in this sandbox, as number and command line.
    pub fn processes(&self) -> Vec<(u32, String)> {
        processes::of_sandbox(&self.id, &self.root)
    }

    /// Nothing started in this sandbox is alive, or ends within a few seconds.
    #[track_caller]
    pub fn assert_no_processes(&self) {
        let end = Instant::now() + GRACE;
        loop {
            let left = self.processes();
            let Some((first, _)) = left.first() else { return };
            let time = end.saturating_duration_since(Instant::now());
            assert!(!time.is_zero(), "processes left behind: {left:#?}");
            processes::wait_for_end(*first, time);
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        processes::end_marked(&self.id);
        if !std::thread::panicking() {
            self.record.assert_agrees(self);
        }
    }
}

/// A project without git must not turn into a part of somebody's repository.
fn refuse_inside_a_repository(base: &Path) {
    let repository = base.ancestors().find(|folder| folder.join(".git").exists());
    if let Some(folder) = repository {
        panic!("sandboxes cannot be made inside the git repository {}: set {BASE}", folder.display());
    }
}
