//! One stream of a kept command's output.

use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::ioctl_fionread;

use super::ready::wait_ready;

/// Reads what the command prints, to the end of the job.
///
/// The end of the job, not of the file: a process that could not be ended, or that the system does not let us
/// find, may hold the pipe open for ever. Once the job is over, what is in the pipe is the rest.
#[derive(Debug, Default)]
pub struct Output(Option<Stream>);

#[derive(Debug)]
struct Stream {
    pipe: PipeReader,
    /// Ready when the job is over.
    over: PipeReader,
    /// How much is left to read, once the job is over.
    rest: Option<u64>,
}

impl Output {
    pub(super) fn new(pipe: impl Into<OwnedFd>, over: PipeReader) -> Output {
        Output(Some(Stream { pipe: PipeReader::from(pipe.into()), over, rest: None }))
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(stream) => stream.read(buffer),
            None => Ok(0),
        }
    }
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_none() && self.is_over()? {
            self.rest = Some(ioctl_fionread(&self.pipe)?);
        }
        let Some(rest) = &mut self.rest else { return self.pipe.read(buffer) };
        let count = (&mut self.pipe).take(*rest).read(buffer)?;
        *rest -= count as u64;
        Ok(count)
    }

    /// Blocks until there is something to read or the job is over; true for the latter.
    fn is_over(&self) -> io::Result<bool> {
        let mut fds = [PollFd::new(&self.over, PollFlags::IN), PollFd::new(&self.pipe, PollFlags::IN)];
        wait_ready(&mut fds, None)?;
        Ok(!fds[0].revents().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn ends_with_the_job_though_the_pipe_stays_open() {
        let (pipe, mut writer) = io::pipe().expect("pipe");
        let (over, job) = io::pipe().expect("pipe");
        let mut output = Output::new(pipe, over);
        writer.write_all(b"first ").expect("write");
        let mut first = [0; 6];
        output.read_exact(&mut first).expect("read");
        writer.write_all(b"last").expect("write");
        drop(job);
        let mut rest = [0; 2];
        output.read_exact(&mut rest).expect("read");
        assert_eq!(&rest, b"la");
        writer.write_all(b"too late").expect("write");
        let mut text = String::new();
        output.read_to_string(&mut text).expect("read");
        assert_eq!(text, "st");
    }

    #[test]
    fn ends_with_the_pipe_though_the_job_goes_on() {
        let (pipe, writer) = io::pipe().expect("pipe");
        let (over, _job) = io::pipe().expect("pipe");
        drop(writer);
        assert_eq!(Output::new(pipe, over).read(&mut [0; 8]).expect("read"), 0);
    }
}
