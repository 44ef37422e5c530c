use super::*;

fn now() -> Time {
    Time::from_millis(1_000_000)
}

fn pool(names: &[&str]) -> Agents {
    Agents::default().for_run(names, 7)
}

fn policy(order: Order) -> Policy {
    Policy { order, max_backoff_ms: 6000, ..Policy::default() }
}

const FAILED: Ended<'static> = Ended::Failed { why: "exit 1", progress: false };
const BROKE_DOWN: Ended<'static> = Ended::Failed { why: "exit 1", progress: true };

fn limited(until: Option<Time>) -> Ended<'static> {
    Ended::Limited { kind: LimitKind::Usage, until, why: "limit reached", progress: false }
}

fn next(agents: &Agents, policy: &Policy, at: Time) -> Next {
    agents.choose(policy, at, Kind::Work, &[]).1
}

fn wait_of(agents: &Agents, policy: &Policy, at: Time) -> Option<u64> {
    match next(agents, policy, at) {
        Next::Wait { until, .. } => Some(until.since(at)),
        _ => None,
    }
}

#[test]
fn waits_double_up_to_the_cap_and_the_fifth_failure_exhausts() {
    let policy = policy(Order::Listed);
    let mut agents = pool(&["a"]);
    let mut waits = vec![];
    for _ in 0..5 {
        agents = agents.step(&policy, now(), 0, FAILED);
        waits.push(wait_of(&agents, &policy, now()));
    }
    assert_eq!(waits, [Some(1000), Some(2000), Some(4000), Some(6000), None]);
    let nobody = Next::Nobody { failures: 5, why: "exit 1".into() };
    assert_eq!(next(&agents, &policy, now().plus(u64::MAX)), nobody);
}

#[test]
fn a_good_end_forgets_the_failures() {
    let policy = policy(Order::Listed);
    let agents = pool(&["a"]).step(&policy, now(), 0, FAILED).step(&policy, now(), 0, Ended::Fine);
    assert_eq!((agents.members[0].failures, &agents.members[0].out), (0, &None));
}

#[test]
fn whoever_breaks_down_after_work_rests_as_after_one_failure_however_often() {
    let policy = policy(Order::Listed);
    let mut agents = pool(&["a"]).step(&policy, now(), 0, FAILED).step(&policy, now(), 0, FAILED);
    for _ in 0..9 {
        agents = agents.step(&policy, now(), 0, BROKE_DOWN);
        assert_eq!((agents.members[0].failures, wait_of(&agents, &policy, now())), (0, Some(1000)));
    }
}

#[test]
fn progress_before_a_limit_ends_a_row_of_failures_and_a_limit_is_told_as_no_failure() {
    let policy = policy(Order::Listed);
    let failed = pool(&["a"]).step(&policy, now(), 0, FAILED);
    let why = |agents: &Agents| match next(agents, &policy, now()) {
        Next::Wait { why, .. } => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&failed), "a: failure 1 in a row: exit 1");
    let limited_after = |progress| {
        let limit = Ended::Limited { kind: LimitKind::Usage, until: None, why: "limit reached", progress };
        failed.step(&policy, now(), 0, limit)
    };
    assert_eq!(why(&limited_after(false)), "a: limit reached");
    let again = |progress| why(&limited_after(progress).step(&policy, now(), 0, FAILED));
    assert_eq!(again(false), "a: failure 2 in a row: exit 1");
    assert_eq!(again(true), "a: failure 1 in a row: exit 1");
}

#[test]
fn a_known_reset_is_waited_for_and_another_agent_takes_over_meanwhile() {
    let policy = policy(Order::Listed);
    let reset = now().plus(3_600_000);
    let alone = pool(&["a"]).step(&policy, now(), 0, limited(Some(reset)));
    assert_eq!(wait_of(&alone, &policy, now()), Some(3_600_000));
    assert_eq!(next(&alone, &policy, reset), Next::Agent(0));
    let two = pool(&["a", "b"]).step(&policy, now(), 0, limited(Some(reset)));
    assert_eq!(next(&two, &policy, now()), Next::Agent(1));
    assert_eq!(next(&two, &policy, reset), Next::Agent(0));
    assert_eq!(two.members[0].failures, 0, "a limit is no failure");
}

#[test]
fn a_limit_without_an_end_is_backed_off_and_ten_in_a_row_exhaust() {
    let policy = policy(Order::Listed);
    let mut agents = pool(&["a"]);
    let mut waits = vec![];
    for _ in 0..10 {
        agents = agents.step(&policy, now(), 0, limited(None));
        waits.push(wait_of(&agents, &policy, now()).map(|ms| ms / 60_000));
    }
    assert_eq!(&waits[..6], [Some(1), Some(2), Some(4), Some(8), Some(16), Some(30)]);
    assert_eq!(waits[9], None);
    let over = pool(&["a"]).step(&policy, now(), 0, limited(Some(now())));
    assert_eq!(wait_of(&over, &policy, now()), Some(60_000), "an end that is here already is none");
}

#[test]
fn a_reset_further_away_than_the_longest_wait_ends_the_run_and_says_when() {
    let policy = policy(Order::Listed);
    let agents = pool(&["a"]).step(&policy, now(), 0, limited(Some(now().plus(policy.max_wait_ms + 1))));
    let Next::Nobody { why, .. } = next(&agents, &policy, now()) else { panic!("waits") };
    assert!(why.starts_with("a is out until 1970-01-02T00:16:40.001Z: limit reached"), "{why}");
}

#[test]
fn no_credit_and_no_login_put_an_agent_out_at_once() {
    let policy = policy(Order::Listed);
    for kind in [LimitKind::Auth, LimitKind::Credit] {
        let ended = Ended::Limited { kind, until: None, why: "Invalid API key", progress: false };
        let agents = pool(&["a", "b"]).step(&policy, now(), 0, ended);
        assert_eq!(next(&agents, &policy, now()), Next::Agent(1));
        assert_eq!(agents.members[0].out.as_ref().and_then(|out| out.limit), Some(kind), "for who can help");
        let agents = agents.step(&policy, now(), 1, ended);
        let why = "a: Invalid API key; b: Invalid API key".into();
        assert_eq!(next(&agents, &policy, now()), Next::Nobody { failures: 0, why });
    }
}

#[test]
fn round_robin_takes_turns_and_skips_who_is_out() {
    let policy = policy(Order::RoundRobin);
    let mut agents = pool(&["a", "b", "c"]);
    let mut order = vec![];
    for round in 0..5 {
        let Next::Agent(agent) = next(&agents, &policy, now()) else { panic!("nobody") };
        order.push(agent);
        let ended = if round == 1 { limited(Some(now().plus(9))) } else { Ended::Fine };
        agents = agents.step(&policy, now(), agent, ended);
    }
    assert_eq!(order, [0, 1, 2, 0, 2]);
}

#[test]
fn a_random_order_is_the_same_for_the_same_seed() {
    let policy = policy(Order::Random);
    let order = |seed| {
        let mut agents = Agents::default().for_run(&["a", "b", "c"], seed);
        let mut order = vec![];
        for _ in 0..20 {
            let (after, Next::Agent(agent)) = agents.choose(&policy, now(), Kind::Work, &[]) else {
                panic!("nobody")
            };
            order.push(agent);
            agents = after;
        }
        order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert!((0..3).all(|agent| order(1).contains(&agent)));
}

#[test]
fn roles_are_kept_while_somebody_has_them() {
    let policy = policy(Order::Listed);
    let roles = [Role::Work, Role::Review];
    let agents = pool(&["a", "b"]);
    assert_eq!(agents.choose(&policy, now(), Kind::Work, &roles).1, Next::Agent(0));
    assert_eq!(agents.choose(&policy, now(), Kind::Review, &roles).1, Next::Agent(1));
    let waiting = agents.step(&policy, now(), 1, FAILED);
    assert!(
        matches!(waiting.choose(&policy, now(), Kind::Review, &roles).1, Next::Wait { .. }),
        "it comes back"
    );
    let ended = Ended::Limited { kind: LimitKind::Auth, until: None, why: "no key", progress: false };
    let gone = agents.step(&policy, now(), 1, ended);
    assert_eq!(gone.choose(&policy, now(), Kind::Review, &roles).1, Next::Agent(0), "another one does it");
}

#[test]
fn a_wait_that_no_number_can_hold_is_one_that_nobody_waits_for() {
    let policy = Policy { limit_backoff_ms: u64::MAX, backoff_ms: u64::MAX, ..policy(Order::Listed) };
    let agents = pool(&["a"]).step(&policy, now(), 0, limited(None));
    assert!(matches!(next(&agents, &policy, now()), Next::Nobody { .. }));
}

#[test]
fn a_wait_for_a_reviewer_is_never_one_into_the_past() {
    let policy = policy(Order::Listed);
    let roles = [Role::Work, Role::Review];
    let rested = pool(&["a", "b"]).step(&policy, now(), 0, limited(Some(now().plus(1))));
    let later = now().plus(1_000);
    let agents = rested.step(&policy, later, 1, limited(Some(later.plus(60_000))));
    match agents.choose(&policy, later, Kind::Review, &roles).1 {
        Next::Wait { until, why } => {
            assert_eq!(until, later.plus(60_000), "the worker's own wait is over and nothing to a review");
            assert!(why.starts_with("b: "), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let far = rested.step(&policy, later, 1, limited(Some(later.plus(policy.max_wait_ms + 1))));
    let stand_in = far.choose(&policy, later, Kind::Review, &roles).1;
    assert_eq!(stand_in, Next::Agent(0), "nobody waits that long while another one could do it");
}

#[test]
fn a_run_that_is_taken_up_again_gives_who_was_out_another_chance_but_keeps_resets() {
    let policy = policy(Order::Listed);
    let reset = now().plus(3_600_000);
    let ended = Ended::Limited { kind: LimitKind::Auth, until: None, why: "no key", progress: false };
    let agents =
        pool(&["a", "b"]).step(&policy, now(), 0, ended).step(&policy, now(), 1, limited(Some(reset)));
    let again = agents.for_run(&["b", "a", "c"], 9);
    let outs: Vec<_> =
        again.members.iter().map(|member| member.out.as_ref().and_then(|out| out.until)).collect();
    assert_eq!(outs, [Some(reset), None, None]);
    assert_eq!(again.dice, agents.dice);
    assert_eq!((agents.last, again.last), (Some(1), Some(0)), "whose turn it was goes by the name");
}

#[test]
fn a_throw_is_what_splitmix64_makes_of_its_state() {
    assert_eq!([0, 1].map(thrown), [0xE220_A839_7B1D_CDAF, 0x910A_2DEC_8902_5CC1]);
}
