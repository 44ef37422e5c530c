//! A copy of the journal or the ledger that has no name: what an agent does to the files of a project does not reach it, and it is gone
//! with the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::files;
use crate::point;

/// Without a file there is no copy: the disk was full, or the folder is not ours.
#[derive(Debug)]
pub(super) struct Copy(Option<File>);

impl Copy {
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// An empty one, on the file system of `path`.
    pub(super) fn new(path: &Path) -> Self {
        Self(files::twice(|| files::nameless(&path.with_extension("copy"))).ok())
    }

    /// Of what is there already.
    pub(super) fn of(path: &Path, whole: &mut File) -> Self {
        let Self(Some(mut file)) = Self::new(path) else { return Self::none() };
        // On many file systems this shares the bytes rather than copying them.
        let copied = files::twice(|| {
            point::pass("fill the copy")?;
            file.set_len(0)?;
            file.rewind()?;
            whole.rewind()?;
            io::copy(whole, &mut file)
        });
        Self(copied.is_ok().then_some(file))
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Drops what is behind so many bytes.
    pub(super) fn cut(&mut self, size: u64) {
        let cut = |file: &File| -> io::Result<()> {
            if file.metadata()?.len() > size {
                point::pass("cut the copy")?;
                file.set_len(size)?;
            }
            Ok(())
        };
        if self.0.as_ref().is_some_and(|file| files::twice(|| cut(file)).is_err()) {
            self.0 = None;
        }
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.0 else { return };
        let end = file.seek(SeekFrom::End(0));
        let appended = end.and_then(|end| {
            files::twice(|| {
                point::pass("append to the copy")?;
                file.set_len(end)?;
                file.seek(SeekFrom::Start(end))?;
                file.write_all(bytes)
            })
        });
        if appended.is_err() {
            // One with a hole in it is worse than none.
            self.0 = None;
        }
    }

    pub(super) fn equals(&mut self, path: &Path) -> bool {
        let same = |copy: &mut File| -> io::Result<bool> {
            let mut other = File::open(path)?;
            if other.metadata()?.len() != copy.metadata()?.len() {
                return Ok(false);
            }
            copy.rewind()?;
            let (mut a, mut b) = (vec![0; 256 << 10], vec![0; 256 << 10]);
            loop {
                let read = copy.read(&mut a)?;
                if read == 0 {
                    return Ok(true);
                }
                other.read_exact(&mut b[..read])?;
                if a[..read] != b[..read] {
                    return Ok(false);
                }
            }
        };
        self.0.as_mut().is_some_and(|copy| same(copy).unwrap_or(false))
    }

    pub(super) fn write_to(&mut self, to: &mut File) -> io::Result<()> {
        let Some(copy) = &mut self.0 else { return Err(io::Error::other("there is no copy of it")) };
        copy.rewind()?;
        point::pass("write the copy back")?;
        io::copy(copy, to).map(drop)
    }
}
