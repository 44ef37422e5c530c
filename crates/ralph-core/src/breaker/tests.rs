use super::*;

const MINUTE: u64 = 60_000;

fn at(minutes: u64) -> Time {
    Time::from_millis(1_000_000_000).plus(minutes * MINUTE)
}

fn errors(text: &str) -> ErrorSet {
    ErrorSet { errors: text.split_whitespace().map(Into::into).collect() }
}

/// One iteration in a word each: `+` changed something, `-` nothing, `r` a review that changed nothing, `p` a claim that was proved,
/// `c` one that was accepted and rests on words, `e` the same error, `f` another one, `d` denied, `s` few words, `w` hardly any, `x` a crash.
fn facts(letter: char, run: impl FnOnce(Facts<'_>)) {
    let none = ErrorSet::default();
    let (same, other, denied) = (errors("E0308"), errors("E0432"), vec!["Bash".to_owned()]);
    let quiet = Facts {
        progress: false,
        errors: &none,
        words: 1000,
        denied: &[],
        failed: false,
        proved: false,
        claimed: false,
        review: false,
    };
    run(match letter {
        '+' => Facts { progress: true, ..quiet },
        '-' => quiet,
        'r' => Facts { review: true, words: 1, ..quiet },
        'p' => Facts { review: true, proved: true, claimed: true, ..quiet },
        'c' => Facts { review: true, claimed: true, ..quiet },
        'e' => Facts { progress: true, errors: &same, ..quiet },
        'f' => Facts { progress: true, errors: &other, ..quiet },
        'd' => Facts { denied: &denied, ..quiet },
        's' => Facts { words: 299, ..quiet },
        'w' => Facts { words: 1, ..quiet },
        'S' => Facts { words: 299, progress: true, ..quiet },
        'x' => Facts { failed: true, ..quiet },
        'h' => Facts { words: 300, progress: true, ..quiet },
        _ => panic!("{letter}"),
    });
}

fn stepped(mut breaker: Breaker, policy: &BreakerPolicy, script: &str, minutes: u64) -> Breaker {
    for letter in script.chars() {
        facts(letter, |facts| breaker = breaker.step(policy, at(minutes), facts).0);
    }
    breaker
}

fn check(policy: &BreakerPolicy, script: &str, circuit: Circuit, reason: Option<&str>) {
    let breaker = stepped(Breaker::default(), policy, script, 0);
    assert_eq!((breaker.circuit, breaker.reason.as_deref()), (circuit, reason), "{script}");
}

fn dual() -> BreakerPolicy {
    BreakerPolicy { decline: Trip::Open, ..BreakerPolicy::default() }
}

#[test]
fn the_thresholds_of_the_seeds_open_it_with_their_reasons() {
    use Circuit::{Closed, Open};
    let none = Some("no_progress: 3 iterations with no file changes");
    check(&dual(), "--", Closed, None);
    check(&dual(), "---", Open, none);
    check(&dual(), "--+--", Closed, None);
    check(&dual(), "--r-", Open, none);
    check(&dual(), "rrrr", Closed, None);
    check(&dual(), "xxxx", Closed, None);
    check(&dual(), "--xx", Closed, None);
    check(&dual(), "-x-x-", Open, none);
    let same = Some("same_error: 5 iterations with error: E0308");
    check(&dual(), "eeee", Closed, None);
    check(&dual(), "eeeee", Open, same);
    check(&dual(), "eeeefe", Closed, None);
    check(&dual(), "eeee+e", Closed, None);
    let shrunk = Some("output_decline: output declined by 71%");
    check(&dual(), "+++s", Open, shrunk);
    check(&dual(), "+d", Closed, None);
    check(&dual(), "+dd", Open, Some("permission_denied: 2 iterations were denied Bash"));
    check(&dual(), "d+d", Closed, None);
}

#[test]
fn words_that_shrink_while_work_is_done_are_only_a_warning() {
    let breaker = stepped(Breaker::default(), &dual(), "+++", 0);
    facts('S', |facts| {
        let (next, said) = breaker.step(&dual(), at(0), facts);
        assert_eq!(next.circuit, Circuit::Closed);
        assert_eq!(said, ["output_decline: output declined by 71%"]);
    });
    facts('h', |facts| {
        assert!(breaker.step(&dual(), at(0), facts).1.is_empty(), "70 % is not more than 70 %");
    });
    let two = stepped(Breaker::default(), &dual(), "++", 0);
    facts('w', |facts| {
        assert!(two.step(&dual(), at(0), facts).1.is_empty(), "two iterations are no measure");
        assert_eq!(breaker.step(&dual(), at(0), facts).1, ["output_decline: output declined by 100%"]);
    });
    facts('r', |facts| {
        assert!(breaker.step(&dual(), at(0), facts).1.is_empty(), "a review may be short");
    });
}

#[test]
fn a_trigger_that_is_off_says_nothing() {
    let off = BreakerPolicy {
        no_progress: Trip::Off,
        same_error: Trip::Off,
        decline: Trip::Off,
        denials: Trip::Off,
        ..BreakerPolicy::default()
    };
    check(&off, "---eeeeee+++sdddd", Circuit::Closed, None);
    let warn = BreakerPolicy { no_progress: Trip::Warn, ..off };
    check(&warn, "-----", Circuit::Closed, None);
}

#[test]
fn an_open_circuit_starts_nothing_before_the_cool_down_is_over() {
    let open = stepped(Breaker::default(), &dual(), "---", 0);
    assert_eq!((open.opened_at, open.probe_at), (Some(at(0)), Some(at(30))));
    assert_eq!(open.guard(at(29), false).expect_err("open").probe_at, Some(at(30)));
    assert_eq!(open.guard(at(30), false).expect("a probe").circuit, Circuit::HalfOpen);
    assert_eq!(open.guard(at(1), true).expect("asked for").circuit, Circuit::HalfOpen);
    let set_back = Time::from_millis(0);
    assert!(open.guard(set_back, false).is_err(), "a clock set back keeps it open");
}

#[test]
fn without_a_cool_down_only_an_asked_probe_is_allowed() {
    let policy = BreakerPolicy { cooldown_ms: None, ..dual() };
    let open = stepped(Breaker::default(), &policy, "---", 0);
    assert!(open.guard(at(1_000_000), false).is_err());
    assert!(open.guard(at(1), true).is_ok());
}

#[test]
fn a_probe_closes_by_progress_or_proof_and_opens_for_twice_as_long_by_anything_else() {
    let open = stepped(Breaker::default(), &dual(), "---", 0);
    let probe = open.guard(at(30), false).expect("a probe");
    let closed = stepped(probe.clone(), &dual(), "+", 31);
    assert_eq!((closed.circuit, closed.no_progress, closed.failed_probes), (Circuit::Closed, 0, 0));
    assert_eq!(closed.reason, None);
    let again = stepped(probe, &dual(), "-", 31);
    assert_eq!((again.circuit, again.probe_at), (Circuit::Open, Some(at(31 + 60))));
    assert_eq!(again.reason.as_deref(), Some("no_progress: 4 iterations with no file changes"));
    let proved = stepped(open.guard(at(30), false).expect("a probe"), &dual(), "p", 31);
    assert_eq!(
        (proved.circuit, proved.failed_probes),
        (Circuit::Closed, 0),
        "what is proved needs no change"
    );
    let claimed = stepped(open.guard(at(30), false).expect("a probe"), &dual(), "c", 31);
    assert_eq!((claimed.circuit, claimed.failed_probes), (Circuit::Open, 1), "words are no progress");
    let crashed = stepped(open.guard(at(30), false).expect("a probe"), &dual(), "x", 31);
    assert_eq!(crashed.circuit, Circuit::Open, "a crash is no progress either");
    let third = stepped(again.guard(at(91), false).expect("a probe"), &dual(), "-", 91);
    assert_eq!(third.probe_at, Some(at(91 + 120)));
}

#[test]
fn a_probe_that_comes_to_the_error_it_opened_for_has_made_no_progress() {
    let open = stepped(Breaker::default(), &dual(), "eeeee", 0);
    let probe = |open: &Breaker, script: &str| {
        stepped(open.guard(at(30), true).expect("a probe"), &dual(), script, 31)
    };
    let again = probe(&open, "e");
    assert_eq!((again.circuit, again.probe_at), (Circuit::Open, Some(at(31 + 60))), "for twice as long");
    assert_eq!(again.reason.as_deref(), Some("same_error: 6 iterations with error: E0308"));
    for script in ["+", "f", "p"] {
        let closed = probe(&open, script);
        assert_eq!((closed.circuit, closed.same_error), (Circuit::Closed, 0), "{script}");
    }
    let other = probe(&open, "-");
    assert_eq!(other.circuit, Circuit::Open);
    assert_eq!(
        probe(&other, "e").circuit,
        Circuit::Open,
        "a probe in between does not make it another error"
    );
    assert_eq!(probe(&open.carried(), "e").circuit, Circuit::Open, "nor does another run");
    facts('e', |facts| {
        let said = open.guard(at(30), true).expect("a probe").step(&dual(), at(31), facts).1;
        assert_eq!(said, ["the probe made no progress: it ended in the error that the circuit opened for"]);
    });
    let stalled = stepped(Breaker::default(), &dual(), "ee---", 0);
    assert_eq!(
        probe(&stalled, "e").circuit,
        Circuit::Closed,
        "it opened for want of changes, and here they are"
    );
}

#[test]
fn half_open_first_gives_one_more_iteration() {
    let policy = BreakerPolicy { no_progress: Trip::HalfOpen, ..BreakerPolicy::default() };
    check(&policy, "---", Circuit::HalfOpen, Some("no_progress: 3 iterations with no file changes"));
    check(&policy, "----", Circuit::Open, Some("no_progress: 4 iterations with no file changes"));
    check(&policy, "---+", Circuit::Closed, None);
    let half = stepped(Breaker::default(), &policy, "---", 0);
    assert_eq!(half.stopped(), None);
    assert_eq!(half.guard(at(0), false).expect("may run").circuit, Circuit::HalfOpen);
}

#[test]
fn a_new_run_inherits_an_open_circuit_and_no_counts() {
    let counting = stepped(Breaker::default(), &dual(), "--", 0);
    assert_eq!(counting.carried(), Breaker::default());
    let open = stepped(Breaker::default(), &dual(), "---", 0);
    assert_eq!(open.carried().circuit, Circuit::Open);
    assert_eq!(open.carried().probe_at, open.probe_at);
}

#[test]
fn the_cool_down_has_an_end() {
    let open = Breaker { circuit: Circuit::HalfOpen, failed_probes: 4_000_000_000, ..Breaker::default() };
    let next = stepped(open, &dual(), "-", 0);
    assert_eq!(next.probe_at, Some(at(24 * 60)));
}

#[test]
fn its_words_are_the_seed_s() {
    let words = [Circuit::Closed, Circuit::HalfOpen, Circuit::Open].map(Circuit::word);
    assert_eq!(words, ["CLOSED", "HALF_OPEN", "OPEN"]);
}

#[test]
fn of_two_triggers_the_stronger_acts_and_of_two_alike_the_first() {
    let warn = BreakerPolicy { no_progress: Trip::Warn, ..BreakerPolicy::default() };
    check(&warn, "-dd", Circuit::Open, Some("permission_denied: 2 iterations were denied Bash"));
    let both = BreakerPolicy { denials_after: 3, ..BreakerPolicy::default() };
    check(&both, "ddd", Circuit::Open, Some("no_progress: 3 iterations with no file changes"));
}

#[test]
fn the_lengths_of_words_outlive_a_probe_but_not_a_run() {
    let open = stepped(Breaker::default(), &dual(), "---", 0);
    assert_eq!(open.carried().sizes, Vec::<u64>::new());
    let closed = stepped(open.guard(at(30), false).expect("a probe"), &dual(), "+", 31);
    assert_eq!(closed.sizes, [1000, 1000, 1000]);
}

#[test]
fn a_word_of_a_person_begins_a_new_count_and_closes_nothing() {
    let counting = stepped(Breaker::default(), &dual(), "--", 0);
    assert_eq!(counting.after_a_word(), Breaker::default());
    let open = stepped(Breaker::default(), &dual(), "---", 0);
    assert_eq!(open.after_a_word(), open);
}
