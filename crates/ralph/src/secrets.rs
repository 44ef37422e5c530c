//! Where secrets are told: the environment, and the `.env` files at the top of a project.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ralph_core::redact::{Secrets, dotenv};

/// A longer file holds something else.
const MOST: u64 = 256 << 10;

/// What is to be hidden now. Files come and go while a run goes on.
pub fn of(root: &Path) -> Secrets {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let names = std::fs::read_dir(root).into_iter().flatten().flatten();
    let files = names.filter(|entry| entry.file_name().to_str().is_some_and(is_dotenv));
    let filed = files.flat_map(|entry| dotenv(&read(&entry.path()).unwrap_or_default()));
    Secrets::new(environment, filed)
}

/// `.env`, `.env.local`, `.envrc`; not one that only shows how to write one.
fn is_dotenv(name: &str) -> bool {
    let shows = ["example", "sample", "template", "dist", "defaults"];
    name.starts_with(".env") && !shows.iter().any(|ending| name.ends_with(ending))
}

fn read(path: &Path) -> Option<String> {
    // A pipe would hold the loop up.
    let data = std::fs::metadata(path).ok().filter(|data| data.is_file() && data.len() <= MOST)?;
    let mut text = Vec::new();
    File::open(path).ok()?.take(data.len()).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_only_show_how_to_write_one_hold_no_secrets() {
        for name in [".env", ".env.local", ".env.production", ".envrc"] {
            assert!(is_dotenv(name), "{name}");
        }
        for name in [".env.example", ".env.sample", "env", "src.env", ".env.local.template"] {
            assert!(!is_dotenv(name), "{name}");
        }
    }
}
