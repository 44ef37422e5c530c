//! Failures that stand on a line of their own.

pub(super) fn name(line: &str) -> Option<&str> {
    libtest(line)
        .or_else(|| tap(line))
        .or_else(|| go(line))
        .or_else(|| pytest(line))
        .or_else(|| nextest(line))
        .or_else(|| jest(line))
        .or_else(|| vitest(line))
        .or_else(|| marked(line))
        .or_else(|| bun(line))
        .or_else(|| rspec(line))
        .or_else(|| surefire(line))
        .or_else(|| gradle(line))
        .or_else(|| dotnet(line))
        .or_else(|| ctest(line))
}

/// Without a time at its end: `(3 ms)`, `[0.12ms]`, `3ms`.
fn untimed(name: &str) -> &str {
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

/// `test auth::login ... FAILED`
fn libtest(line: &str) -> Option<&str> {
    line.trim().strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// `not ok 2 - greets by name # TODO later`; a TODO failure is no failure.
fn tap(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("not ok")?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.split_once("# ").unwrap_or((rest, ""));
    let excused = ["TODO", "SKIP"].iter().any(|word| directive.to_ascii_uppercase().starts_with(word));
    (!excused).then_some(name)
}

/// `--- FAIL: TestLogin/empty_name (0.00s)`
fn go(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("--- FAIL: ")?;
    Some(rest.split(" (").next().unwrap_or(rest))
}

/// `FAILED tests/test_auth.py::test_login - AssertionError: …`; `ERROR` where a fixture or the module itself broke.
fn pytest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "))?;
    let name = rest.split(" - ").next().unwrap_or(rest);
    let file = name.split("::").next().unwrap_or(name);
    (file.ends_with(".py") && !file.contains(' ')).then_some(name)
}

/// `        FAIL [   0.005s] (1/2) ralph-core time::tests::x`; also what it calls a signal or a time-out.
fn nextest(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest =
        ["FAIL [", "TIMEOUT [", "SIGABRT [", "SIGSEGV ["].iter().find_map(|word| rest.strip_prefix(word))?;
    let (_, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1.trim() } else { rest };
    Some(rest)
}

/// `  ● auth › greets by name`, jest's heading over what went wrong.
fn jest(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  ● ")?;
    (rest.contains(" › ") && !rest.starts_with("Console")).then_some(rest)
}

/// ` FAIL  src/auth.test.ts > auth > greets by name`
fn vitest(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("FAIL  ")?;
    rest.contains(" > ").then_some(rest)
}

/// `✕ greets by name (3 ms)`, `✖ greets by name` and vitest's `× greets by name 3ms`; not node's own headings.
fn marked(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = ["✕ ", "✖ ", "× ", "✗ "].iter().find_map(|mark| rest.strip_prefix(mark))?;
    let counted = rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(" fail");
    (!counted && rest != "failing tests:").then(|| untimed(rest))
}

/// `(fail) auth > greets by name [0.12ms]`
fn bun(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("(fail) ").map(untimed)
}

/// `rspec ./spec/auth_spec.rb:12 # Auth greets by name`
fn rspec(line: &str) -> Option<&str> {
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

/// `2/3 Test #2: greets_by_name ...***Failed    0.01 sec`
fn ctest(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" Test #").filter(|(count, _)| count.contains('/'))?;
    let (_, rest) = rest.split_once(": ")?;
    let (name, end) = rest.split_once("***")?;
    let failed = ["Failed", "Exception", "Timeout", "Not Run"].iter().any(|word| end.starts_with(word));
    failed.then(|| name.trim_end_matches(['.', ' ']))
}
