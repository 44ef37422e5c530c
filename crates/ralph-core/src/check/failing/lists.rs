//! Failures that are told by what stood before them.

/// What the last lines were.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    #[default]
    Anywhere,
    /// `  1) Failure:` of minitest: the name is on the next line.
    Minitest,
    /// `There were 2 failures:` of PHPUnit: numbered names follow.
    PhpUnit,
    /// `  1 failing` of mocha: numbered names follow.
    Mocha,
    /// Within such a name: its suites have lines of their own, and the test's ends with a colon.
    MochaSuite,
}

impl Place {
    pub(super) fn read<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        let said = line.trim();
        if let Some(place) = begins(line, said) {
            *self = place;
            return None;
        }
        match *self {
            Self::Minitest => {
                *self = Self::Anywhere;
                minitest(said)
            }
            Self::PhpUnit => numbered(line).filter(|name| name.contains("::")),
            Self::Mocha | Self::MochaSuite => {
                let first = numbered(said).filter(|_| line.starts_with("  "));
                let part = first.or_else(|| (*self == Self::MochaSuite).then_some(said))?;
                let name = part.strip_suffix(':');
                *self = if name.is_some() { Self::Mocha } else { Self::MochaSuite };
                name
            }
            Self::Anywhere => mix(line),
        }
    }
}

fn begins(line: &str, said: &str) -> Option<Place> {
    let number = numbered(said);
    let counted = |word: &str| {
        let (count, rest) = said.split_once(' ')?;
        (rest == word && count.chars().all(|c| c.is_ascii_digit())).then_some(())
    };
    if line.starts_with(' ') && matches!(number, Some("Failure:" | "Error:")) {
        Some(Place::Minitest)
    } else if ["There was 1 ", "There were "].iter().any(|start| said.starts_with(start))
        && ["failure:", "failures:", "error:", "errors:"].iter().any(|end| said.ends_with(end))
    {
        Some(Place::PhpUnit)
    } else if line.starts_with("  ") && counted("failing").is_some() {
        Some(Place::Mocha)
    } else {
        None
    }
}

/// What stands behind `1) `.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(") ")?;
    (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(rest)
}

/// `AuthTest#test_login [test/auth_test.rb:12]:`
fn minitest(said: &str) -> Option<&str> {
    let name = said.split(" [").next().unwrap_or(said).trim_end_matches(':');
    name.contains('#').then_some(name)
}

/// `  1) test greets by name (GreetTest)`
fn mix(line: &str) -> Option<&str> {
    let name = numbered(line.trim_start()).filter(|_| line.starts_with("  "))?;
    let of_module = name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")).is_some();
    let kind = ["test ", "property ", "doctest "].iter().any(|kind| name.starts_with(kind));
    (of_module && kind).then_some(name)
}
