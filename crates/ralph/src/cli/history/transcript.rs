//! What an agent printed: for people, or byte for byte.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use ralph_core::redact::Secrets;
use ralph_core::transcript::readable::Reader;
use ralph_core::transcript::{Decoder, Format};

use crate::error::{self, Result};
use crate::store::{self, IterationFiles};
use crate::ui::Ui;

/// How much is looked at in one piece, to the next line end: a longer line is cut.
const PIECE: u64 = 1 << 20;

/// Words, tools and shortened results; then what it wrote to standard error. Whether there was anything.
pub(super) fn readable(files: &IterationFiles, format: Format, secrets: &Secrets, ui: &Ui) -> Result<bool> {
    let format = recognised(&files.transcript(), format)?;
    let hide = |text: &str| secrets.hide(text).into_owned();
    let mut reader = Reader::new(format);
    let mut any = false;
    let mut show = |step: ralph_core::transcript::readable::Step| {
        let mut lines = step.lines(&hide).join("\n");
        lines.push('\n');
        ui.kept(lines.as_bytes());
    };
    pieces(&files.transcript(), |piece| {
        any = true;
        reader.feed(piece, &mut show);
    })?;
    reader.finish(&mut show);
    let mut complained = false;
    pieces(&files.stderr(), |piece| {
        if !std::mem::replace(&mut complained, true) {
            ui.talk("standard error:\n");
        }
        ui.kept(&without(secrets, piece));
    })?;
    Ok(any || complained)
}

/// The format of a stream that was to be recognised. Its end counts too: what goes on in plain words was no stream.
fn recognised(path: &Path, format: Format) -> Result<Format> {
    if format != Format::Auto {
        return Ok(format);
    }
    let mut decoder = Decoder::new(format);
    pieces(path, |piece| decoder.feed(piece, |_| {}))?;
    decoder.finish(|_| {});
    Ok(decoder.format())
}

/// Copies a kept file to standard output without secrets; onto a terminal without escape codes too. The file itself stays
/// as it is. Whether there was anything.
pub(super) fn raw(path: &Path, secrets: &Secrets, ui: &Ui) -> Result<bool> {
    let mut any = false;
    pieces(path, |piece| {
        any = true;
        ui.kept(&without(secrets, piece));
    })?;
    Ok(any)
}

/// A kept file in pieces that end with a line; nothing where it is not there.
fn pieces(path: &Path, mut each: impl FnMut(&[u8])) -> Result<()> {
    let mut file = match store::open_kept(path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error::io("cannot read", path)(error)),
    };
    loop {
        let mut piece = Vec::new();
        let read = file
            .by_ref()
            .take(PIECE)
            .read_to_end(&mut piece)
            .and_then(|_| file.by_ref().take(PIECE).read_until(b'\n', &mut piece));
        read.map_err(error::io("cannot read", path))?;
        if piece.is_empty() {
            return Ok(());
        }
        each(&piece);
    }
}

/// Bytes that are no text stay as they are, unless there is a secret in their line.
fn without(secrets: &Secrets, piece: &[u8]) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(piece) {
        return secrets.hide(text).into_owned().into_bytes();
    }
    let line = |line: &[u8]| match secrets.hide(&String::from_utf8_lossy(line)) {
        Cow::Borrowed(_) => line.to_vec(),
        Cow::Owned(hidden) => hidden.into_bytes(),
    };
    piece.split_inclusive(|byte| *byte == b'\n').flat_map(line).collect()
}
