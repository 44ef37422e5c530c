//! The binary: a keeper when ralph starts itself as one, else the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).as_deref() == Some("__keep".as_ref()) {
        return ralph::process::keep::main();
    }
    ralph::cli::main()
}
