//! `cargo xtask deny`: licences, bans and sources of the dependencies, by deny.toml. Not part of `test`,
//! because cargo-deny takes minutes to build.

use crate::{Result, step, workspace};

pub(crate) fn main() -> Result<()> {
    if !workspace::has_subcommand("deny") {
        return Err("cargo-deny is not installed\nrepeat: cargo install --locked cargo-deny".into());
    }
    let args = ["deny", "check", "bans", "licenses", "sources"];
    step::run("dependencies", &format!("cargo {}", args.join(" ")), workspace::cargo().args(args))
}
