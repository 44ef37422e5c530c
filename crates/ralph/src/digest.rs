//! Digests: the only user of BLAKE3.

/// As 64 hexadecimal digits.
pub(crate) fn of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Of a stream, without holding it.
pub(crate) fn of_stream(mut stream: impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut stream, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// Of a file, without holding it.
pub(crate) fn of_file(path: &std::path::Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}
