//! What ralph and a keeper say to each other.
//!
//! Ralph gives its order as arguments, because those carry any bytes; folder and environment are simply inherited.
//! Requests to end are single bytes on the shared socket, reports are JSON lines on the same socket.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Mark, SpawnError, Spec, Stdin};

/// First argument of a keeper.
pub(super) const KEEP: &str = "__keep";

/// Requests: end with grace, or at once.
pub(super) const END: u8 = b'e';
pub(super) const END_NOW: u8 = b'k';

/// What a keeper is to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) grace: Duration,
    pub(super) stdin: Option<PathBuf>,
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
            Stdin::Bytes(_) => {
                let reason = "a kept command reads standard input from a file, not from memory".to_owned();
                return Err(spec.start_error(io::ErrorKind::Unsupported, reason));
            }
        };
        Ok(Order {
            grace: spec.grace,
            stdin,
            hold: spec.hold.clone(),
            mark: spec.mark,
            transcripts: spec.transcripts.clone(),
            sign: spec.sign.clone(),
            program: spec.program.clone(),
            args: spec.args.clone(),
        })
    }

    pub(super) fn into_args(self) -> impl Iterator<Item = OsString> {
        let grace = self.grace.as_millis().to_string().into();
        let stdin = self.stdin.unwrap_or_default().into_os_string();
        let hold = self.hold.unwrap_or_default().into_os_string();
        let mark = self.mark.map_or(OsString::new(), |mark| mark.to_word().into());
        let [out, err] = self.transcripts.unwrap_or_default().map(PathBuf::into_os_string);
        let sign = self.sign.unwrap_or_default().into_os_string();
        [grace, stdin, hold, out, err, sign, mark, self.program].into_iter().chain(self.args)
    }

    pub(super) fn from_args(mut args: impl Iterator<Item = OsString>) -> Option<Order> {
        let grace = Duration::from_millis(args.next()?.to_str()?.parse().ok()?);
        let mut file = || Some(PathBuf::from(args.next()?));
        let files = [file()?, file()?, file()?, file()?, file()?];
        let [stdin, hold, out, err, sign] =
            files.map(|file| Some(file).filter(|file| !file.as_os_str().is_empty()));
        let transcripts = out.zip(err).map(|(out, err)| [out, err]);
        let mark = match args.next()?.to_str()? {
            "" => None,
            word => Some(Mark::from_word(word)?),
        };
        let program = args.next()?;
        Some(Order { grace, stdin, hold, mark, transcripts, sign, program, args: args.collect() })
    }
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
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn an_order_survives_the_trip_byte_for_byte() {
        let odd = OsString::from_vec(b"\xff \n\"'".to_vec());
        for stdin in [None, Some(PathBuf::from(&odd))] {
            let order = || Order {
                grace: Duration::from_millis(1500),
                stdin: stdin.clone(),
                hold: stdin.clone(),
                mark: stdin.as_ref().and_then(|_| Mark::of("/".as_ref()).ok()),
                transcripts: stdin.clone().map(|file| [file, PathBuf::from("err")]),
                sign: stdin.clone(),
                program: odd.clone(),
                args: vec!["--".into(), OsString::new(), odd.clone()],
            };
            assert_eq!(Order::from_args(order().into_args()), Some(order()));
        }
    }

    #[test]
    fn half_an_order_is_none() {
        for args in [
            &[][..],
            &["1"],
            &["1", ""],
            &["1", "", "", "", "", "", ""],
            &["one", "", "", "", "", "", "", "sh"],
            &["1", "", "", "", "", "", "1024", "sh"],
        ] {
            assert_eq!(Order::from_args(args.iter().map(OsString::from)), None, "{args:?}");
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
