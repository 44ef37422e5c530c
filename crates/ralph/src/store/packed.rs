//! Output that is kept packed: gzip, so that `zcat` reads it too.
//!
//! A file is packed beside itself and takes its new name only when all of it is on disk; the old one goes last. So a
//! crash leaves the file as it was, or packed, or both, which say the same.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::files;
use crate::point;

/// A smaller file takes no less room on a disk when it is packed.
pub(super) const WORTH_IT: u64 = 4 << 10;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What was kept under this name, packed or not.
pub fn open_kept(path: &Path) -> io::Result<Box<dyn Read>> {
    match File::open(path) {
        Ok(file) => unpacked(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => unpacked(File::open(packed_name(path))?),
        Err(error) => Err(error),
    }
}

/// The bytes as they were before somebody packed them, if somebody did.
pub fn unpacked(mut source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::with_capacity(MAGIC.len());
    source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start)?;
    let packed = start == MAGIC;
    let whole = io::Cursor::new(start).chain(source);
    Ok(if packed {
        Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, whole)))
    } else {
        Box::new(whole)
    })
}

pub(super) fn pack(path: &Path) -> io::Result<()> {
    let to = packed_name(path);
    let beside = made_name(&to);
    if let Err(error) = write_packed(path, &beside) {
        // A full disk is not made fuller.
        let _ = files::remove(&beside);
        return Err(error);
    }
    files::rename(&beside, &to)?;
    path.parent().map_or(Ok(()), files::sync_dir)?;
    files::remove(path)
}

fn write_packed(path: &Path, beside: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let writer = BufWriter::with_capacity(64 << 10, files::new_private(beside)?);
    let mut encoder = GzEncoder::new(writer, Compression::fast());
    io::copy(&mut io::BufReader::with_capacity(256 << 10, &mut file), &mut encoder)?;
    let packed = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    point::file("sync", beside)?;
    packed.sync_all()
}

/// Behind this head, as git packs the content of an object.
pub(crate) fn deflated(head: Vec<u8>, content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(head, Compression::fast());
    encoder.write_all(content)?;
    encoder.finish()
}

fn packed_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    name.into()
}

fn made_name(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{}.new", path.file_name().unwrap_or_default().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use crate::unix::rights::PermissionsExt;

    use super::*;

    fn read(path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        open_kept(path).and_then(|mut file| file.read_to_end(&mut bytes)).expect("readable");
        bytes
    }

    #[test]
    fn what_is_packed_reads_as_before_and_stays_private() {
        let sandbox = ralph_testkit::Sandbox::new();
        let path = sandbox.project().join("transcript.out");
        let text = b"one line\n\xff\0 of many\n".repeat(10_000);
        files::write_private(&path, &text).expect("written");
        assert_eq!(read(&path), text);
        pack(&path).expect("packed");
        assert!(!path.exists());
        let packed = std::fs::metadata(packed_name(&path)).expect("there");
        assert!(packed.len() < text.len() as u64 / 10, "{}", packed.len());
        assert_eq!(packed.permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path), text);
    }

    #[test]
    fn a_crash_in_the_middle_loses_nothing() {
        let sandbox = ralph_testkit::Sandbox::new();
        let path = sandbox.project().join("transcript.out");
        files::write_private(&path, b"whole").expect("written");
        // Half a packed file under its first name, as after a kill.
        files::write_private(&made_name(&packed_name(&path)), &MAGIC).expect("written");
        assert_eq!(read(&path), b"whole");
        pack(&path).expect("packed");
        // And one that was packed and not yet removed.
        files::write_private(&path, b"whole").expect("written");
        assert_eq!(read(&path), b"whole");
        pack(&path).expect("packed again");
        assert_eq!(read(&path), b"whole");
    }

    #[test]
    fn short_and_broken_files_are_no_surprise() {
        for plain in [&b""[..], b"x", b"\x1f", b"\x1fx"] {
            let mut bytes = Vec::new();
            unpacked(plain).and_then(|mut file| file.read_to_end(&mut bytes)).expect("readable");
            assert_eq!(bytes, plain);
        }
        let mut bytes = Vec::new();
        unpacked(&MAGIC[..]).and_then(|mut file| file.read_to_end(&mut bytes)).expect_err("cut off");
    }
}
