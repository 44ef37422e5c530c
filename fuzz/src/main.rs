//! libFuzzer around one property, named by RALPH_FUZZ_TARGET. `cargo xtask fuzz` builds and runs it.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use ralph_fuzz::bend::bend;
use ralph_fuzz::properties::{Property, TARGETS, named};

static PROPERTY: OnceLock<Property> = OnceLock::new();

/// The property that was asked for. Asked for "list", it lists them.
fn chosen() -> Property {
    let name = std::env::var("RALPH_FUZZ_TARGET").unwrap_or_default();
    if name == "list" {
        TARGETS.iter().for_each(|(name, _)| println!("{name}"));
        std::process::exit(0);
    }
    named(&name).unwrap_or_else(|| panic!("RALPH_FUZZ_TARGET={name:?} names no target"))
}

fuzz_target!(
    init: {
        PROPERTY.get_or_init(chosen);
    },
    |bytes: &[u8]| PROPERTY.get_or_init(chosen)(bytes)
);

// Blind changes hardly ever leave JSON whole, so half of them go by its structure.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        let bent = bend(&data[..size], u64::from(seed));
        if bent.len() <= max_size && bent != data[..size] {
            data[..bent.len()].copy_from_slice(&bent);
            return bent.len();
        }
    }
    fuzzer_mutate(data, size, max_size)
});
