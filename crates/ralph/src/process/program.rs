//! Finding a program before starting it, so that "not found" can be said in time.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access};

use super::{End, Spec, capture_for};

/// How long the shell may take to say whether it knows a word.
const ASKED: Duration = Duration::from_secs(10);

/// The executable file that `name` stands for: looked up on PATH, or taken as a path if it has a slash.
pub fn find_program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    find_on(std::env::var_os("PATH").as_deref(), Path::new(name.as_ref()))
}

/// The program that a command begins with, if the shell would not find it. Anything but a plain word is told only by
/// running it.
pub fn missing_program(command: &str, root: &Path) -> Option<String> {
    let first = command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
    let plain = !first.is_empty() && first.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+[".contains(c));
    if !plain || (!first.contains('/') && find_program(first).is_some()) {
        return None;
    }
    // The shell has words of its own.
    let asked = Spec::shell("command -v -- \"$1\"", root).arg("sh").arg(first);
    let told = capture_for(&asked, ASKED).ok()?;
    (told.end != End::Exited(0)).then(|| first.to_owned())
}

fn find_on(path: Option<&OsStr>, name: &Path) -> Option<PathBuf> {
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return is_program(name).then(|| name.to_path_buf());
    }
    // An empty entry in PATH means the current folder, as in the shell.
    std::env::split_paths(path?)
        .map(
            |folder| {
                if folder.as_os_str().is_empty() { Path::new(".").join(name) } else { folder.join(name) }
            },
        )
        .find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_programs_on_the_path_and_by_path() {
        assert!(find_program("sh").is_some_and(|p| p.is_absolute()));
        assert_eq!(find_program("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!(find_on(Some("/nowhere:/bin".as_ref()), Path::new("sh")), Some("/bin/sh".into()));
    }

    #[test]
    fn does_not_find_folders_plain_files_or_nothing() {
        for name in ["", "/", "/etc", "/etc/passwd", "no-such-program-anywhere", "./sh"] {
            assert_eq!(find_program(name), None, "{name:?}");
        }
        assert_eq!(find_on(Some("/etc:/usr".as_ref()), Path::new("passwd")), None);
        assert_eq!(find_on(Some("/usr".as_ref()), Path::new("bin")), None);
        assert_eq!(find_on(None, Path::new("sh")), None);
    }

    #[test]
    fn a_program_that_is_not_there_is_named_and_the_shell_s_own_words_are_not() {
        let root = Path::new("/");
        for gone in ["no-such-tool --all", "A=1 no-such-tool", "./no/such.sh"] {
            let tool = gone.split(' ').find(|word| word.contains("no")).expect("one");
            assert_eq!(missing_program(gone, root).as_deref(), Some(tool), "{gone}");
        }
        for there in [
            "sh -c x",
            "test -e x",
            "[ -e x ]",
            "A=1 sh",
            "$TOOL x",
            "(cd x && make)",
            "",
            "export CI=1 && true",
            "if true; then true; fi",
            "umask 022; true",
            "! false",
            "command true",
        ] {
            assert_eq!(missing_program(there, root), None, "{there}");
        }
    }
}
