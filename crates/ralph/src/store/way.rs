//! The way to a file of the user's: which names on it are links, and where it ends. An agent that puts a link in the place of a
//! file, or of a folder above it, would have ralph write anywhere. A link that was there before stays what it was.

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use super::edit::put_back;
use super::files;
use crate::error::{self, Error, Result};
use crate::point;
use crate::unix::links::symlink;
use crate::unix::names::{OsStrExt, OsStringExt};

/// What a file without a name of its own may be called, when several stood in one place.
const ASIDE: u32 = 100;

/// How a name led to a file before somebody worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    root: PathBuf,
    /// The names below the top of the project, the file's own last.
    steps: Vec<Step>,
    /// Where it ends, without any link.
    real: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    at: PathBuf,
    /// Where the link leads, as it says itself; `None`: it is none.
    link: Option<PathBuf>,
}

impl Way {
    /// The way as it is now.
    pub fn to(root: &Path, path: &Path) -> io::Result<Self> {
        let steps = steps(root, path).map(|at| {
            let link = is_link(&at).then(|| fs::read_link(&at)).transpose()?;
            Ok(Step { at, link })
        });
        Ok(Self {
            root: root.to_path_buf(),
            steps: steps.collect::<io::Result<_>>()?,
            real: path.canonicalize()?,
        })
    }

    /// The way as an earlier ralph left it in [`Way::to_bytes`]; `None`: it had no link.
    pub fn from_bytes(root: &Path, path: &Path, bytes: Option<&[u8]>) -> Self {
        let named = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let mut kept = bytes.into_iter().flat_map(|bytes| bytes.split(|byte| *byte == 0)).map(named);
        let real = kept.next();
        let links: Vec<PathBuf> = kept.collect();
        let link = |at: &Path| links.chunks_exact(2).find(|pair| pair[0] == at).map(|pair| pair[1].clone());
        let steps = steps(root, path).map(|at| Step { link: link(&at), at }).collect();
        let real = real.unwrap_or_else(|| {
            let top = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
            path.strip_prefix(root).map_or_else(|_| path.to_path_buf(), |below| top.join(below))
        });
        Self { root: root.to_path_buf(), steps, real }
    }

    /// For a ralph that comes after us; nothing where no link is on the way, as mostly.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let links = self.steps.iter().filter_map(|step| Some([&step.at, step.link.as_ref()?]));
        let links: Vec<&PathBuf> = links.flatten().collect();
        let all = std::iter::once(&self.real).chain(links.iter().copied());
        let bytes: Vec<&[u8]> = all.map(|path| path.as_os_str().as_bytes()).collect();
        (!links.is_empty()).then(|| bytes.join(&0))
    }

    /// What stands on the way now and did not before, in words. That something is gone is another matter.
    pub fn differs(&self) -> Option<String> {
        for (nth, step) in self.steps.iter().enumerate() {
            let now = kind(&step.at)?;
            let name = step.at.strip_prefix(&self.root).unwrap_or(&step.at).display();
            let what = match &step.link {
                Some(link) if now.is_symlink() && fs::read_link(&step.at).is_ok_and(|to| to == *link) => {
                    continue;
                }
                Some(_) if now.is_symlink() => "which leads elsewhere now",
                Some(_) => "which was a link",
                None if self.fits(nth, now) => continue,
                None if now.is_symlink() => "which is a link now",
                None if now.is_dir() => "which is a folder now",
                None => "which is something else now",
            };
            return Some(format!("{name}, {what}"));
        }
        let path = &self.steps.last()?.at;
        let elsewhere = path.canonicalize().is_ok_and(|real| real != self.real);
        elsewhere.then(|| format!("{}, which leads elsewhere now", self.shown()))
    }

    /// Has the file say this again, in its own place: what stands in the way is never followed. Links go; what else it is goes to
    /// `aside`, if there is anything in it.
    pub fn put_back(&self, text: &[u8], aside: &Path) -> Result<()> {
        let path = &self.real;
        self.clear(aside).map_err(error::io("cannot make way for", path))?;
        let ends = |path: &Path| path.canonicalize().ok();
        let leads = self.steps.last().and_then(|step| ends(&step.at));
        let above = path.parent().and_then(ends);
        if leads.is_some_and(|real| real != *path) || above.is_some_and(|dir| Some(&*dir) != path.parent()) {
            return Err(Error::new(format!("cannot put {} back", self.shown()))
                .because("it leads elsewhere than before, and ralph writes nothing there")
                .hint("look where its links lead"));
        }
        put_back(path, text)
    }

    fn shown(&self) -> String {
        let path = self.steps.last().map_or(&self.real, |step| &step.at);
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Whether this may stand where no link was.
    fn fits(&self, nth: usize, now: FileType) -> bool {
        if nth + 1 == self.steps.len() { now.is_file() } else { now.is_dir() }
    }

    fn clear(&self, aside: &Path) -> io::Result<()> {
        for (nth, step) in self.steps.iter().enumerate() {
            match (kind(&step.at), &step.link) {
                (Some(now), None) if self.fits(nth, now) => continue,
                (Some(now), Some(link)) if now.is_symlink() && fs::read_link(&step.at)? == *link => continue,
                (Some(now), _) => make_room(&step.at, now, aside)?,
                (None, _) => {}
            }
            if let Some(link) = &step.link {
                step.at.parent().map_or(Ok(()), files::make_dir)?;
                point::file("link", &step.at)?;
                symlink(link, &step.at)?;
            }
        }
        // What the user's own link leads to may be one now.
        match kind(&self.real) {
            Some(now) if !now.is_file() => make_room(&self.real, now, aside),
            _ => Ok(()),
        }
    }
}

/// Nothing of anybody's is deleted but a link and an empty folder.
fn make_room(path: &Path, now: FileType, aside: &Path) -> io::Result<()> {
    if now.is_symlink() {
        return files::remove(path);
    }
    if now.is_dir() && files::remove_empty(path).is_ok() {
        return Ok(());
    }
    aside.parent().map_or(Ok(()), files::private_dir)?;
    let numbered = (2..ASIDE).map(|nth| aside.with_extension(nth.to_string()));
    let mut free = std::iter::once(aside.to_path_buf()).chain(numbered).filter(|path| kind(path).is_none());
    files::rename(path, &free.next().unwrap_or_else(|| aside.to_path_buf()))
}

/// The names below the top, one after the other; elsewhere only the file's own.
fn steps(root: &Path, path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let names: Vec<OsString> =
        path.strip_prefix(root).map(|below| below.iter().map(OsString::from).collect()).unwrap_or_default();
    let elsewhere = names.is_empty().then(|| path.to_path_buf());
    let root = root.to_path_buf();
    let below = names.into_iter().scan(root, |at, name| {
        at.push(name);
        Some(at.clone())
    });
    below.chain(elsewhere)
}

fn kind(path: &Path) -> Option<FileType> {
    fs::symlink_metadata(path).ok().map(|data| data.file_type())
}

fn is_link(path: &Path) -> bool {
    kind(path).is_some_and(|kind| kind.is_symlink())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Scratch;

    fn write(path: &Path, text: &str) {
        path.parent().map(files::make_dir).expect("a folder").expect("made");
        files::write_new(path, text.as_bytes()).expect("written");
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("the file")
    }

    /// What an agent does, and what is said of it.
    type Tamper<'t> = (&'t dyn Fn(&Path), &'t str);

    #[test]
    fn whatever_is_put_in_the_way_goes_and_nothing_outside_is_written() {
        let moved = |top: &Path| {
            fs::create_dir_all(top.join("out")).expect("a folder");
            files::rename(&top.join("p/a/b"), &top.join("out/b")).expect("moved");
            symlink(top.join("out/b"), top.join("p/a/b")).expect("a link");
        };
        let linked = |top: &Path| {
            write(&top.join("out/b/list.json"), "theirs");
            files::remove(&top.join("p/a/b/list.json")).expect("gone");
            symlink(top.join("out/b/list.json"), top.join("p/a/b/list.json")).expect("a link");
        };
        let dangling = |top: &Path| {
            files::remove(&top.join("p/a/b/list.json")).expect("gone");
            symlink(top.join("nowhere"), top.join("p/a/b/list.json")).expect("a link");
        };
        let folder = |top: &Path| {
            files::remove(&top.join("p/a/b/list.json")).expect("gone");
            write(&top.join("p/a/b/list.json/notes"), "notes");
        };
        let empty = |top: &Path| {
            files::remove(&top.join("p/a/b/list.json")).expect("gone");
            fs::create_dir(top.join("p/a/b/list.json")).expect("a folder");
        };
        let tampers: [Tamper<'_>; 5] = [
            (&moved, "a/b, which is a link now"),
            (&linked, "a/b/list.json, which is a link now"),
            (&dangling, "a/b/list.json, which is a link now"),
            (&folder, "a/b/list.json, which is a folder now"),
            (&empty, "a/b/list.json, which is a folder now"),
        ];
        for (nth, (tamper, said)) in tampers.into_iter().enumerate() {
            let top = Scratch::new("ralph-way").expect("a folder");
            let (root, path) = (top.path().join("p"), top.path().join("p/a/b/list.json"));
            write(&path, "ours");
            let way = Way::to(&root, &path).expect("the way");
            assert_eq!((way.differs(), way.to_bytes()), (None, None));
            assert_eq!(Way::from_bytes(&root, &path, None), way);
            tamper(top.path());
            assert_eq!(way.differs().as_deref(), Some(said));
            let aside = top.path().join("kept/aside");
            way.put_back(b"as before", &aside).expect("put back");
            assert_eq!((read(&path).as_str(), way.differs()), ("as before", None));
            let outside = top.path().join("out/b/list.json");
            assert!(!outside.exists() || ["ours", "theirs"].contains(&read(&outside).as_str()), "{said}");
            assert!(!top.path().join("nowhere").exists());
            assert_eq!(aside.join("notes").exists(), nth == 3, "a folder with something in it is kept");
        }
    }

    #[test]
    fn a_link_of_the_user_s_stays_and_comes_back_as_it_was() {
        let top = Scratch::new("ralph-way").expect("a folder");
        let (root, path) = (top.path().join("p"), top.path().join("p/list.json"));
        let shared = top.path().join("shared/list.json");
        write(&shared, "ours");
        fs::create_dir(&root).expect("a folder");
        symlink("../shared/list.json", &path).expect("a link");
        let way = Way::to(&root, &path).expect("the way");
        let kept = way.to_bytes().expect("a link is worth keeping");
        assert_eq!(Way::from_bytes(&root, &path, Some(&kept)), way);
        way.put_back(b"one", Path::new("/nowhere")).expect("put back");
        assert_eq!((read(&shared).as_str(), way.differs()), ("one", None));
        files::remove(&path).expect("gone");
        write(&path, "a copy");
        assert_eq!(way.differs().as_deref(), Some("list.json, which was a link"));
        way.put_back(b"two", &top.path().join("aside")).expect("put back");
        assert_eq!((read(&shared).as_str(), read(&top.path().join("aside")).as_str()), ("two", "a copy"));
        let victim = top.path().join("victim");
        write(&victim, "theirs");
        files::remove(&shared).expect("gone");
        symlink(&victim, &shared).expect("a link");
        assert_eq!(way.differs().as_deref(), Some("list.json, which leads elsewhere now"));
        way.put_back(b"three", Path::new("/nowhere")).expect("put back");
        assert_eq!((read(&path).as_str(), read(&victim).as_str(), way.differs()), ("three", "theirs", None));
    }
}
