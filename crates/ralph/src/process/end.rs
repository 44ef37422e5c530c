//! How a process ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    /// Ended by this signal, its own or one that was sent.
    Signaled(i32),
    /// Ended by ralph because its time was up. Only from [`capture_for`](super::capture_for).
    TimedOut,
    /// Nobody saw it end: its keeper died first, or it could not be ended. Only from
    /// [`Job::wait`](super::Job::wait).
    Lost,
}

impl End {
    pub fn success(self) -> bool {
        self == End::Exited(0)
    }

    /// The exit code, if the process exited by itself.
    pub fn code(self) -> Option<i32> {
        match self {
            End::Exited(code) => Some(code),
            End::Signaled(_) | End::TimedOut | End::Lost => None,
        }
    }

    pub(super) fn of(code: Option<i32>, signal: Option<i32>) -> End {
        match (code, signal) {
            (Some(code), _) => End::Exited(code),
            (None, Some(signal)) => End::Signaled(signal),
            (None, None) => End::Lost,
        }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        End::of(status.code(), status.signal())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exit {code}"),
            End::Signaled(number) => match signal_name(*number) {
                Some(name) => write!(f, "killed by signal {number} ({name})"),
                None => write!(f, "killed by signal {number}"),
            },
            End::TimedOut => f.write_str("timed out"),
            End::Lost => f.write_str("lost: nobody saw it end"),
        }
    }
}

/// The numbers differ between systems, so they are taken from the system's own constants.
fn signal_name(number: i32) -> Option<&'static str> {
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    names.into_iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_reads_like_a_sentence_part() {
        assert_eq!(End::Exited(101).to_string(), "exit 101");
        assert_eq!(End::Signaled(9).to_string(), "killed by signal 9 (SIGKILL)");
        assert_eq!(End::Signaled(40).to_string(), "killed by signal 40");
        assert_eq!(End::TimedOut.to_string(), "timed out");
    }

    #[test]
    fn only_exit_0_is_success() {
        assert!(End::Exited(0).success());
        for end in [End::Exited(1), End::Signaled(15), End::TimedOut, End::Lost] {
            assert!(!end.success(), "{end}");
        }
    }
}
