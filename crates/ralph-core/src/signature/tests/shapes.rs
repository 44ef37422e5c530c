use super::*;

#[track_caller]
fn all_are_errors(lines: &[&str]) {
    let unseen: Vec<_> = lines.iter().filter(|line| !has_error_shape(line)).collect();
    assert!(unseen.is_empty(), "not seen: {unseen:#?}");
}

#[track_caller]
fn none_is_an_error(lines: &[&str]) {
    let seen: Vec<_> = lines.iter().filter(|line| has_error_shape(line)).collect();
    assert!(seen.is_empty(), "seen: {seen:#?}");
}

#[test]
fn rust_errors_are_seen() {
    all_are_errors(&[
        "error[E0308]",
        "error[E0308]: mismatched types",
        "\u{1b}[0m\u{1b}[1m\u{1b}[38;5;9merror[E0425]\u{1b}[0m: cannot find value `x` in this scope",
        "error: could not compile `a` (lib) due to 2 previous errors; 1 warning emitted",
        "error: no such command: `foo`",
        "error: test failed, to rerun pass `--lib`",
        "thread 'main' panicked at src/main.rs:3:5:",
        "thread 'tests::it_works' (4711) panicked at src/lib.rs:10:9:",
        "panicked at src/lib.rs:10:9:",
        "assertion `left == right` failed",
        "called `Result::unwrap()` on an `Err` value: Os { code: 2 }",
        "test auth::login ... FAILED",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored",
        "        FAIL [   0.005s] (1/2) ralph-core time::x",
        "Error: Os { code: 2, kind: NotFound }",
    ]);
}

#[test]
fn c_errors_are_seen() {
    all_are_errors(&[
        "file.c:3:5: error: 'x' undeclared",
        "x.c:3:5: error:",
        "main.c:1:10: fatal error: stdio.h: No such file or directory",
        "src/a.cpp(12): error C2065: 'x': undeclared identifier",
        "collect2: error: ld returned 1 exit status",
        "clang: error: linker command failed with exit code 1",
        "/usr/bin/ld: a.o: undefined reference to `foo'",
        "x.c:(.text+0x5): undefined reference to `foo'",
        "a.out: x.c:3: main: Assertion `x' failed.",
        "terminate called after throwing an instance of 'std::out_of_range'",
        "Segmentation fault",
        "Segmentation fault (core dumped)",
        "./run.sh: line 3: 12345 Segmentation fault      (core dumped) ./a.out",
        "make: *** [Makefile:2: all] Error 1",
        "make[1]: *** No rule to make target 'x'.  Stop.",
        "FAILED: CMakeFiles/a.dir/a.c.o",
        "ninja: build stopped: subcommand failed.",
        "CMake Error at CMakeLists.txt:3 (find_package):",
    ]);
}

#[test]
fn python_errors_are_seen() {
    all_are_errors(&[
        "Traceback (most recent call last):",
        "TypeError:",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "Exception: it broke",
        "AssertionError",
        "E   TypeError: x",
        "E       assert 1 == 2",
        "tests/test_a.py:5: AssertionError",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "tests/test_a.py::test_b FAILED                     [ 50%]",
        "ERROR tests/test_a.py - ImportError",
        "FAILED (failures=1)",
        "FAIL: test_b (a.Test)",
        "python: can't open file 'x.py': [Errno 2] No such file or directory",
        "2025-01-02 03:04:05,678 ERROR app: lost the database",
    ]);
}

#[test]
fn javascript_errors_are_seen() {
    all_are_errors(&[
        "TypeError: Cannot read properties of undefined (reading 'x')",
        "Uncaught ReferenceError: x is not defined",
        "Error: Cannot find module './x'",
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
        "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
        "src/a.ts(12,5): error TS2322: Type 'string' is not assignable",
        "src/a.ts:12:5 - error TS2322: Type 'string' is not assignable",
        "error TS18003: No inputs were found",
        "  10:5  error  'x' is not defined  no-undef",
        "npm ERR! code ELIFECYCLE",
        "npm error code ERESOLVE",
        "npm error Missing script: \"build\"",
        "error Command failed with exit code 1.",
        "ERROR in ./src/a.js 3:5",
        "FAIL src/a.test.js",
        " FAIL  src/a.test.ts > greets by name",
        "  ● Login › greets by name",
        "    ✕ greets by name (3 ms)",
        "not ok 2 - greets by name",
        "> TypeError: quoted",
    ]);
}

#[test]
fn go_java_and_other_errors_are_seen() {
    all_are_errors(&[
        "./main.go:5:2: undefined: x",
        "./main.go:3:8: \"os\" imported and not used",
        "main.go:5:2: declared and not used: x",
        "panic: runtime error: index out of range [3] with length 3",
        "fatal error: all goroutines are asleep - deadlock!",
        "--- FAIL: TestLogin (0.00s)",
        "FAIL\texample.com/a\t0.003s",
        "FAIL",
        "Exception in thread \"main\" java.lang.NullPointerException",
        "java.lang.IllegalStateException: not ready",
        "Caused by: java.io.IOException: closed",
        "Main.java:5: error: cannot find symbol",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin",
        "BUILD FAILED in 3s",
        "FAILURE: Build failed with an exception.",
        "LoginTest > greetsByName() FAILED",
        "> Task :test FAILED",
        "Unhandled exception. System.InvalidOperationException: x",
        "x.rb:3:in 'f': undefined method 'y' for nil (NoMethodError)",
        "PHP Fatal error: Uncaught Error: x",
        "API Error: Request rejected (429)",
    ]);
}

#[test]
fn git_and_shell_errors_are_seen() {
    all_are_errors(&[
        "fatal:",
        "fatal: not a git repository (or any of the parent directories): .git",
        "error: failed to push some refs to 'origin'",
        " ! [rejected]        main -> main (fetch first)",
        "CONFLICT (content): Merge conflict in a.txt",
        "bash: foo: command not found",
        "bash: line 1: foo: command not found",
        "zsh: command not found: foo",
        "/bin/sh: 1: foo: not found",
        "ls: cannot access 'x': No such file or directory",
        "cat: x: Permission denied",
        "curl: (6) Could not resolve host: example.com",
    ]);
}

#[test]
fn prose_about_errors_is_none() {
    none_is_an_error(&[
        "added error handling",
        "added exception handling",
        "Error handling: done in all three modules",
        "Error handling was added.",
        "I fixed the TypeError: it came from a missing check",
        "I fixed the `error[E0308]: mismatched types`",
        "The build no longer prints error: could not compile",
        "- TypeError: fixed by a guard",
        "The test FAILED because of the path",
        "FAILED to convince anyone",
        "All tests FAILED before, none now",
        "Note: command not found is gone",
        "the thread panicked at startup",
        "Segmentation fault handling is done",
        "src/lib.rs:12: error handling was added here",
        "src/lib.rs:12:5: now returns an error",
        "npm error messages are shown now",
        "fatal errors now stop the loop",
        "ERROR HANDLING COMPLETE",
        "this is not okay, not ok at all",
        "ErrorKind: new variants",
        "error in: the parser",
        "make: it builds",
        "test fails_on_error ... ok",
        "not ok 3 - flaky # TODO later",
    ]);
}

#[test]
fn data_and_source_code_are_none() {
    none_is_an_error(&[
        "\"is_error\": false",
        "\"is_error\":false,",
        "\"error\": null",
        "{\"type\":\"result\",\"is_error\":false}",
        "error: null",
        "error: String,",
        "  error: err.message,",
        "error: {",
        "onError: (e) => retry(e)",
        "raise TypeError(\"x\")",
        "if error[i] {",
        "return Err(Error::Io)",
        "2025-01-02 03:04:05 INFO no error",
    ]);
}

#[test]
fn no_error_is_none() {
    none_is_an_error(&[
        "0 errors",
        "no errors",
        "No errors found.",
        "error: none",
        "Error: None.",
        "**Errors:** none",
        "errors: 0",
        "ERROR: 0",
        "error: no errors",
        "Found 0 errors.",
        "0 errors, 3 warnings",
        "test result: ok. 3 passed; 0 failed",
        "",
        "   ",
    ]);
}

#[test]
fn errors_are_seen_behind_what_build_tools_put_before_them() {
    all_are_errors(&[
        "[BUILD] Link: error: undefined reference to 'main'",
        "[build] src/main.c:3:5: error: 'x' undeclared",
        "[cargo] error[E0308]: mismatched types",
        "[web:build] error TS2322: Type 'string' is not assignable",
        "[vite] Internal: Error: failed to resolve import",
        "[12:00:01] [BUILD] error: linking failed",
        "[BUILD]: error: linking failed",
        "[CI] [web] TypeError: x is not a function",
        "[ninja] FAILED: CMakeFiles/a.dir/a.c.o",
        "12:00:01 ERROR foo: error: x",
        "12:00:01 error: no such file",
        "2026-11-18T12:00:01Z Link: error: cannot find -lfoo",
        "[2026-11-18 12:00:01] ERROR: lost the database",
        "LINK : fatal error LNK1120: 1 unresolved externals",
        "LD: error: undefined symbol: main",
        "web-1  | TypeError: Cannot read properties of undefined",
        "api_1 | error: relation \"users\" does not exist",
        "@acme/web:build: src/a.ts(3,5): error TS2322: Type 'string' is not assignable",
        "web:test: FAIL src/a.test.js",
        "#12 3.456 error: failed to run custom build command",
        "##[error]Process completed with exit code 1.",
        "::error file=src/a.rs,line=3::mismatched types",
        " ERR_PNPM_NO_SCRIPT  Missing script: build",
        " ELIFECYCLE  Command failed with exit code 1.",
        "time=\"2026-11-18T12:00:01Z\" level=error msg=\"no such image\"",
        "stderr: fatal: not a git repository",
        "npm ERR! missing script: build",
        "npm ERR! code ELIFECYCLE",
        "[ERROR] COMPILATION ERROR :",
        "[stderr] bash: foo: command not found",
    ]);
}

#[test]
fn prose_and_reports_behind_a_tag_are_none() {
    none_is_an_error(&[
        "[x] error: handled in the parser",
        "[ ] TypeError: still to do",
        "[BUILD] Compiling...",
        "[BUILD] Link: ok",
        "[BUILD] Link: error: none",
        "[BUILD] no error was found",
        "[info] error handling is in place",
        "[note] the error: it came from the guard, and is gone",
        "Note: error: messages are shown in red now",
        "Fixed: error: could not compile",
        "Result: error handling works",
        "STATUS: error handling is complete",
        "EXIT_SIGNAL: true",
        "| error | 3 |",
        "name | error: the column is renamed",
        "I renamed a | b: error: is gone",
        "#12 fixes the error: it was a typo",
        "12:00:01 INFO error: none",
        "12:00:01 INFO the error is gone",
        "level=info msg=\"no error\"",
        "::errors are typed now",
        "[link](https://example.com) error: see there",
    ]);
}
