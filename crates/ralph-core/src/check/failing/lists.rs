//! Failures that are told by what stood before them.

use super::Found;
use super::single::untimed;
use crate::prelude::*;

#[derive(Debug, Default)]
pub(super) struct Lists {
    place: Place,
    before: Before,
    /// The file of tests that was named last, by jest or bun.
    file: String,
}

/// What the last line was.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    /// A line of `=`: unittest's and test-unit's, and the name follows.
    Rule,
    /// `  1) Failure:` of minitest, or `Failure:` alone, of rails: so does it here.
    Failure,
}

/// Within which list.
#[derive(Debug, Default)]
enum Place {
    #[default]
    Anywhere,
    /// `running 12 tests`, of libtest.
    Libtest,
    /// What failing tests printed, behind libtest's `failures:`.
    Printed,
    /// Their names, behind another one.
    Libtests,
    /// `There were 2 failures:` of PHPUnit: names follow, numbered from this one on.
    PhpUnit(usize),
    /// `  1 failing` of mocha: numbered names follow.
    Mocha,
    /// Within such a name: its suites have lines of their own, and the test's ends with a colon.
    MochaSuite(String),
    /// `Failures:` of jasmine: numbered names follow, each over `  Message:`.
    Jasmine(String),
    /// `FAIL src/auth.test.js`, of jest: headings follow.
    Jest,
}

impl Lists {
    /// Whether this line is what a test printed.
    pub(super) const fn quotes(&self) -> bool {
        matches!(self.place, Place::Printed | Place::Libtests)
    }

    pub(super) fn read<'l>(&mut self, line: &'l str) -> Option<Found<'l>> {
        let said = line.trim();
        let before = core::mem::replace(&mut self.before, Before::of(line, said));
        if self.libtest(line) {
            return None;
        }
        if let Place::Libtests = self.place {
            return line.strip_prefix("    ").filter(|name| is_libtest(name)).map(Found::short);
        }
        if self.quotes() {
            return None;
        }
        match before {
            Before::Rule => unittest(line).or_else(|| test_unit(line)),
            Before::Failure => minitest(said),
            Before::Other => None,
        }
        .or_else(|| self.listed(line, said))
        .or_else(|| mix(line))
    }

    /// Goes with the parts of what libtest prints. Whether it did.
    fn libtest(&mut self, line: &str) -> bool {
        let next = match self.place {
            Place::Printed if line == "failures:" => Place::Libtests,
            Place::Libtests if line.is_empty() => Place::Printed,
            Place::Printed | Place::Libtests if line.starts_with("test result: ") => Place::Anywhere,
            Place::Libtest if line == "failures:" => Place::Printed,
            Place::Printed | Place::Libtests => return false,
            _ if line.starts_with("running ") && (line.ends_with(" test") || line.ends_with(" tests")) => {
                Place::Libtest
            }
            _ => return false,
        };
        self.place = next;
        true
    }

    fn listed<'l>(&mut self, line: &'l str, said: &'l str) -> Option<Found<'l>> {
        if let Some(place) = begins(line, said) {
            self.place = place;
            return None;
        }
        if let Some(file) = tested(line, said) {
            self.file = file.into();
            if !said.ends_with(':') {
                self.place = Place::Jest;
            }
            return None;
        }
        if said == "# Unhandled error between tests" {
            return Some(Found::whole(self.file.clone()));
        }
        match &mut self.place {
            Place::PhpUnit(next) => {
                let (number, name) = numbered(line)?;
                let named = number == *next && is_phpunit(name);
                *next += usize::from(named);
                named.then(|| Found::whole(name))
            }
            Place::Mocha | Place::MochaSuite(_) => self.mocha(line, said),
            Place::Jasmine(name) => {
                if line == "  Message:" && !name.is_empty() {
                    return Some(Found::whole(core::mem::take(name)));
                }
                *name = numbered(line).map(|(_, name)| name.into()).unwrap_or_default();
                None
            }
            Place::Jest => match line.strip_prefix("  ● ") {
                Some("Test suite failed to run") => Some(Found::whole(self.file.clone())),
                Some(name) => is_jest(name).then(|| Found::whole(name)),
                None => {
                    if line.starts_with("PASS ") || line.starts_with("Test Suites:") {
                        self.place = Place::Anywhere;
                    }
                    None
                }
            },
            Place::Anywhere | Place::Libtest | Place::Printed | Place::Libtests => None,
        }
    }

    fn mocha(&mut self, line: &str, said: &str) -> Option<Found<'static>> {
        let first = line.strip_prefix("  ").and_then(numbered).map(|(_, name)| name);
        let name = match (first, core::mem::replace(&mut self.place, Place::Mocha)) {
            (Some(first), _) => first.to_owned(),
            // Suites are few; what has no end is none.
            (None, Place::MochaSuite(suites)) if !said.is_empty() && suites.len() < 1000 => {
                format!("{suites} {said}")
            }
            _ => return None,
        };
        match name.strip_suffix(':') {
            Some(name) => Some(Found::whole(name.to_owned())),
            None => {
                self.place = Place::MochaSuite(name);
                None
            }
        }
    }
}

impl Before {
    fn of(line: &str, said: &str) -> Self {
        let of_minitest = |words: &str| matches!(words, "Failure:" | "Error:");
        let after_number = numbered(said).is_some_and(|(_, words)| of_minitest(words));
        if said.len() >= 60 && said.bytes().all(|byte| byte == b'=') {
            Self::Rule
        } else if of_minitest(line) || line.starts_with(' ') && after_number {
            Self::Failure
        } else {
            Self::Other
        }
    }
}

fn begins(line: &str, said: &str) -> Option<Place> {
    let counted = |word: &str| {
        let (count, rest) = said.split_once(' ')?;
        (rest == word && count.chars().all(|c| c.is_ascii_digit())).then_some(())
    };
    let counts = ["There was 1 ", "There were "].iter().any(|start| line.starts_with(start));
    if counts && line.ends_with(':') {
        // Others, such as risky tests, are listed in the same way.
        let failed = ["failure:", "failures:", "error:", "errors:"].iter().any(|end| said.ends_with(end));
        Some(if failed { Place::PhpUnit(1) } else { Place::Anywhere })
    } else if line.starts_with("  ") && counted("failing").is_some() {
        Some(Place::Mocha)
    } else {
        (line == "Failures:").then(|| Place::Jasmine(String::new()))
    }
}

/// The file in `FAIL src/auth.test.js (5 s)` of jest, or `src/auth.test.ts:` of bun.
fn tested<'l>(line: &'l str, said: &'l str) -> Option<&'l str> {
    const ENDS: [&str; 8] = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];
    let file = match said.strip_prefix("FAIL ") {
        // A project's name may stand before it.
        Some(rest) if !rest.contains(" > ") => untimed(rest).rsplit(' ').next()?,
        Some(_) => return None,
        None => line.strip_suffix(':').filter(|file| !file.contains(' '))?,
    };
    let (_, end) = file.rsplit_once('.')?;
    ENDS.contains(&end).then_some(file)
}

/// Not what jest says under a heading of the same kind.
fn is_jest(name: &str) -> bool {
    const OTHERS: [&str; 6] = [
        "Console",
        "Validation ",
        "Deprecation ",
        "Cannot log after tests are done",
        "process.exit called",
        "Obsolete ",
    ];
    !OTHERS.iter().any(|other| name.starts_with(other))
}

/// A path of names; those of documentation hold words, and what is expected of a test may follow it.
pub(super) fn is_libtest(name: &str) -> bool {
    !name.is_empty() && (!name.contains(' ') || name.contains(" - "))
}

/// Number and rest of `1) greets by name`.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.split_once(") ")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(())?;
    Some((number.parse().ok()?, rest))
}

/// `Tests\AuthTest::testNames with data set #0 ('Ada')`
fn is_phpunit(name: &str) -> bool {
    let Some((class, rest)) = name.split_once("::") else { return false };
    let method = |c: char| c.is_alphanumeric() || c == '_';
    let rest = rest.trim_start_matches(method);
    !class.contains(' ') && (rest.is_empty() || rest.starts_with(" with data"))
}

/// `AuthTest#test_login [test/auth_test.rb:12]:`
fn minitest(said: &str) -> Option<Found<'_>> {
    let name = said.strip_suffix(':').unwrap_or(said);
    let place = || name.strip_suffix(']').and_then(|name| name.rsplit_once(" ["));
    let name = place().map_or(name, |(name, _)| name);
    name.contains("#test_").then(|| Found::whole(name))
}

/// `FAIL: test_login (tests.test_auth.Auth.test_login) (name='Ada')`, in the way that unittest takes it:
/// `tests.test_auth.Auth.test_login`. Before Python 3.11 the test's name stood only before the class.
fn unittest(line: &str) -> Option<Found<'_>> {
    let rest = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "))?;
    let Some((test, rest)) = rest.split_once(" (") else {
        return (!rest.contains(' ')).then(|| Found::whole(rest));
    };
    let (class, part) = rest.split_once(')')?;
    if test.contains(' ') || class.contains(' ') {
        return None;
    }
    let of_class = class.strip_suffix(test).is_some_and(|class| class.ends_with('.'));
    // A module that cannot be read stands for its tests.
    let unread = class.contains("._FailedTest") || class.contains(".ModuleImportFailure");
    let name = match (unread, of_class) {
        (true, _) => test.to_owned(),
        (false, true) => class.to_owned(),
        (false, false) => format!("{class}.{test}"),
    };
    Some(Found::whole(name + part))
}

/// `Failure: test_login(AuthTest)`, and what happened behind a colon.
fn test_unit(line: &str) -> Option<Found<'_>> {
    let rest = line.strip_prefix("Failure: ").or_else(|| line.strip_prefix("Error: "))?;
    let end = |at: &usize| rest[at + 1..].is_empty() || rest[at + 1..].starts_with(':');
    let at = rest.match_indices(')').map(|(at, _)| at).find(end)?;
    rest[..at].contains('(').then(|| Found::whole(&rest[..=at]))
}

/// `  1) test greets by name (GreetTest)`, and the module whose tests were never begun.
fn mix(line: &str) -> Option<Found<'_>> {
    let (_, name) = numbered(line.strip_prefix("  ")?.trim_start())?;
    if let Some((module, _)) = name.split_once(": failure on setup_all callback") {
        return Some(Found::whole(module));
    }
    let of_module = name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")).is_some();
    let kind = ["test ", "property ", "doctest "].iter().any(|kind| name.starts_with(kind));
    (of_module && kind).then(|| Found::whole(name))
}
