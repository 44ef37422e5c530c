//! What must hold for any bytes, and how to bend good bytes into bad ones.
//!
//! The fuzzer (`main.rs`) and the workspace's own test (`crates/ralph-core/tests/any_bytes.rs`) both compile these
//! files, so that they cannot drift away from the code they are about.

pub mod bend;
pub mod properties;
