//! What `std`'s prelude would give.

pub(crate) use crate::gather::Gather;
pub(crate) use alloc::{
    borrow::ToOwned,
    boxed::Box,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
