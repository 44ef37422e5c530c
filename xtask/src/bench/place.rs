//! A folder of throw-away repositories with a clean environment, and the timing of programs in it.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// After how long a file system has forgotten what was deleted.
const FORGETS: Duration = Duration::from_secs(70);

/// Files in one folder of a repository.
const FOLDER: usize = 100;

/// Removed at the end, whatever the end.
#[derive(Debug)]
pub(super) struct Place {
    dir: PathBuf,
    pub(super) ralph: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Place {
    /// In the target folder unless said otherwise: there it is on a disk, as projects are, which temporary folders often are
    /// not.
    pub(super) fn new(folder: &Path, ralph: &Path) -> Result<Self> {
        let dir = folder.join(format!("bench-{}", std::process::id()));
        let place = Self { dir, ralph: ralph.to_path_buf() };
        make_dir(&place.dir.join("home"))?;
        Ok(place)
    }

    /// A repository with this many committed files.
    pub(super) fn repository(&self, name: &str, files: usize) -> Result<PathBuf> {
        let repo = self.dir.join(name);
        make_dir(&repo)?;
        for args in [
            &["init", "--quiet", "--initial-branch=main"] as &[&str],
            &["config", "user.name", "bench"],
            &["config", "user.email", "bench@localhost"],
        ] {
            self.time(self.command("git", &repo).args(args), 0)?;
        }
        self.add_files(&repo, 0..files)?;
        Ok(repo)
    }

    /// Commits these files, by their numbers, with all that is in the repository.
    pub(super) fn add_files(&self, repo: &Path, numbers: Range<usize>) -> Result<()> {
        for number in numbers {
            let file = repo.join(file(number));
            if number % FOLDER == 0 {
                make_dir(file.parent().unwrap_or(repo))?;
            }
            write(&file, &format!("file {number}\n").repeat(20))?;
        }
        for args in [
            &["config", "core.fsync", "none"] as &[&str],
            &["add", "--all"],
            &["commit", "--quiet", "--message=files"],
            &["config", "--unset", "core.fsync"],
        ] {
            self.time(self.command("git", repo).args(args), 0)?;
        }
        Ok(())
    }

    /// Where something beside the repositories is.
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A file beside the repositories: a script is `../NAME` to what runs in one of them.
    pub(super) fn script(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.at(name);
        make_dir(path.parent().unwrap_or(&self.dir))?;
        write(&path, text)?;
        Ok(path)
    }

    /// A command that sees nothing of the user's settings.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>, cwd: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(cwd).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.dir.join("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(super) fn ralph(&self, cwd: &Path, args: &[&str]) -> Command {
        let mut command = self.command(&self.ralph, cwd);
        command.args(args);
        command
    }

    /// Lets the disk finish with what was written just now, and the file system forget what was deleted: ext4 without a journal
    /// does not give out again the numbers of files that were deleted within the last minute, and looks past all of them for
    /// every new file. Hundreds of `iterations` in a few seconds leave thousands of them, which no agent that works does.
    pub(super) fn settle(&self, iterations: usize) -> Result<()> {
        self.time(&mut self.command("sync", &self.dir), 0)?;
        if iterations > 200 {
            std::thread::sleep(FORGETS);
        }
        Ok(())
    }

    /// What a command prints. It must succeed.
    pub(super) fn said(&self, command: &mut Command) -> Result<String> {
        let done = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let done = done.map_err(|error| format!("{command:?}: {error}"))?;
        match done.status.success() {
            true => Ok(text(&done.stdout)),
            false => {
                Err(format!("{command:?}: {}: {}{}", done.status, text(&done.stdout), text(&done.stderr)))
            }
        }
    }

    /// How long a command takes, in milliseconds. It must end with `code`.
    pub(super) fn time(&self, command: &mut Command, code: i32) -> Result<f64> {
        let begun = Instant::now();
        let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
        let millis = begun.elapsed().as_secs_f64() * 1e3;
        if status.code() == Some(code) {
            return Ok(millis);
        }
        // Said again, aloud.
        let _ = command.stderr(Stdio::inherit()).status();
        Err(format!("{command:?}: {status}, where {code} was expected"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The path of a repository's file, by its number.
pub(super) fn file(number: usize) -> String {
    format!("folder{}/file{number}.txt", number / FOLDER)
}

fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
