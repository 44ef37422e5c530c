//! What another ralph asks of the run that goes on, or of the next one: a file for each request, in a folder of the
//! truth. A request is durable before anybody is told of it, and is removed once its record is.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Holder, files, views};
use crate::error::{self, Result};

#[derive(Debug, Clone)]
pub struct Requests {
    dir: PathBuf,
}

/// Words for the next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRequest {
    pub id: String,
    pub text: String,
}

/// What a person says about an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steer {
    pub op: Op,
    /// The task file, from the top of the project.
    pub backlog: String,
    pub item: String,
    pub title: String,
    /// The answer, or why it is left out.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Give it new attempts.
    Reset,
    /// Give it new attempts, and its agents this answer.
    Answer,
    /// Leave it out.
    Skip,
    /// Leave it out no longer.
    Unskip,
}

impl Op {
    /// The type of its record in the ledger.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reset => "reset",
            Self::Answer => "answer",
            Self::Skip => "skip",
            Self::Unskip => "unskip",
        }
    }
}

/// What lies there.
#[derive(Debug, Default)]
pub struct Pending {
    /// In the order they were made.
    pub notes: Vec<NoteRequest>,
    /// Somebody asks this very run to stop.
    pub stop: bool,
}

impl Requests {
    pub fn of(truth: &Path) -> Self {
        Self { dir: truth.join("requests") }
    }

    /// Ids that sort by time keep the notes in order.
    pub fn note(&self, id: &str, text: &str) -> Result<()> {
        self.write(&self.note_file(id), text.as_bytes())
    }

    pub fn steer(&self, id: &str, steer: &Steer) -> Result<()> {
        let path = self.steer_file(id);
        let text =
            serde_json::to_vec(steer).map_err(|error| error::io("cannot write", &path)(error.into()))?;
        self.write(&path, &text)
    }

    /// What people said about items, in that order, by the ids of the requests.
    pub fn steers(&self) -> Vec<(String, Steer)> {
        let id = |name: String| Some(name.strip_prefix("item-")?.strip_suffix(".json")?.to_owned());
        let mut ids: Vec<String> = self.names().filter_map(id).collect();
        ids.sort();
        let read = |id: String| {
            let text = std::fs::read(self.steer_file(&id)).ok()?;
            Some((id, serde_json::from_slice(&text).ok()?))
        };
        ids.into_iter().filter_map(read).collect()
    }

    pub fn steer_is_taken(&self, id: &str) -> Result<()> {
        remove(&self.steer_file(id))
    }

    /// The request names the run it means, so that it can never end another one.
    pub fn stop(&self, holder: &Holder) -> Result<()> {
        self.write(&self.stop_file(holder), b"")
    }

    /// What lies there for the run of `holder`; what was meant for another one is over, and removed.
    pub fn pending(&self, holder: &Holder) -> Result<Pending> {
        let mut pending = Pending { notes: self.notes(), stop: false };
        let own = self.stop_file(holder);
        for name in self.names().filter(|name| name.starts_with("stop-")) {
            let path = self.dir.join(name);
            if path == own {
                pending.stop = true;
            } else {
                remove(&path)?;
            }
        }
        Ok(pending)
    }

    /// The notes that no run has taken in yet.
    pub fn notes(&self) -> Vec<NoteRequest> {
        let mut ids: Vec<String> = self
            .names()
            .filter_map(|name| Some(name.strip_prefix("note-")?.strip_suffix(".txt")?.to_owned()))
            .collect();
        ids.sort();
        ids.into_iter()
            .filter_map(|id| {
                let text = std::fs::read(self.note_file(&id)).ok()?;
                Some(NoteRequest { text: String::from_utf8_lossy(&text).into_owned(), id })
            })
            .collect()
    }

    pub fn note_is_taken(&self, id: &str) -> Result<()> {
        remove(&self.note_file(id))
    }

    pub fn stop_is_taken(&self, holder: &Holder) -> Result<()> {
        remove(&self.stop_file(holder))
    }

    fn steer_file(&self, id: &str) -> PathBuf {
        self.dir.join(format!("item-{id}.json"))
    }

    fn note_file(&self, id: &str) -> PathBuf {
        self.dir.join(format!("note-{id}.txt"))
    }

    fn stop_file(&self, holder: &Holder) -> PathBuf {
        self.dir.join(format!("stop-{}-{}", holder.pid, holder.since.millis()))
    }

    fn names(&self) -> impl Iterator<Item = String> + use<> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        files.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// Where nothing was run yet nobody has made the folder that the truth is in. Without git that is `.ralph/`, which ignores
    /// itself from its first file on: somebody may make a repository around it before the first run.
    fn make_dir(&self) -> io::Result<()> {
        let above = self.dir.parent().and_then(Path::parent);
        if let Some(own) = above.filter(|above| above.file_name() == Some(".ralph".as_ref())) {
            files::stays_within(own.parent().unwrap_or(own), own)?;
            views::make_own_folder(own)?;
        }
        files::private_dir(&self.dir)
    }

    fn write(&self, path: &Path, text: &[u8]) -> Result<()> {
        self.make_dir()
            .and_then(|()| files::replace_durably(path, text))
            .and_then(|()| self.dir.parent().map_or(Ok(()), files::sync_dir))
            .map_err(error::io("cannot write", path))
    }
}

fn remove(path: &Path) -> Result<()> {
    files::remove(path).map_err(error::io("cannot remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::time::Time;

    #[test]
    fn a_request_to_stop_means_one_run_and_notes_come_in_order() {
        let truth = std::env::temp_dir().join(format!("ralph-requests-{}", std::process::id()));
        let requests = Requests::of(&truth);
        let run = |pid| Holder { pid, since: Time::from_millis(5) };
        requests.stop(&run(1)).expect("written");
        requests.note("2", "second").expect("written");
        requests.note("1", "first").expect("written");
        let other = requests.pending(&run(2)).expect("read");
        assert!(!other.stop);
        assert_eq!(
            other.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(),
            ["first", "second"]
        );
        assert!(!requests.pending(&run(1)).expect("read").stop, "what was old is gone");
        requests.stop(&run(1)).expect("written");
        assert!(requests.pending(&run(1)).expect("read").stop);
        requests.stop_is_taken(&run(1)).expect("removed");
        requests.note_is_taken("1").expect("removed");
        requests.note_is_taken("1").expect("gone already");
        let left = requests.pending(&run(1)).expect("read");
        assert_eq!((left.stop, left.notes.len()), (false, 1));
        #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
        std::fs::remove_dir_all(&truth).expect("removed");
    }
}
