//! Reading files that an agent can replace.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a file holds, or what a link to one leads to, if it is no longer than `most`. In the place of a file there may be a pipe, at
/// which whoever opens it waits for ever, or a link to a device without an end.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let data = std::fs::metadata(path)?;
    if !data.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    if data.len() > most {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile, and what a file of the kernel's holds is not told by its length.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::from(io::ErrorKind::FileTooLarge));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::process::{Spec, capture};
    use crate::store::Scratch;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn a_file_is_read_and_nobody_waits_for_a_pipe_or_for_the_end_of_a_device() {
        let dir = Scratch::new("ralph-bounded").expect("a folder");
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "12345").expect("written");
        symlink("file", path("link")).expect("a link");
        symlink("/dev/zero", path("zero")).expect("a link");
        capture(&Spec::new("mkfifo", "/").arg(path("pipe"))).expect("mkfifo");
        symlink("pipe", path("to pipe")).expect("a link");
        let read = |name: &str, most: u64| read(&path(name), most).map_err(|error| error.kind());
        assert_eq!(read("file", 5), Ok(b"12345".to_vec()));
        assert_eq!(read("link", 5), Ok(b"12345".to_vec()));
        assert_eq!(read("file", 4), Err(io::ErrorKind::FileTooLarge));
        assert_eq!(read("none", 4), Err(io::ErrorKind::NotFound));
        for name in ["zero", "pipe", "to pipe", "."] {
            assert_eq!(read(name, 5), Err(io::ErrorKind::InvalidInput), "{name}");
        }
        dir.remove().expect("removed");
    }
}
