//! What ralph and a keeper say to each other.
//!
//! All on one socket that they share: ralph's order first, as words of any bytes with their lengths, for a keeper may be
//! started before it is known what for; then requests to end, single bytes. Reports are JSON lines.

use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Mark, SpawnError, Spec, Stdin};

/// First argument of a keeper.
pub(super) const KEEP: &str = "__keep";

/// So much fits into a pipe that nobody reads yet, on every system.
const MOST_FED: usize = 16 << 10;

/// Requests: end with grace, or at once.
pub(super) const END: u8 = b'e';
pub(super) const END_NOW: u8 = b'k';

/// What a keeper is to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) cwd: PathBuf,
    /// In order; `None` removes the variable.
    pub(super) env: Vec<(OsString, Option<OsString>)>,
    pub(super) grace: Duration,
    pub(super) stdin: Option<PathBuf>,
    /// What it reads, where that is no file; no more than a pipe holds.
    pub(super) fed: Vec<u8>,
    pub(super) hold: Option<PathBuf>,
    pub(super) mark: Option<Mark>,
    pub(super) transcripts: Option<[PathBuf; 2]>,
    pub(super) sign: Option<PathBuf>,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
}

impl Order {
    pub(super) fn of(spec: &Spec) -> Result<Order, SpawnError> {
        let stdin = match &spec.stdin {
            Stdin::Null => None,
            // The keeper works in another folder.
            Stdin::File(file) => {
                Some(std::path::absolute(file).map_err(|error| SpawnError::stdin(file, error.to_string()))?)
            }
            Stdin::Bytes(bytes) if bytes.len() > MOST_FED => {
                let reason = format!("a kept command reads more than {MOST_FED} bytes from a file only");
                return Err(spec.start_error(io::ErrorKind::Unsupported, reason));
            }
            Stdin::Bytes(_) => None,
        };
        let fed = if let Stdin::Bytes(bytes) = &spec.stdin { bytes.clone() } else { Vec::new() };
        Ok(Order {
            cwd: spec.cwd.clone(),
            env: spec.env.clone(),
            grace: spec.grace,
            stdin,
            fed,
            hold: spec.hold.clone(),
            mark: spec.mark,
            transcripts: spec.transcripts.clone(),
            sign: spec.sign.clone(),
            program: spec.program.clone(),
            args: spec.args.clone(),
        })
    }

    pub(super) fn write_to(self, mut line: impl Write) -> io::Result<()> {
        let words: Vec<OsString> = self.into_words().collect();
        let mut bytes = Vec::new();
        put_length(&mut bytes, words.len())?;
        for word in words {
            put_length(&mut bytes, word.len())?;
            bytes.extend_from_slice(word.as_bytes());
        }
        line.write_all(&bytes)
    }

    /// Not a byte more than the order is read. `None` when ralph is gone, or talks nonsense.
    pub(super) fn read_from(mut line: impl Read) -> Option<Order> {
        let count = length(&mut line)?;
        let mut words = Vec::new();
        for _ in 0..count {
            let length = length(&mut line)?;
            let mut word = Vec::new();
            let read = (&mut line).take(length.into()).read_to_end(&mut word).ok()?;
            if read as u64 != u64::from(length) {
                return None;
            }
            words.push(OsString::from_vec(word));
        }
        Order::from_words(words.into_iter())
    }

    fn into_words(self) -> impl Iterator<Item = OsString> {
        let grace = self.grace.as_millis().to_string().into();
        let stdin = self.stdin.unwrap_or_default().into_os_string();
        let hold = self.hold.unwrap_or_default().into_os_string();
        let mark = self.mark.map_or(OsString::new(), |mark| mark.to_word().into());
        let [out, err] = self.transcripts.unwrap_or_default().map(PathBuf::into_os_string);
        let sign = self.sign.unwrap_or_default().into_os_string();
        let variables = self.env.len().to_string().into();
        let env = self.env.into_iter().flat_map(|(name, value)| {
            let kept: OsString = if value.is_some() { "=" } else { "" }.into();
            [name, kept, value.unwrap_or_default()]
        });
        let fed = OsString::from_vec(self.fed);
        let first = [grace, stdin, hold, out, err, sign, mark, fed, self.cwd.into_os_string(), variables];
        first.into_iter().chain(env).chain([self.program]).chain(self.args)
    }

    fn from_words(mut words: impl Iterator<Item = OsString>) -> Option<Order> {
        let grace = Duration::from_millis(words.next()?.to_str()?.parse().ok()?);
        let mut file = || Some(PathBuf::from(words.next()?));
        let files = [file()?, file()?, file()?, file()?, file()?];
        let [stdin, hold, out, err, sign] =
            files.map(|file| Some(file).filter(|file| !file.as_os_str().is_empty()));
        let transcripts = out.zip(err).map(|(out, err)| [out, err]);
        let mark = match words.next()?.to_str()? {
            "" => None,
            word => Some(Mark::from_word(word)?),
        };
        let fed = words.next()?.into_vec();
        let cwd = words.next()?.into();
        let variables: usize = words.next()?.to_str()?.parse().ok()?;
        let mut variable = || {
            let (name, kept, value) = (words.next()?, words.next()?, words.next()?);
            Some((name, (!kept.is_empty()).then_some(value)))
        };
        let env = (0..variables).map(|_| variable()).collect::<Option<_>>()?;
        let program = words.next()?;
        Some(Order {
            cwd,
            env,
            grace,
            stdin,
            fed,
            hold,
            mark,
            transcripts,
            sign,
            program,
            args: words.collect(),
        })
    }
}

fn put_length(bytes: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let length = u32::try_from(length).map_err(io::Error::other)?;
    bytes.extend_from_slice(&length.to_le_bytes());
    Ok(())
}

fn length(line: &mut impl Read) -> Option<u32> {
    let mut length = [0; 4];
    line.read_exact(&mut length).ok()?;
    Some(u32::from_le_bytes(length))
}

/// What a keeper tells: `started` or `failed` first, `ended` last.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    Started { pid: u32 },
    Failed { error: String, kind: Failure },
    Ended(Ended),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failure {
    NotFound,
    Permission,
    /// It may not work where it is to.
    Folder,
    Stdin,
    Other,
}

/// The command and everything it left are gone, except `survivors`.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) leftovers: u32,
    pub(super) survivors: Vec<u32>,
    pub(super) asked: bool,
    /// Why not all that it printed is in the transcripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unkept: Option<String>,
}

impl Report {
    pub(super) fn write_to(&self, mut line: impl Write) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        line.write_all(&text)
    }

    /// The next report; `None` when the other side is gone or talks nonsense.
    pub(super) fn read_from(line: &mut impl BufRead) -> Option<Report> {
        let mut text = String::new();
        line.read_line(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(odd: &OsString, file: Option<PathBuf>) -> Order {
        Order {
            cwd: PathBuf::from(odd),
            env: vec![
                ("A".into(), Some(OsString::new())),
                (odd.clone(), None),
                ("B".into(), Some(odd.clone())),
            ],
            grace: Duration::from_millis(1500),
            stdin: file.clone(),
            fed: file.as_ref().map_or(vec![], |_| odd.clone().into_vec()),
            hold: file.clone(),
            mark: file.as_ref().and_then(|_| Mark::of("/".as_ref()).ok()),
            transcripts: file.clone().map(|file| [file, PathBuf::from("err")]),
            sign: file,
            program: odd.clone(),
            args: vec!["--".into(), OsString::new(), odd.clone()],
        }
    }

    #[test]
    fn an_order_survives_the_trip_byte_for_byte() {
        let odd = OsString::from_vec(b"\xff \n\"'".to_vec());
        for file in [None, Some(PathBuf::from(&odd))] {
            let mut bytes = Vec::new();
            order(&odd, file.clone()).write_to(&mut bytes).expect("a vector");
            let whole = bytes.len();
            bytes.extend_from_slice(&[END]);
            let mut line = bytes.as_slice();
            assert_eq!(Order::read_from(&mut line), Some(order(&odd, file)));
            assert_eq!(line, [END], "what comes after is not the order's");
            for end in 0..whole {
                assert_eq!(
                    Order::read_from(&bytes[..end]).map(|order| order.args.len()),
                    None,
                    "cut at {end}"
                );
            }
        }
    }

    #[test]
    fn half_an_order_is_none() {
        for words in [
            &[][..],
            &["1"],
            &["1", ""],
            &["1", "", "", "", "", "", "", "", "/", "0"],
            &["1", "", "", "", "", "", "", "", "/", "1", "A", "="],
            &["one", "", "", "", "", "", "", "", "/", "0", "sh"],
            &["1", "", "", "", "", "", "1024", "", "/", "0", "sh"],
        ] {
            assert_eq!(Order::from_words(words.iter().map(OsString::from)), None, "{words:?}");
        }
    }

    #[test]
    fn reports_are_one_json_line_each() {
        let mut text = Vec::new();
        let ended = Ended { code: Some(1), leftovers: 2, survivors: vec![7], ..Ended::default() };
        for report in [
            Report::Started { pid: 7 },
            Report::Failed { error: "a\nb".into(), kind: Failure::NotFound },
            Report::Ended(ended),
        ] {
            report.write_to(&mut text).expect("a vector");
        }
        assert_eq!(
            String::from_utf8_lossy(&text),
            concat!(
                "{\"started\":{\"pid\":7}}\n",
                "{\"failed\":{\"error\":\"a\\nb\",\"kind\":\"not_found\"}}\n",
                "{\"ended\":{\"code\":1,\"signal\":null,\"leftovers\":2,\"survivors\":[7],\"asked\":false}}\n",
            )
        );
        let mut lines = text.as_slice();
        assert_eq!(Report::read_from(&mut lines), Some(Report::Started { pid: 7 }));
        assert!(matches!(Report::read_from(&mut lines), Some(Report::Failed { .. })));
        assert!(matches!(Report::read_from(&mut lines), Some(Report::Ended(_))));
        assert_eq!(Report::read_from(&mut lines), None);
    }
}
