//! Whether git takes files in as they are, byte for byte, and puts them back so: no filter, no other line ends, no encoding. Then ralph can
//! do it without git ([`super::taking`]). Whatever is not sure is left to git.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
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
        if self.settings.as_ref().is_some_and(Settings::are_as_read) {
            return None;
        }
        self.settings = None;
        let settings = place.call("config").unwatched().args(["--list", "-z", "--show-origin"]);
        let places = place.call("var").unwatched().arg("-l");
        let begin = |call: Call| call.begin().ok().map(|begun| (call, begun));
        Some(Asked { settings: begin(settings)?, places: begin(places)? })
    }

    pub(super) fn answer(&mut self, place: &Place, asked: Asked) {
        self.settings = Settings::read(place, asked).ok();
    }

    /// Whether these files are taken in as they are.
    pub(super) fn holds(&mut self, place: &Place, files: &[Vec<u8>]) -> bool {
        let settings = self.settings.as_ref().filter(|settings| settings.plain && settings.are_as_read());
        let Some(settings) = settings else { return false };
        let mut asked = settings.outside.clone();
        let folders = files.iter().flat_map(|path| {
            let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            std::iter::once(0).chain(slashes).map(|end| &path[..end])
        });
        let folders: std::collections::BTreeSet<&[u8]> = folders.collect();
        asked.extend(
            folders.into_iter().map(|folder| place.in_work_tree(OsStr::from_bytes(folder)).join(ATTRIBUTES)),
        );
        asked.iter().all(|path| self.leaves_alone(path))
    }

    fn leaves_alone(&mut self, path: &Path) -> bool {
        let stamp = match std::fs::metadata(path) {
            Ok(data) => Stamp::of(&data),
            // A folder that was may be a file by now.
            Err(error) => return matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if let Some((known, plain)) = self.attributes.get(path)
            && *known == stamp
        {
            return *plain;
        }
        let plain = bounded::read(path, MOST).is_ok_and(|text| is_plain(&text));
        self.attributes.insert(path.to_path_buf(), (stamp, plain));
        plain
    }
}

impl Settings {
    /// Nobody touched what they were read from.
    fn are_as_read(&self) -> bool {
        self.files.iter().all(|(path, stamp)| Stamp::at(path).is_ok_and(|now| now == *stamp))
    }

    fn read(place: &Place, asked: Asked) -> Result<Self, TreeError> {
        let Asked { settings: (call, begun), places: (places, begun_places) } = asked;
        let settings = call.finish(begun, Vec::new())?;
        let places = places.finish(begun_places, Vec::new())?;
        let told = String::from_utf8_lossy(&places.stdout).into_owned();
        let named = |names: &[&str]| -> Vec<PathBuf> {
            let lines = told.lines().filter_map(|line| line.split_once('='));
            lines.filter(|(name, _)| names.contains(name)).map(|(_, path)| place.in_work_tree(path)).collect()
        };
        let (mut paths, mut outside) = (named(&SETTINGS), named(&OUTSIDE));
        // A git that does not tell where it looks is asked to do everything itself.
        let tells = settings.end.success() && !paths.is_empty() && !outside.is_empty();
        outside.push(place.exclude.with_file_name("attributes"));
        paths.push(place.git_dir().join("config.worktree"));
        let mut plain = tells;
        let mut parts = settings.stdout.split(|byte| *byte == 0);
        while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
            let setting = String::from_utf8_lossy(setting);
            let origin =
                origin.strip_prefix(b"file:").map(|path| place.in_work_tree(OsStr::from_bytes(path)));
            paths.extend(origin.as_deref().and_then(|origin| included(origin, &setting)));
            paths.extend(origin);
            plain &= leaves_alone(&setting);
        }
        paths.sort();
        paths.dedup();
        let stamped = paths.into_iter().map(|path| Stamp::at(&path).map(|stamp| (path, stamp)));
        Ok(Self { plain, files: stamped.collect::<Result<_, _>>()?, outside })
    }
}

/// What a setting includes, also where it is not there yet.
fn included(origin: &Path, setting: &str) -> Option<PathBuf> {
    let (key, value) = setting.split_once('\n')?;
    let includes = key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path");
    let below_home = |rest: &str| Some(PathBuf::from(std::env::var_os("HOME")?).join(rest));
    match value.strip_prefix("~/") {
        _ if !includes => None,
        Some(rest) => below_home(rest),
        None => Some(origin.parent()?.join(value)),
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
        "core.filemode" | "core.symlinks" => !is(&NO),
        "core.ignorecase" | "core.precomposeunicode" => is(&NO),
        "attr.tree" => false,
        // What holds on one branch alone changes with no file of settings.
        _ => !key.starts_with("includeif.onbranch:"),
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
