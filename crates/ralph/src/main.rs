//! The binary: a keeper when ralph starts itself as one, else the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().as_deref() == Some("__keep".as_ref()) {
        return ralph::process::keep::main(args);
    }
    ralph::cli::main()
}
