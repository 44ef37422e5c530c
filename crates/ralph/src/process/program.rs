//! Finding a program before starting it, so that "not found" can be said in time.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The executable file that `name` stands for: looked up on PATH, or taken as a path if it has a slash.
pub fn find_program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    find_on(std::env::var_os("PATH").as_deref(), Path::new(name.as_ref()))
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
}
