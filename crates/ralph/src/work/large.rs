//! Reading a whole file. Of a large one that is mostly the kernel's work, finding pages and copying into them, which
//! several threads do at once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::Path;
use std::thread;

use crate::unix::places::FileExt;

/// Below this a thread costs more than it saves; what is beyond it is no task file.
const LARGE: RangeInclusive<usize> = 8 << 20..=4 << 30;
const MOST_THREADS: usize = 4;

pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    in_parts(path, threads, LARGE)
}

fn in_parts(path: &Path, threads: usize, large: RangeInclusive<usize>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let data = file.metadata()?;
    let length = usize::try_from(data.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    if threads > 1 && data.is_file() && large.contains(&length) {
        // Pages of zeros that nobody has touched yet.
        bytes = vec![0; length];
        let share = length.div_ceil(threads).max(1);
        let read = thread::scope(|scope| {
            let file = &file;
            let parts = (0..).step_by(share).zip(bytes.chunks_mut(share));
            let reading: Vec<_> =
                parts.map(|(at, part)| scope.spawn(move || file.read_exact_at(part, at))).collect();
            reading
                .into_iter()
                .try_for_each(|part| part.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed"))))
        });
        match read {
            Ok(()) => drop(file.seek(SeekFrom::Start(data.len()))?),
            // It became shorter meanwhile: as it is now.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => bytes.clear(),
            Err(error) => return Err(error),
        }
    }
    // All of it, or what came since.
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own file")]
    fn a_file_is_the_same_in_however_many_parts_it_is_read() {
        let sandbox = ralph_testkit::Sandbox::new();
        let path = sandbox.project().join("large");
        for length in [0, 1, 4095, 4096, 10_007] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &bytes).expect("written");
            for threads in 1..5 {
                assert!(in_parts(&path, threads, 1..=5_000).expect("read") == bytes, "{length} by {threads}");
                assert!(
                    in_parts(&path, threads, 1..=1 << 20).expect("read") == bytes,
                    "{length} by {threads}"
                );
            }
        }
        assert_eq!(in_parts(&path.join("none"), 2, 1..=9).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        let endless = Path::new("/proc/self/status");
        assert!(!in_parts(endless, 2, 0..=9).expect("read").is_empty(), "a file that tells no length");
    }
}
