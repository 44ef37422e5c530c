//! Reading what git prints for machines (`-z`), and putting its complaints into plain words.
//!
//! git is asked by the shell; here its answers become values. Answers decide what counts as changed, so a part
//! that cannot be read is an error, never left out in silence.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// git's answer is not in the form it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("git answered in an unknown form, at byte {at}")]
pub struct UnknownForm {
    pub at: usize,
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From the top of the tree, as git has it: any bytes but NUL.
    pub path: Vec<u8>,
    pub kind: ChangeKind,
    /// What was there before; `None` if it was added, or where git was only asked which files differ.
    pub old: Option<Object>,
    /// What is there now; `None` if it was deleted, or where git was only asked which files differ.
    pub new: Option<Object>,
}

impl Change {
    /// The path for people.
    pub fn name(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.path)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    /// The content differs.
    Modified,
    /// Only the permission to execute differs.
    Mode,
    /// A file became a link, a link a nested repository, and so on.
    Type,
}

impl ChangeKind {
    /// As git says it: `A`, `D`, `M` or `T`.
    pub fn letter(self) -> char {
        match self {
            ChangeKind::Added => 'A',
            ChangeKind::Deleted => 'D',
            ChangeKind::Modified | ChangeKind::Mode => 'M',
            ChangeKind::Type => 'T',
        }
    }
}

/// What a tree holds at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// `0o100644`, `0o100755`, `0o120000` (link) or `0o160000` (nested repository).
    pub mode: u32,
    pub id: String,
}

/// Reads `git diff-tree -r -z --no-renames`.
pub fn parse_diff(text: &[u8]) -> Result<Vec<Change>, UnknownForm> {
    let mut fields = Fields::new(text);
    let mut changes = Vec::new();
    while let Some((at, head)) = fields.next()? {
        let unknown = UnknownForm { at };
        let Some((_, path)) = fields.next()? else { return Err(unknown) };
        changes.push(change(head, path).ok_or(unknown)?);
    }
    Ok(changes)
}

fn change(head: &[u8], path: &[u8]) -> Option<Change> {
    let head = core::str::from_utf8(head.strip_prefix(b":")?).ok()?;
    let mut words = head.split(' ');
    let mut word = || words.next();
    let (old_mode, new_mode, old_id, new_id, letter) = (word()?, word()?, word()?, word()?, word()?);
    let old = object(old_mode, old_id)?;
    let new = object(new_mode, new_id)?;
    let kind = match letter.as_bytes() {
        b"A" => ChangeKind::Added,
        b"D" => ChangeKind::Deleted,
        b"M" if old_id == new_id => ChangeKind::Mode,
        b"M" => ChangeKind::Modified,
        b"T" => ChangeKind::Type,
        _ => return None,
    };
    let absent = |object: &Object| object.mode == 0;
    Some(Change {
        path: path.to_vec(),
        kind,
        old: Some(old).filter(|o| !absent(o)),
        new: Some(new).filter(|o| !absent(o)),
    })
}

fn object(mode: &str, id: &str) -> Option<Object> {
    let mode = u32::from_str_radix(mode, 8).ok()?;
    is_object_id(id).then(|| Object { mode, id: id.to_string() })
}

/// Lines that a file gained and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCount {
    pub added: u64,
    pub removed: u64,
}

/// Reads `git diff-tree -r -z --numstat --no-renames`: paths with their lines. What is not text is left out.
pub fn parse_numstat(text: &[u8]) -> Result<Vec<(&[u8], LineCount)>, UnknownForm> {
    let mut fields = Fields::new(text);
    let mut counts = Vec::new();
    while let Some((at, field)) = fields.next()? {
        let unknown = || UnknownForm { at };
        let mut parts = field.splitn(3, |byte| *byte == b'\t');
        let mut part = || parts.next().ok_or_else(unknown);
        let (added, removed, path) = (part()?, part()?, part()?);
        if (added, removed) == (b"-", b"-") {
            continue;
        }
        let number = |digits: &[u8]| core::str::from_utf8(digits).ok()?.parse().ok();
        let (added, removed) = number(added).zip(number(removed)).ok_or_else(unknown)?;
        counts.push((path, LineCount { added, removed }));
    }
    Ok(counts)
}

/// A full object name: 40 hex digits, or 64 in repositories with SHA-256.
pub fn is_object_id(id: &str) -> bool {
    matches!(id.len(), 40 | 64) && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Where HEAD is, and which files differ from the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// `None`: no commits yet.
    pub head: Option<String>,
    /// `None`: HEAD is detached.
    pub branch: Option<String>,
    pub dirty: Vec<Dirty>,
    /// Nested repositories of the index in which something is not committed.
    pub unsettled: Vec<Vec<u8>>,
}

/// A path whose content is not what the index has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirty {
    /// Ends with a slash if it is a nested repository that the index does not have.
    pub path: Vec<u8>,
    /// The last commit has this path.
    pub in_head: bool,
    /// The index has it and the work tree has not.
    pub gone: bool,
    /// What became of it since the index.
    pub kind: ChangeKind,
}

/// Reads `git status --porcelain=v2 -z --branch --no-renames`. What differs between index and HEAD only is left
/// out.
pub fn parse_status(text: &[u8]) -> Result<Status, UnknownForm> {
    let mut status = Status::default();
    let mut fields = Fields::new(text);
    while let Some((at, field)) = fields.next()? {
        status_field(&mut status, field).ok_or(UnknownForm { at })?;
    }
    Ok(status)
}

fn status_field(status: &mut Status, field: &[u8]) -> Option<()> {
    let known = |text: &[u8], unknown: &str| {
        let text = String::from_utf8_lossy(text).into_owned();
        Some(text).filter(|text| text != unknown)
    };
    match field {
        [b'#', b' ', header @ ..] => {
            if let Some(id) = header.strip_prefix(b"branch.oid ") {
                status.head = known(id, "(initial)");
            } else if let Some(name) = header.strip_prefix(b"branch.head ") {
                status.branch = known(name, "(detached)");
            }
        }
        [b'?', b' ', path @ ..] if !path.is_empty() => {
            status.dirty.push(Dirty {
                path: path.to_vec(),
                in_head: false,
                gone: false,
                kind: ChangeKind::Added,
            });
        }
        [b'1', b' ', rest @ ..] => {
            let mut words = rest.splitn(8, |b| *b == b' ');
            let [_, in_work_tree] = words.next()? else { return None };
            let nested = words.next()?;
            let mode_in_head = words.next()?;
            let path = words.nth(4).filter(|path| !path.is_empty())?;
            let moved = match nested {
                [b'S', commit, changed, untracked] => {
                    if (*changed, *untracked) != (b'.', b'.') {
                        status.unsettled.push(path.to_vec());
                    }
                    *commit != b'.' || *in_work_tree != b'M'
                }
                _ => true,
            };
            if *in_work_tree != b'.' && moved {
                let kind = match in_work_tree {
                    b'D' => ChangeKind::Deleted,
                    b'A' => ChangeKind::Added,
                    b'T' => ChangeKind::Type,
                    _ => ChangeKind::Modified,
                };
                let (in_head, gone) = (mode_in_head != b"000000", kind == ChangeKind::Deleted);
                status.dirty.push(Dirty { path: path.to_vec(), in_head, gone, kind });
            }
        }
        // A conflict: what the work tree has is the only content there is.
        [b'u', b' ', rest @ ..] => {
            let mut words = rest.splitn(10, |b| *b == b' ');
            let gone = words.nth(5)? == b"000000";
            let path = words.nth(3).filter(|path| !path.is_empty())?;
            let kind = if gone { ChangeKind::Deleted } else { ChangeKind::Modified };
            status.dirty.push(Dirty { path: path.to_vec(), in_head: true, gone, kind });
        }
        _ => return None,
    }
    Some(())
}

/// An entry of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed<'a> {
    pub path: &'a [u8],
    /// Mode, object, stage, tab and path, as `git update-index --index-info` takes them.
    pub entry: &'a [u8],
    /// git was told to take the file as unchanged without looking.
    pub assumed: bool,
    /// git was told that the file need not be in the work tree.
    pub skipped: bool,
}

/// Reads `git ls-files -v -s -z`.
pub fn parse_listing(text: &[u8]) -> Result<Vec<Listed<'_>>, UnknownForm> {
    let mut fields = Fields::new(text);
    let mut entries = Vec::new();
    while let Some((at, field)) = fields.next()? {
        let unknown = UnknownForm { at };
        let [letter, b' ', entry @ ..] = field else { return Err(unknown) };
        let tab = memchr::memchr(b'\t', entry).ok_or(unknown)?;
        let (assumed, skipped) = (letter.is_ascii_lowercase(), letter.eq_ignore_ascii_case(&b'S'));
        entries.push(Listed { path: &entry[tab + 1..], entry, assumed, skipped });
    }
    Ok(entries)
}

/// Reads a `-z` list of paths.
pub fn parse_paths(text: &[u8]) -> Result<Vec<&[u8]>, UnknownForm> {
    let mut fields = Fields::new(text);
    let mut paths = Vec::new();
    while let Some((_, path)) = fields.next()? {
        paths.push(path);
    }
    Ok(paths)
}

/// The paths in an answer of `git check-attr -z` that have this value.
pub fn with_attribute(text: &[u8], value: &str) -> Result<Vec<Vec<u8>>, UnknownForm> {
    let fields = parse_paths(text)?;
    let has = |answer: &&[&[u8]]| answer.get(2) == Some(&value.as_bytes());
    Ok(fields.chunks(3).filter(has).map(|answer| answer[0].to_vec()).collect())
}

/// NUL-terminated fields. A last one without its NUL means that the answer was cut off.
struct Fields<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    fn new(text: &'a [u8]) -> Fields<'a> {
        Fields { text, at: 0 }
    }

    fn next(&mut self) -> Result<Option<(usize, &'a [u8])>, UnknownForm> {
        let at = self.at;
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let end = memchr::memchr(0, rest).ok_or(UnknownForm { at })?;
        self.at = at + end + 1;
        Ok(Some((at, &rest[..end])))
    }
}

/// The first two numbers of what `git version` says.
pub fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// The line that says why git failed.
pub fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or("no reason given");
    let reason = lines.find_map(|line| line.strip_prefix("fatal: ").or(line.strip_prefix("error: ")));
    reason.unwrap_or(first).to_string()
}

/// A file changed or went away while git was reading it: asking again will help.
pub fn files_moved(stderr: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stderr);
    ["short read while indexing", "No such file or directory"].iter().any(|words| text.contains(words))
}

/// Files of which git warns that their line ends will not be the same when it checks them out (`core.safecrlf=warn`).
pub fn other_line_ends(stderr: &[u8]) -> Vec<String> {
    messages(&String::from_utf8_lossy(stderr)).iter().filter_map(|message| line_ends(message)).collect()
}

fn line_ends(message: &str) -> Option<String> {
    const WORDS: [&str; 2] = ["LF will be replaced by CRLF", "CRLF will be replaced by LF"];
    WORDS.iter().find_map(|words| {
        // Before git 2.37 the name came last, with another line after it.
        let old = || message.strip_prefix(words)?.strip_prefix(" in ")?.split(".\\nThe file").next();
        let behind = |text: &str| text.strip_prefix(words).is_some();
        let named = message.strip_prefix("in the working copy of '").and_then(|rest| rest.rsplit_once("', "));
        let named = named.filter(|(_, rest)| behind(rest)).map(|(name, _)| name);
        named.or_else(old).map(|name| name.trim_end_matches('.').to_string())
    })
}

/// What git could not read, one line each, in plain words. Hints and advice are left out.
pub fn complaints(stderr: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let messages = messages(&String::from_utf8_lossy(stderr));
    for message in messages.into_iter().filter(|message| line_ends(message).is_none()) {
        if let Some(line) = complaint(&message, &found)
            && !found.contains(&line)
        {
            found.push(line);
        }
    }
    found
}

/// Errors and warnings without their prefix. A file name may hold line breaks, so a line without a prefix goes on
/// with the message before it.
fn messages(text: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let start = ["error: ", "warning: ", "fatal: "].iter().find_map(|prefix| line.strip_prefix(prefix));
        if let Some(start) = start {
            messages.push(start.to_string());
            open = true;
        } else if line.starts_with("hint: ") || line.is_empty() {
            open = false;
        } else if open && let Some(last) = messages.last_mut() {
            last.push_str("\\n");
            last.push_str(line);
        }
    }
    messages
}

fn complaint(message: &str, before: &[String]) -> Option<String> {
    let between = |start: &str, end: &str| -> Option<(String, String)> {
        let (name, rest) = message.strip_prefix(start)?.rsplit_once(end)?;
        Some((name.to_string(), rest.trim_start_matches([':', ' ']).to_string()))
    };
    if let Some((name, why)) = between("open(\"", "\")") {
        return Some(format!("{name}: cannot be read ({why})"));
    }
    if let Some((name, why)) = between("could not open directory '", "'") {
        return Some(format!("{name}: folder cannot be read ({why})"));
    }
    if let Some((name, _)) = between("'", "' does not have a commit checked out") {
        return Some(format!("{name}: a repository without commits, left out"));
    }
    if let Some((name, _)) = between("unable to index file '", "'") {
        let named = before.iter().any(|line| line.contains(name.as_str()));
        return (!named).then(|| format!("{name}: could not be stored"));
    }
    (message != "adding files failed").then(|| message.to_string())
}

/// The filter of the user's that failed where git insists on it, so that git reads no further.
pub fn failed_filter(stderr: &[u8]) -> Option<&str> {
    let (_, told) = stderr.split_at(memchr::memmem::rfind(stderr, b"fatal: ")?);
    let start = memchr::memmem::rfind(told, b": clean filter '")? + b": clean filter '".len();
    let end = memchr::memmem::rfind(told, b"' failed")?;
    core::str::from_utf8(told.get(start..end)?).ok()
}

/// The contents in an answer of `cat-file --batch`, one for each question; `None` for what is not there.
pub fn parse_batch(answer: &[u8]) -> Vec<Option<&[u8]>> {
    let mut contents = Vec::new();
    let mut rest = answer;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (head, after) = (&rest[..end], &rest[end + 1..]);
        let size = head.rsplit(|byte| *byte == b' ').next();
        let size = size.and_then(|size| core::str::from_utf8(size).ok()?.parse::<usize>().ok());
        let content = size.and_then(|size| after.get(..size));
        rest = content.map_or(after, |content| after.get(content.len() + 1..).unwrap_or_default());
        contents.push(content);
    }
    contents
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";
    const NONE: &str = "0000000000000000000000000000000000000000";

    fn record(modes: &str, old: &str, new: &str, letter: &str, path: &[u8]) -> Vec<u8> {
        let mut text = format!(":{modes} {old} {new} {letter}\0").into_bytes();
        text.extend_from_slice(path);
        text.push(0);
        text
    }

    #[test]
    fn the_version_is_read_however_it_goes_on() {
        assert_eq!(version("git version 2.47.3\n"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 2.34.1.windows.1"), Some((2, 34)));
        assert_eq!(version("git version next"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn every_kind_of_change_is_read_with_its_name() {
        let mut text = record("000000 100644", NONE, B, "A", b"new");
        text.extend(record("100644 000000", A, NONE, "D", b"gone"));
        text.extend(record("100644 100644", A, B, "M", b"sp ace\nand line"));
        text.extend(record("100644 100755", A, A, "M", b"tool"));
        text.extend(record("100644 120000", A, B, "T", b"\xff\xfe"));
        let changes = parse_diff(&text).unwrap();
        let seen: Vec<_> = changes.iter().map(|c| (c.kind, c.path.as_slice())).collect();
        assert_eq!(
            seen,
            [
                (ChangeKind::Added, b"new".as_slice()),
                (ChangeKind::Deleted, b"gone"),
                (ChangeKind::Modified, b"sp ace\nand line"),
                (ChangeKind::Mode, b"tool"),
                (ChangeKind::Type, b"\xff\xfe"),
            ]
        );
        assert_eq!(changes[0].old, None);
        assert_eq!(changes[0].new, Some(Object { mode: 0o100_644, id: B.into() }));
        assert_eq!(changes[1].new, None);
        assert_eq!(changes[4].name(), "\u{fffd}\u{fffd}");
        assert_eq!(parse_diff(b""), Ok(vec![]));
    }

    #[test]
    fn a_cut_off_or_strange_diff_is_refused_with_its_place() {
        let good = record("100644 100644", A, B, "M", b"x");
        for end in 1..good.len() {
            assert!(parse_diff(&good[..end]).is_err(), "cut at {end}");
        }
        let mut second = good.clone();
        second.extend(b"nonsense\0x\0");
        assert_eq!(parse_diff(&second), Err(UnknownForm { at: good.len() }));
        assert!(parse_diff(&record("100644 100644", A, B, "R100", b"x")).is_err());
        assert!(parse_diff(&record("100644 100644", "abc", B, "M", b"x")).is_err());
    }

    #[test]
    fn status_tells_head_branch_and_what_the_work_tree_changed() {
        let text = format!(
            "# branch.oid {A}\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +1 -0\0\
             1 M. N... 100644 100644 100644 {A} {B} staged only\0\
             1 .M N... 100644 100644 100644 {A} {A} edited file\0\
             1 AM N... 000000 100644 100644 {NONE} {B} new\0\
             1 .D N... 100644 100644 000000 {A} {A} gone\0\
             u UU N... 100644 100644 100644 100644 {A} {A} {B} both sides\0\
             u DU N... 100644 000000 100644 000000 {A} {NONE} {B} deleted here\0\
             ? nested/\0"
        );
        let status = parse_status(text.as_bytes()).unwrap();
        assert_eq!(status.head.as_deref(), Some(A));
        assert_eq!(status.branch.as_deref(), Some("main"));
        let dirty: Vec<_> = status.dirty.iter().map(|d| (d.path.as_slice(), d.in_head, d.gone)).collect();
        assert_eq!(
            dirty,
            [
                (b"edited file".as_slice(), true, false),
                (b"new", false, false),
                (b"gone", true, true),
                (b"both sides", true, false),
                (b"deleted here", true, true),
                (b"nested/", false, false),
            ]
        );
    }

    #[test]
    fn a_nested_repository_is_dirty_by_its_commit_and_unsettled_by_what_is_in_it() {
        let line = |xy: &str, nested: &str, path: &str| {
            format!("1 {xy} {nested} 160000 160000 160000 {A} {A} {path}\0")
        };
        let text = [
            line(".M", "SC..", "moved"),
            line(".M", "S.M.", "edited"),
            line(".M", "SCMU", "both"),
            line(".M", "S..U", "littered"),
            line(".D", "S...", "gone"),
            line("M.", "S...", "staged"),
        ];
        let status = parse_status(text.concat().as_bytes()).unwrap();
        let dirty: Vec<_> = status.dirty.iter().map(|dirty| dirty.path.as_slice()).collect();
        assert_eq!(dirty, [b"moved".as_slice(), b"both", b"gone"]);
        assert_eq!(status.unsettled, [b"edited".as_slice(), b"both", b"littered"]);
    }

    #[test]
    fn status_knows_no_commits_and_detached() {
        let status = parse_status(b"# branch.oid (initial)\0# branch.head (detached)\0").unwrap();
        assert_eq!(status, Status::default());
    }

    #[test]
    fn strange_status_lines_are_refused() {
        for text in ["x y\0", "1 .M N...\0", "? \0", "u UU\0", "? cut", "1 M N... 1 1 1 a b c\0", "\0"] {
            assert!(parse_status(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_listing_shows_what_git_was_told_to_overlook() {
        let text = b"H 1 x 0\ta\0h 1 x 0\tb\tc\0S 1 x 0\td\0s 1 x 0\te\0";
        let listed = parse_listing(text).unwrap();
        let seen: Vec<_> = listed.iter().map(|l| (l.path, l.assumed, l.skipped)).collect();
        let all = [
            (b"a".as_slice(), false, false),
            (b"b\tc", true, false),
            (b"d", false, true),
            (b"e", true, true),
        ];
        assert_eq!(seen, all);
        assert_eq!(listed[1].entry, b"1 x 0\tb\tc");
        assert!(parse_listing(b"H a\0").is_err());
        assert_eq!(parse_paths(b"a\0b\0").unwrap(), [b"a", b"b"]);
    }

    #[test]
    fn complaints_are_plain_and_said_once() {
        let stderr = b"warning: could not open directory 'shut/': Permission denied\n\
            hint: something to try\n\
            error: open(\"secret\"): Permission denied\n\
            error: unable to index file 'secret'\n\
            error: open(\"two\nlines\"): Permission denied\n\
            error: unable to index file 'two\nlines'\n\
            error: 'nest/' does not have a commit checked out\n\
            error: unable to index file 'odd'\n\
            fatal: adding files failed\n\
            error: open(\"secret\"): Permission denied\n";
        assert_eq!(
            complaints(stderr),
            [
                "shut/: folder cannot be read (Permission denied)",
                "secret: cannot be read (Permission denied)",
                "two\\nlines: cannot be read (Permission denied)",
                "nest/: a repository without commits, left out",
                "odd: could not be stored",
            ]
        );
    }

    #[test]
    fn paths_are_found_by_an_attribute() {
        let text = b"a\0filter\0lfs\0b\0filter\0unspecified\0lfs\0filter\0lfs\0";
        assert_eq!(with_attribute(text, "lfs").unwrap(), [b"a".to_vec(), b"lfs".to_vec()]);
        assert!(with_attribute(b"a\0filter", "lfs").is_err());
    }

    #[test]
    fn a_filter_that_failed_is_told_from_what_else_git_says() {
        let stderr = b"error: external filter 'x' failed 127\nerror: external filter 'x' failed\n\
            fatal: some 'dir'/d.bin: clean filter 'lfs' failed\n";
        assert_eq!(failed_filter(stderr), Some("lfs"));
        assert_eq!(failed_filter(b"fatal: index file corrupt\n"), None);
        assert_eq!(failed_filter(b"a: clean filter 'lfs' failed"), None);
        assert_eq!(failed_filter(b"fatal: ' failed: clean filter '"), None);
    }

    #[test]
    fn line_ends_that_will_differ_are_no_complaint_and_told_by_the_file() {
        let stderr = b"warning: in the working copy of 'a b.txt', LF will be replaced by CRLF the next time Git touches it\n\
            warning: CRLF will be replaced by LF in old.txt.\n\
            The file will have its original line endings in your working directory\n\
            error: open(\"secret\"): Permission denied\n";
        assert_eq!(other_line_ends(stderr), ["a b.txt", "old.txt"]);
        assert_eq!(complaints(stderr), ["secret: cannot be read (Permission denied)"]);
    }

    #[test]
    fn a_file_that_moved_is_told_from_one_that_cannot_be_read() {
        assert!(files_moved(b"error: short read while indexing log.txt\n"));
        assert!(files_moved(b"error: open(\"x\"): No such file or directory\n"));
        assert!(!files_moved(b"error: open(\"x\"): Permission denied\n"));
    }

    #[test]
    fn the_reason_is_the_line_that_matters() {
        assert_eq!(reason(b"hint: x\nfatal: bad index\nmore"), "bad index");
        assert_eq!(reason(b"\n  strange words\n"), "strange words");
        assert_eq!(reason(b""), "no reason given");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_diff(&text);
            let _ = parse_status(&text);
            let _ = parse_listing(&text);
            let _ = complaints(&text);
            let _ = reason(&text);
            let _ = failed_filter(&text);
        }

        #[test]
        fn broken_git_words_never_panic(text in "[:#1u? .MADT0-9a-f\0\n'\"():]{0,120}") {
            let _ = parse_diff(text.as_bytes());
            let _ = parse_status(text.as_bytes());
            let _ = complaints(text.as_bytes());
            let _ = parse_batch(text.as_bytes());
        }
    }
}
