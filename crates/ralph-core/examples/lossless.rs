//! Edits made-up task files of every format by chance; `cargo xtask lossless` starts it. The argument is how many files of
//! each format; what is wrong makes it panic with the seed.
#![expect(clippy::disallowed_macros, reason = "a line for people")]

#[path = "../tests/lossless/bounds.rs"]
mod bounds;
#[path = "../tests/lossless/dice.rs"]
mod dice;
#[path = "../tests/lossless/documents.rs"]
mod documents;
#[path = "../tests/lossless/property.rs"]
mod property;

fn main() {
    let files: u64 = std::env::args().nth(1).and_then(|files| files.parse().ok()).unwrap_or(20_000);
    for kind in documents::KINDS {
        // Other files than those of the ordinary test.
        (1_000_000..1_000_000 + files).for_each(|seed| property::hold(kind, seed));
        println!("{kind:?}: {files} files, {} edits tried, nothing else changed", files * 2);
    }
}
