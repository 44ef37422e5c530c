//! Whether git takes files in as they are, byte for byte, and puts them back so: no filter, no other line ends, no encoding. Then ralph can
//! do it without git ([`super::taking`]). Whatever is not sure is left to git.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::memory::Stamp;
use super::{Place, TreeError};
use crate::bounded;
use crate::git::Call;
use crate::process::Begun;
use crate::unix::names::OsStrExt;

const ATTRIBUTES: &str = ".gitattributes";
/// More of such a file is not read.
const MOST: u64 = 1 << 20;
/// Words by which attributes change what is taken in or put back.
const CHANGING: [&[u8]; 5] = [b"filter", b"ident", b"eol", b"crlf", b"encoding"];
/// Where git looks for settings and attributes of all repositories, as it tells itself.
const SETTINGS: [&str; 2] = ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"];
const OUTSIDE: [&str; 2] = ["GIT_ATTR_SYSTEM", "GIT_ATTR_GLOBAL"];

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct Plain {
    settings: Option<Settings>,
    /// Files of attributes, and whether they leave content alone.
    attributes: HashMap<PathBuf, (Stamp, bool)>,
}

#[derive(Debug)]
struct Settings {
    /// They leave content alone.
    plain: bool,
    /// What they were read from.
    files: Vec<(PathBuf, Stamp)>,
    /// Files of attributes outside of the working tree.
    outside: Vec<PathBuf>,
}

/// git is asked.
#[derive(Debug)]
pub(super) struct Asked {
    settings: (Call, Begun),
    places: (Call, Begun),
}

impl Plain {
    /// By the settings as they were when somebody asked.
    pub(super) fn is_likely(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| settings.plain)
    }

    /// Asks, where nobody did yet or settings were touched since. The answer is for the next time.
    pub(super) fn ask(&mut self, place: &Place) -> Option<Asked> {
        let is_same = |(path, stamp): &(PathBuf, Stamp)| Stamp::at(path).is_ok_and(|now| now == *stamp);
        if self.settings.as_ref().is_some_and(|settings| settings.files.iter().all(is_same)) {
            return None;
        }
        self.settings = None;
        let settings = place.call("config").unwatched().args(["--list", "-z", "--show-origin"]);
        let places = place.call("var").unwatched().arg("-l");
        let begin = |call: Call| call.begin().ok().map(|begun| (call, begun));
        Some(Asked { settings: begin(settings)?, places: begin(places)? })
    }

    pub(super) fn answer(&mut self, place: &Place, asked: Asked) {
        self.settings = Settings::read(place, asked).ok().flatten();
    }

    /// Whether these files are taken in as they are.
    pub(super) fn holds(&mut self, place: &Place, files: &[Vec<u8>]) -> Result<bool, TreeError> {
        let Some(settings) = self.settings.as_ref().filter(|settings| settings.plain) else {
            return Ok(false);
        };
        let mut asked = settings.outside.clone();
        let folders = files.iter().flat_map(|path| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            std::iter::once(0).chain(slashes).map(|end| &path[..end])
        });
        let folders: std::collections::BTreeSet<&[u8]> = folders.collect();
        asked.extend(
            folders.into_iter().map(|folder| place.in_work_tree(OsStr::from_bytes(folder)).join(ATTRIBUTES)),
        );
        for path in asked {
            if !self.leaves_alone(&path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn leaves_alone(&mut self, path: &Path) -> Result<bool, TreeError> {
        let stamp = Stamp::at(path)?;
        if stamp == Stamp::default() {
            return Ok(true);
        }
        if let Some((known, plain)) = self.attributes.get(path)
            && *known == stamp
        {
            return Ok(*plain);
        }
        let plain = bounded::read(path, MOST).is_ok_and(|text| is_plain(&text));
        self.attributes.insert(path.to_path_buf(), (stamp, plain));
        Ok(plain)
    }
}

impl Settings {
    /// `None`: git does not tell where it looks.
    fn read(place: &Place, asked: Asked) -> Result<Option<Self>, TreeError> {
        let Asked { settings: (call, begun), places: (places, begun_places) } = asked;
        let (settings, places) = (call.finish(begun, Vec::new())?, places.finish(begun_places, Vec::new())?);
        if !settings.end.success() || !places.end.success() {
            return Ok(None);
        }
        let places = String::from_utf8_lossy(&places.stdout).into_owned();
        let named = |names: &[&str]| -> Vec<PathBuf> {
            let lines = places.lines().filter_map(|line| line.split_once('='));
            lines.filter(|(name, _)| names.contains(name)).map(|(_, path)| place.in_work_tree(path)).collect()
        };
        let (mut paths, mut outside) = (named(&SETTINGS), named(&OUTSIDE));
        if paths.is_empty() || outside.is_empty() {
            return Ok(None);
        }
        outside.push(place.exclude.with_file_name("attributes"));
        let mut plain = true;
        let mut parts = settings.stdout.split(|byte| *byte == 0);
        while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
            if let Some(path) = origin.strip_prefix(b"file:") {
                paths.push(place.in_work_tree(OsStr::from_bytes(path)));
            }
            plain &= leaves_alone(&String::from_utf8_lossy(setting));
        }
        paths.sort();
        paths.dedup();
        let files = paths.into_iter().map(|path| Ok((Stamp::at(&path)?, path)));
        let files: Vec<(PathBuf, Stamp)> =
            files.map(|file| file.map(|(stamp, path)| (path, stamp))).collect::<Result<_, TreeError>>()?;
        Ok(Some(Self { plain, files, outside }))
    }
}

/// A setting, as `key` or `key\nvalue`.
fn leaves_alone(setting: &str) -> bool {
    let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
    let is = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    const NO: [&str; 5] = ["false", "no", "off", "0", ""];
    match key {
        "core.autocrlf" => is(&NO) || is(&["input"]),
        "core.eol" => is(&["lf", "native"]),
        "core.filemode" => !is(&NO),
        "core.ignorecase" | "core.precomposeunicode" => is(&NO),
        "attr.tree" => false,
        _ => true,
    }
}

/// Whether attributes name nothing that changes content. A file with other words in it may be plain too.
fn is_plain(attributes: &[u8]) -> bool {
    let lower = attributes.to_ascii_lowercase();
    !CHANGING.iter().any(|word| lower.windows(word.len()).any(|part| part == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_say_how_to_show_or_merge_leave_content_alone() {
        for plain in ["", "* text=auto\n*.png binary\n", "*.lock -diff linguist-generated merge=ours\n"] {
            assert!(is_plain(plain.as_bytes()), "{plain}");
        }
        for other in [
            "*.psd filter=lfs diff=lfs\n",
            "*.c ident\n",
            "*.bat text eol=crlf\n",
            "*.bat -crlf\n",
            "*.txt working-tree-encoding=UTF-16\n",
            "[attr]mine FILTER=x\n",
        ] {
            assert!(!is_plain(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn settings_are_plain_unless_they_change_content_or_how_files_are_told_apart() {
        for plain in [
            "user.name\nme",
            "core.autocrlf\nfalse",
            "core.autocrlf\ninput",
            "core.eol\nlf",
            "core.filemode\ntrue",
        ] {
            assert!(leaves_alone(plain), "{plain}");
        }
        for other in [
            "core.autocrlf\ntrue",
            "core.autocrlf",
            "core.eol\ncrlf",
            "core.filemode\nfalse",
            "core.ignorecase",
        ] {
            assert!(!leaves_alone(other), "{other}");
        }
    }
}
