//! Opening a pseudo-terminal and starting a program on it.

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::OnceLock;

/// The side of the tester and the side of the program.
pub(super) fn open(size: Winsize) -> (File, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("open a pseudo-terminal");
    grantpt(&master).expect("grant the pseudo-terminal");
    unlockpt(&master).expect("unlock the pseudo-terminal");
    let name = ptsname(&master, Vec::new()).expect("the pseudo-terminal's name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).expect("open the terminal");
    tcsetwinsize(&slave, size).expect("set the terminal's size");
    (File::from(master), slave)
}

/// Without `setsid` the program has a terminal, but not a controlling one: Ctrl-C is then just a byte.
pub(super) fn spawn(wanted: &Command, term: &OsStr, slave: &OwnedFd) -> Child {
    let mut command = if can_set_controlling_terminal() {
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(wanted.get_program());
        command
    } else {
        Command::new(wanted.get_program())
    };
    command.args(wanted.get_args()).env_clear();
    command.envs(wanted.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", term);
    if let Some(folder) = wanted.get_current_dir() {
        command.current_dir(folder);
    }
    let again = || slave.try_clone().expect("another handle of the terminal");
    command.stdin(again()).stdout(again()).stderr(again());
    command.spawn().unwrap_or_else(|error| panic!("start {wanted:?} on a terminal: {error}"))
}

/// The one of util-linux can; it replaces itself by the program, which keeps the process number.
fn can_set_controlling_terminal() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let help = Command::new("setsid").arg("--help").output();
        help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--ctty"))
    })
}
