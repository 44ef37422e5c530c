//! Views, and other files that may be lost, that are written again with every iteration. A new file each time costs a file system more than anything else
//! about a view: blocks are found for it, and those of the old one freed. So there are two, which take turns: the one
//! that nobody sees is written over, and then the two exchange their names in one step. A reader sees the old view or
//! the new one, whole; one that reads on over two changes may see both.
#![expect(clippy::disallowed_methods, reason = "the store writes ralph's files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use super::files;
use crate::point;
use crate::unix::identity::MetadataExt;

/// `beside` is the other one's name; on the same file system.
pub(crate) fn replace(beside: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    replace_as_of(beside, path, text, None)
}

/// The same; the file has this time from the first moment on that anybody sees it.
pub(crate) fn replace_as_of(
    beside: &Path,
    path: &Path,
    text: &[u8],
    time: Option<SystemTime>,
) -> io::Result<()> {
    // A folder, or a link, is not what a view takes turns with.
    if std::fs::symlink_metadata(path).is_ok_and(|data| !data.is_file()) {
        return files::replace_through(beside, path, text);
    }
    let Some(mut other) = open(beside) else {
        return first(beside, path, text, time);
    };
    point::file("write", beside)
        .and_then(|()| other.write_all(text))
        .and_then(|()| other.set_len(text.len() as u64))
        .and_then(|()| time.map_or(Ok(()), |time| other.set_modified(time)))
        .and_then(|()| point::file("rename", path))
        .and_then(|()| exchange(beside, path).or_else(|_| std::fs::rename(beside, path)))
}

/// The first time there is none to take turns with.
fn first(beside: &Path, path: &Path, text: &[u8], time: Option<SystemTime>) -> io::Result<()> {
    if !std::fs::symlink_metadata(path).is_ok_and(|data| data.is_file()) {
        return files::replace_through(beside, path, text);
    }
    let set = |time: SystemTime| File::options().write(true).open(beside)?.set_modified(time);
    let written = files::write_anew(beside, text)
        .and_then(|()| time.map_or(Ok(()), set))
        .and_then(|()| point::file("rename", path))
        .and_then(|()| exchange(beside, path).or_else(|_| std::fs::rename(beside, path)));
    if written.is_err() {
        // Nobody asks for it under that name.
        let _ = std::fs::remove_file(beside);
    }
    written
}

/// The other one, if it is ours alone: a link, or a file that has another name too, may be anybody's.
fn open(beside: &Path) -> Option<File> {
    let named = std::fs::symlink_metadata(beside).ok().filter(std::fs::Metadata::is_file)?;
    let file = OpenOptions::new().write(true).open(beside).ok()?;
    let opened = file.metadata().ok()?;
    let same = (opened.dev(), opened.ino()) == (named.dev(), named.ino());
    (same && opened.nlink() == 1).then_some(file)
}

#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_replaced_whole_every_time_whatever_stands_in_the_way() {
        let sandbox = ralph_testkit::Sandbox::new();
        let dir = sandbox.project();
        let (path, beside) = (dir.join("view"), dir.join(".view.other"));
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        for text in ["first", "second, and longer", "3rd", "", "again"] {
            replace(&beside, &path, text.as_bytes()).expect("replaced");
            assert_eq!(read(&path), text);
        }
        // Somebody removed the one or the other.
        std::fs::remove_file(&path).expect("removed");
        replace(&beside, &path, b"back").expect("replaced");
        assert_eq!(read(&path), "back");
        let _ = std::fs::remove_file(&beside);
        replace(&beside, &path, b"and on").expect("replaced");
        assert_eq!(read(&path), "and on");
        // A folder is somebody's own.
        std::fs::remove_file(&path).and_then(|()| std::fs::create_dir(&path)).expect("a folder");
        std::fs::write(path.join("mine"), "my work").expect("written");
        replace(&beside, &path, b"never").expect_err("it stays");
        assert_eq!(read(&path.join("mine")), "my work");
    }

    #[test]
    fn what_is_not_ralph_s_alone_is_never_written_over() {
        let sandbox = ralph_testkit::Sandbox::new();
        let dir = sandbox.project();
        let (path, beside, mine) = (dir.join("view"), dir.join(".view.other"), dir.join("mine"));
        let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        std::fs::write(&mine, "my work").expect("written");
        let plant: [fn(&Path, &Path); 2] = [
            |mine, beside| std::os::unix::fs::symlink(mine, beside).expect("a link"),
            |mine, beside| std::fs::hard_link(mine, beside).expect("a second name"),
        ];
        for plant in plant {
            for target in [&path, &beside] {
                std::fs::write(&path, "old").expect("written");
                let _ = std::fs::remove_file(target);
                plant(&mine, target);
                for text in ["new", "newer", "newest"] {
                    replace(&beside, &path, text.as_bytes()).expect("replaced");
                    assert_eq!((read(&path).as_str(), read(&mine).as_str()), (text, "my work"));
                }
                let _ = (std::fs::remove_file(&path), std::fs::remove_file(&beside));
            }
        }
    }
}
