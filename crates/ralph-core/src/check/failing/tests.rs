use std::vec::Vec;

use super::*;

fn failing(output: &str) -> Vec<String> {
    let mut tests = FailingTests::default();
    for chunk in output.as_bytes().chunks(7) {
        tests.feed(chunk);
    }
    tests.finish()
}

#[test]
fn names_are_found_for_each_runner() {
    for (output, names) in [
        ("running 2 tests\ntest auth::login ... FAILED\ntest auth::ok ... ok\n", &["auth::login"][..]),
        ("not ok 2 - greets by name\nok 1 - builds\nnot ok 3\n", &["greets by name"]),
        ("not ok 3 - flaky # TODO later\nnot ok 4 # SKIP no network\n", &[]),
        (
            "--- FAIL: TestLogin (0.00s)\n    --- FAIL: TestLogin/empty (0.00s)\n",
            &["TestLogin", "TestLogin/empty"],
        ),
        (
            "FAILED tests/test_auth.py::test_login - assert 1 == 2\nFAILED (failures=1)\n",
            &["tests/test_auth.py::test_login"],
        ),
        ("ERROR tests/test_auth.py - ModuleNotFoundError: no\nERROR: no\n", &["tests/test_auth.py"]),
        ("        FAIL [   0.005s] (1/2) ralph-core time::x\n", &["ralph-core time::x"]),
        ("     TIMEOUT [  60.0s] core slow::one\n", &["core slow::one"]),
        ("  \u{1b}[31m✕\u{1b}[0m greets by name (3 ms)\n", &["greets by name"]),
    ] {
        assert_eq!(failing(output), names, "{output}");
    }
}

#[test]
fn javascript_runners_are_understood() {
    let jest = " FAIL  src/auth.test.js\n  auth\n    ✓ starts (2 ms)\n    ✕ greets by name (3 ms)\n\n\
                \x20 ● auth › greets by name\n\n    expect(received).toBe(expected)\n\nTests: 1 failed, 1 passed, 2 total\n";
    assert_eq!(failing(jest), ["auth › greets by name"]);
    let vitest = " ❯ src/auth.test.ts (2 tests | 1 failed) 5ms\n   × auth > greets by name 3ms\n     → expected 1 to be 2\n\
                  ⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n FAIL  src/auth.test.ts > auth > greets by name\nAssertionError: expected 1 to be 2\n";
    assert_eq!(failing(vitest), ["src/auth.test.ts > auth > greets by name"]);
    let mocha = "  auth\n    ✔ starts\n    1) greets by name\n\n  1 passing (4ms)\n  1 failing\n\n  1) auth\n       greets by name:\n\
                 \x20    AssertionError: 1 == 2\n";
    assert_eq!(failing(mocha), ["auth greets by name"]);
    let bun = "src/auth.test.ts:\n(pass) auth > starts [0.10ms]\n(fail) auth > greets by name [0.42ms]\n\n 1 pass\n 1 fail\n";
    assert_eq!(failing(bun), ["auth > greets by name"]);
    let node = "✔ starts (0.5ms)\n✖ greets by name (1.2ms)\nℹ fail 1\n\n✖ failing tests:\n";
    assert_eq!(failing(node), ["greets by name"]);
}

#[test]
fn runners_of_the_jvm_and_dotnet_are_understood() {
    let surefire = "[INFO] Running AuthTest\n\
        [ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s <<< FAILURE! -- in AuthTest\n\
        [ERROR] AuthTest.login -- Time elapsed: 0.004 s <<< FAILURE!\n\
        [ERROR] logout(AuthTest)  Time elapsed: 0.002 s  <<< ERROR!\n\
        [ERROR] Failures: \n[ERROR]   AuthTest.login:12 expected: <1> but was: <2>\n";
    assert_eq!(failing(surefire), ["AuthTest.login", "logout(AuthTest)"]);
    let summary = "[ERROR] a.b.AuthTest.login -- Time elapsed: 0.004 s <<< FAILURE!\n\
        [ERROR] logout(a.b.AuthTest)  Time elapsed: 0.002 s  <<< ERROR!\n[ERROR] Failures: \n\
        [ERROR]   AuthTest.login:12->same:30 expected: <1> but was: <2>\n[ERROR]   AuthTest.logout:40 » NullPointer\n\
        [ERROR]   OtherAuthTest.login:7 no\n[ERROR]   symbol:   class A.b\n[ERROR]   src/A.java:12 no\n";
    assert_eq!(failing(summary), ["a.b.AuthTest.login", "logout(a.b.AuthTest)", "OtherAuthTest.login"]);
    let gradle = "> Task :test FAILED\n\nAuthTest > login() FAILED\n    java.lang.AssertionError at AuthTest.java:12\n\
                  AuthTest > Nested > by name FAILED\n2 tests completed, 2 failed\n";
    assert_eq!(failing(gradle), ["AuthTest > login()", "AuthTest > Nested > by name"]);
    let dotnet = "  Passed Greet.Tests.Starts [1 ms]\n  Failed Greet.Tests.ByName(name: \"Ada\") [12 ms]\n  Error Message:\n\
                  Failed!  - Failed:     1, Passed:     1, Total:     2\n";
    assert_eq!(failing(dotnet), ["Greet.Tests.ByName(name: \"Ada\")"]);
}

#[test]
fn ruby_php_elixir_and_ctest_are_understood() {
    let rspec = "Failures:\n\n  1) Auth greets by name\n     Failure/Error: expect(1).to eq(2)\n\nFailed examples:\n\n\
                 rspec ./spec/auth_spec.rb:12 # Auth greets by name\n";
    assert_eq!(failing(rspec), ["Auth greets by name"]);
    let minitest = "  1) Failure:\nAuthTest#test_login [test/auth_test.rb:12]:\nExpected: 2\n  Actual: 1\n\n  2) Error:\nAuthTest#test_logout:\n\
                    NameError: no\n";
    assert_eq!(failing(minitest), ["AuthTest#test_login", "AuthTest#test_logout"]);
    let phpunit = "There were 2 failures:\n\n1) Tests\\AuthTest::testLogin\nFailed asserting that 1 is 2.\n\n\
                   2) Tests\\AuthTest::testNames with data set #0 ('Ada')\nno\n\nFAILURES!\n";
    assert_eq!(
        failing(phpunit),
        ["Tests\\AuthTest::testLogin", "Tests\\AuthTest::testNames with data set #0 ('Ada')"]
    );
    let mix = "  1) test greets by name (GreetTest)\n     test/greet_test.exs:5\n     Assertion with == failed\n\n1 test, 1 failure\n";
    assert_eq!(failing(mix), ["test greets by name (GreetTest)"]);
    let ctest = "1/2 Test #1: starts ...........   Passed    0.00 sec\n2/2 Test #2: by_name ..........***Failed    0.01 sec\n\
                 50% tests passed, 1 tests failed out of 2\n\nThe following tests FAILED:\n\t  2 - by_name (Failed)\n";
    assert_eq!(failing(ctest), ["by_name"]);
}

#[test]
fn repeated_names_count_once_and_the_list_is_bounded() {
    let output: String = (0..200).map(|n| format!("test t{} ... FAILED\n", n % 100)).collect();
    assert_eq!(failing(&output).len(), MOST);
}

#[test]
fn what_libtest_shows_of_a_test_is_no_test() {
    let shown = "running 2 tests\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\ntest b ... FAILED\n--- FAIL: c (0.00s)\n\n\
                 failures:\n\n    d\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed\n\nrunning 1 test\ntest e ... FAILED\n";
    assert_eq!(failing(shown), ["a", "e"]);
}

#[test]
fn suites_that_fail_with_their_tests_are_not_named_beside_them() {
    let both = "# Subtest: auth\n    # Subtest: auth\n    not ok 1 - auth\nnot ok 1 - auth\n\
                # Subtest: hook\n    # Subtest: fine\n    ok 1 - fine\nnot ok 2 - hook\nnot ok 3 - alone\n";
    assert_eq!(failing(both), ["auth", "hook", "alone"]);
    let marked = "▶ auth\n  ✖ login (1ms)\n  ✖ later (1ms) # TODO\n✖ auth (2ms)\n▶ hook\n  ✔ fine (1ms)\n✖ hook (1ms)\n";
    assert_eq!(failing(marked), ["login", "hook"]);
}

#[test]
fn tests_of_one_name_in_two_suites_are_two() {
    let jest =
        " FAIL  a.test.js\n  a\n    ✕ works\n  b\n    ✕ works (2 ms)\n\n  ● a › works\n\n  ● b › works\n";
    assert_eq!(failing(jest), ["a › works", "b › works"]);
}

#[test]
fn a_disabled_test_of_ctest_is_none_and_those_of_googletest_are_named() {
    let ctest =
        "1/2 Test #1: off ....***Not Run (Disabled)   0.00 sec\n2/2 Test #2: on .....***Not Run   0.00 sec\n";
    assert_eq!(failing(ctest), ["on"]);
    let googletest = "[ RUN      ] Greets.ByName\n[  FAILED  ] Greets.ByName (0 ms)\n[  FAILED  ] N/Shows.All/1, where GetParam() = \"a b\" (0 ms)\n\
                      [  PASSED  ] 3 tests.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] Greets.ByName\n";
    assert_eq!(failing(googletest), ["Greets.ByName", "N/Shows.All/1"]);
}

#[test]
fn prose_is_no_test() {
    for prose in [
        "this test ... FAILED to convince\nnot okay\nFAILED to open file\n",
        "ERROR could not open a.py today\n  Failed to connect\n[ERROR] COMPILATION ERROR :\n",
        "> Task :compileJava FAILED\n  1) read the manual (soon)\nThere were 3 of us:\n1) one::two\n",
        "rspec is # a tool\n3/4 Test #3: slow ....   Passed\n",
        "not ok at all\n✖ 3 problems (2 errors, 1 warning)\n  × eslint(no-unused-vars): x\n  ● waiting\n",
        "FAIL: could not connect (to a server)\nERROR: test_x (a.B)\nFailure: of the cache\nFailure:\nin C#\n",
        "test of the cache ... FAILED\nFAIL\texample.com/a\t0.1s\n1) a::b\nFailures:\n1) none\n\nfailures:\n    none\n",
        "FAIL src/a.test.js\n  ● Console\n\n  ● Deprecation Warning:\n\nPASS src/b.test.js\n  ● ready\n",
        "There was 1 risky test:\n\n1) A::b\n\nThere was 1 failure to come:\n1) A::b\n",
    ] {
        assert_eq!(failing(prose), Vec::<String>::new(), "{prose}");
    }
}
