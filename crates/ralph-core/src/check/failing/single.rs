//! Failures that stand on a line of their own.

use super::Found;
use super::lists::is_libtest;

pub(super) fn name(line: &str) -> Option<Found<'_>> {
    // nextest names the crate as well.
    let short = libtest(line).map(Found::short);
    short.or_else(|| whole(line).map(Found::whole))
}

fn whole(line: &str) -> Option<&str> {
    go(line)
        .or_else(|| pytest(line))
        .or_else(|| pytest_going(line))
        .or_else(|| nextest(line))
        .or_else(|| jest(line))
        .or_else(|| vitest(line))
        .or_else(|| bun(line))
        .or_else(|| rspec(line))
        .or_else(|| surefire(line))
        .or_else(|| gradle(line))
        .or_else(|| dotnet(line))
        .or_else(|| ctest(line))
        .or_else(|| googletest(line))
}

/// Without a time at its end: `(3 ms)`, `[0.12ms]`, `3ms`.
pub(super) fn untimed(name: &str) -> &str {
    let name = name.trim_end();
    let timed = |time: &str| {
        let digits = time.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
        digits.len() < time.len()
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_ascii_digit() || ".,<: ".contains(c))
    };
    for (open, close) in [(" (", ")"), (" [", "]")] {
        if let Some((before, time)) = name.strip_suffix(close).and_then(|name| name.rsplit_once(open))
            && timed(time)
        {
            return before.trim_end();
        }
    }
    match name.rsplit_once(' ') {
        Some((before, time)) if timed(time) && time.ends_with('s') => before.trim_end(),
        _ => name,
    }
}

/// `test auth::login ... FAILED`; what nextest shows of it is indented, and named by itself.
fn libtest(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    is_libtest(name).then_some(name)
}

/// `--- FAIL: TestLogin/empty_name (0.00s)`, and a package whose tests do not build.
fn go(line: &str) -> Option<&str> {
    if let Some(rest) = line.trim_start().strip_prefix("--- FAIL: ") {
        return Some(rest.split(" (").next().unwrap_or(rest));
    }
    let (package, why) = line.strip_prefix("FAIL\t")?.split_once(' ')?;
    matches!(why.trim_end(), "[build failed]" | "[setup failed]").then_some(package)
}

/// `FAILED tests/test_auth.py::test_login[a - b] - AssertionError: …`; `ERROR` where a fixture or the module itself broke.
fn pytest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let closed = |text: &str| text.matches('[').count() <= text.matches(']').count();
    let end = rest.match_indices(" - ").map(|(at, _)| at).find(|at| closed(&rest[..*at]));
    let name = &rest[..end.unwrap_or(rest.len())];
    let file = name.split("::").next().unwrap_or(name);
    (file.ends_with(".py") && !file.contains(' ')).then_some(name)
}

/// `tests/test_auth.py::test_login FAILED   [ 50%]` as it goes on, and `[gw1] [ 50%] FAILED tests/test_auth.py::test_login`.
fn pytest_going(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if line.starts_with("[gw") {
        let (_, result) = line.split_once("%] ")?;
        return pytest(result).filter(|name| name.contains("::"));
    }
    let line = match line.rsplit_once(" [") {
        Some((line, share)) if share.ends_with("%]") => line.trim_end(),
        _ => line,
    };
    let name = line.strip_suffix(" FAILED").or_else(|| line.strip_suffix(" ERROR"))?;
    let (file, _) = name.split_once("::")?;
    (file.ends_with(".py") && !file.contains(' ')).then_some(name)
}

/// `        FAIL [   0.005s] (1/2) ralph-core time::tests::x`; also what it calls a signal or a time-out, and the last of
/// several tries, which alone has a number: `  TRY 2 ABRT [   0.005s] (1/2) ralph-core time::tests::x`.
fn nextest(line: &str) -> Option<&str> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    let (count, name) = match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?,
        None => ("1", rest),
    };
    let signal = |word: &str| word.starts_with("SIG") && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let failed = match status.strip_prefix("TRY ").and_then(|tried| tried.split_once(' ')) {
        Some((_, status)) => {
            !["PASS", "SLOW", "LEAK", "STRT"].contains(&status)
                && count.bytes().any(|byte| byte.is_ascii_digit())
        }
        None => matches!(status, "FAIL" | "TIMEOUT" | "ABORT") || signal(status),
    };
    failed.then(|| name.trim())
}

/// `  ● auth › greets by name`, jest's heading over what went wrong.
fn jest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  ● ")?;
    (rest.contains(" › ") && !rest.starts_with("Console")).then_some(rest)
}

/// ` FAIL  src/auth.test.ts > auth > greets by name`, and ` FAIL  src/auth.test.ts [ src/auth.test.ts ]` where it cannot be read.
fn vitest(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("FAIL  ")?;
    let unread = || rest.trim_end().strip_suffix(" ]").and_then(|rest| rest.split_once(" [ "));
    if rest.contains(" > ") { Some(rest) } else { unread().map(|(file, _)| file) }
}

/// `(fail) auth > greets by name [0.12ms]`
fn bun(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("(fail) ").map(untimed)
}

/// `rspec ./spec/auth_spec.rb:12 # Auth greets by name`, and a file that cannot be read.
fn rspec(line: &str) -> Option<&str> {
    if let Some(file) = line.strip_prefix("An error occurred while loading ") {
        let file = file.split(' ').next().unwrap_or(file).trim_end_matches('.');
        return file.ends_with(".rb").then_some(file);
    }
    let (place, name) = line.strip_prefix("rspec ")?.split_once(" # ")?;
    place.starts_with(['.', '\'', '/', 's']).then_some(name)
}

/// `[ERROR]   AuthTest.login:12 expected: <1> but was: <2>` in the summary, `[ERROR] AuthTest.login -- Time elapsed: …` and
/// `[ERROR] login(AuthTest)  Time elapsed: … FAILURE!` before it.
fn surefire(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("[ERROR] ")?;
    if let Some((name, end)) = rest.split_once("Time elapsed:") {
        let name = name.trim_end().trim_end_matches("--").trim_end().trim_end_matches(',');
        let failed = end.contains("<<< FAILURE!") || end.contains("<<< ERROR!");
        return (failed && !name.starts_with("Tests run")).then_some(name);
    }
    summed_up(line)
}

/// A line of surefire's summary, without the package: `AuthTest.login` of `[ERROR]   AuthTest.login:12 …`.
pub(super) fn summed_up(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("[ERROR]   ")?;
    let (place, _) = rest.split_once(' ').unwrap_or((rest, ""));
    let (name, number) = place.split_once(':')?;
    let counted = number.starts_with(|c: char| c.is_ascii_digit());
    let named = name.contains('.') && !name.contains(['/', '\\']) && name.starts_with(char::is_alphabetic);
    (counted && named).then_some(name)
}

/// Whether the summary's name means a test that was named before, with its package or in the old way.
pub(super) fn means(name: &str, known: &str) -> bool {
    let (class, test) = name.rsplit_once('.').unwrap_or(("", name));
    let of_class =
        |whole: &str| whole.strip_suffix(class).is_some_and(|package| package.ends_with(['.', '(']));
    let with_package = known.strip_suffix(name).is_some_and(|package| package.ends_with('.'));
    let old_way = known.strip_prefix(test).and_then(|rest| rest.strip_suffix(')'));
    with_package || old_way.is_some_and(|rest| rest.starts_with('(') && of_class(rest))
}

/// `AuthTest > login() FAILED`, which gradle prints at the start of a line; also of nested classes.
fn gradle(line: &str) -> Option<&str> {
    let name = line.strip_suffix(" FAILED")?;
    (!name.starts_with([' ', '>']) && name.contains(" > ")).then_some(name)
}

/// `  Failed Greet.Tests.ByName [12 ms]`
fn dotnet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  Failed ")?;
    let name = untimed(rest);
    (name.len() < rest.trim_end().len()).then_some(name)
}

/// ` 2/12 Test  #2: greets_by_name ...***Failed    0.01 sec`
fn ctest(line: &str) -> Option<&str> {
    let (count, rest) = line.trim_start().split_once(" Test ")?;
    if !count.contains('/') || !count.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/') {
        return None;
    }
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    let (name, end) = rest.split_once("***")?;
    let failed = ["Failed", "Exception", "Timeout", "Not Run"].iter().any(|word| end.starts_with(word));
    (failed && !end.starts_with("Not Run (Disabled)")).then(|| name.trim_end_matches(['.', ' ']))
}

/// `[  FAILED  ] Names/Greets.ByName/1, where GetParam() = "Ada" (0 ms)`
fn googletest(line: &str) -> Option<&str> {
    let rest = untimed(line.strip_prefix("[  FAILED  ] ")?);
    let name = rest.split(", where ").next().unwrap_or(rest);
    (name.contains('.') && !name.contains(' ')).then_some(name)
}
