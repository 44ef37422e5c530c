use super::*;

#[test]
fn every_value_of_the_table_is_a_value_of_its_key() {
    for profile in &PROFILES {
        let policy = profile.policy();
        for (name, value) in profile.rows() {
            let key = key(name).unwrap_or_else(|| panic!("no key {name}"));
            assert_eq!((key.get)(&policy), value, "{} of {}", name, profile.name);
        }
    }
}

/// What the profiles promise, row by row in the words of the keys; the numbers of a row are the same in all of them.
#[test]
fn every_profile_has_the_values_that_are_specified() {
    let names = ["default", "strict", "dual", "rotations", "analyzer", "worker", "phases"];
    assert_eq!(PROFILES.map(|profile| profile.name), names);
    let specified = [
        ("protocol", "block block block status_file block block json"),
        ("gate", "explicit dual dual explicit explicit evidence dual"),
        ("evidence", "required required required off off required backlog"),
        ("baseline", "refuse/tolerate refuse refuse off off refuse off"),
        ("reviews", "1/3 3 0 3 0 0 0"),
        ("no_progress", "open open open off half_open off open"),
        ("no_progress_after", "3 3 3 3 3 3 3"),
        ("same_error", "open open open off open off open"),
        ("same_error_after", "5 5 5 5 5 5 5"),
        ("decline", "warn warn open off warn off open"),
        ("denials", "open open open off open open open"),
        ("denials_after", "2 2 2 2 2 2 2"),
        ("cooldown", "30m 30m 30m none none none none"),
        ("test_only", "off off off off halt off complete"),
        ("test_only_after", "3 3 3 3 3 3 3"),
        ("done_signals", "off off off off off off complete"),
        ("test_share", "off off off off off off complete"),
        ("max_iterations", "50 50 50 20 50 5 50"),
    ];
    for (name, values) in specified {
        let get = key(name).unwrap_or_else(|| panic!("no key {name}")).get;
        let found = PROFILES.map(|profile| get(&profile.policy()));
        assert_eq!(found.join(" "), values, "{name}");
    }
}

#[test]
fn the_profile_default_is_the_default_policy() {
    assert_eq!(profile("default").expect("there").policy(), Policy::default());
}

#[test]
fn one_word_for_the_baseline_is_for_goals_and_items_and_two_tell_them_apart() {
    let mut policy = Policy::default();
    for (set, goals, items, shown) in [
        ("tolerate", Baseline::Tolerate, None, "tolerate"),
        ("off/refuse", Baseline::Off, Some(Baseline::Refuse), "off/refuse"),
        ("refuse/refuse", Baseline::Refuse, None, "refuse"),
        ("refuse/tolerate", Baseline::Refuse, Some(Baseline::Tolerate), "refuse/tolerate"),
    ] {
        policy.set("baseline", set).expect("a value");
        assert_eq!((policy.baseline, policy.item_baseline), (goals, items), "{set}");
        assert_eq!((key("baseline").expect("there").get)(&policy), shown);
    }
    let wrong = policy.set("baseline", "refuse/never").expect_err("no value");
    assert!(wrong.to_string().contains("or two of them: goals/items"), "{wrong}");
    assert_eq!(policy.item_baseline, Some(Baseline::Tolerate), "as it was");
}

#[test]
fn every_key_writes_what_it_reads() {
    for profile in &PROFILES {
        let policy = profile.policy();
        let mut copy = Policy { profile: profile.name.into(), ..Policy::default() };
        for key in KEYS {
            copy.set(key.name, &(key.get)(&policy)).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(copy, policy, "{}", profile.name);
    }
}

#[test]
fn a_wrong_key_or_value_says_what_would_be_right_and_changes_nothing() {
    let mut policy = Policy::default();
    let wrong = |policy: &mut Policy, name, value| policy.set(name, value).expect_err("wrong").to_string();
    assert_eq!(wrong(&mut policy, "gates", "dual"), "there is no key 'gates'");
    assert_eq!(
        wrong(&mut policy, "gate", "both"),
        "'both' is no value for gate: one of dual, explicit, evidence"
    );
    assert_eq!(
        wrong(&mut policy, "no_progress_after", "0"),
        "'0' is no value for no_progress_after: a number from 1 on"
    );
    assert_eq!(
        wrong(&mut policy, "budget", "-1"),
        "'-1' is no value for budget: dollars, such as 5 or 0.50, or none (0 too)"
    );
    for nothing in ["0", "0.00", "$0", "none"] {
        assert_eq!(
            policy.set("budget", "3").and_then(|()| policy.set("budget", nothing)),
            Ok(()),
            "{nothing}"
        );
        assert_eq!(policy.budget.micro_usd, 0, "no limit, as with the others");
    }
    assert!(policy.set("indicators", "0").is_err());
    assert_eq!(policy, Policy::default());
}

#[test]
fn times_and_money_are_read_as_people_write_them() {
    let mut policy = Policy::default();
    for (name, value) in [("max_time", "8h"), ("budget", "$2.50"), ("cooldown", "none"), ("reviews", "2/4")] {
        policy.set(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(policy.budget, Budget { time_ms: 8 * 3_600_000, tokens: 0, micro_usd: 2_500_000 });
    assert_eq!(policy.breaker.cooldown_ms, None);
    assert_eq!(policy.reviews, ReviewPolicy { with_checks: 2, without_checks: 4 });
    assert_eq!((key("budget").expect("there").get)(&policy), "2.5");
}

#[test]
fn an_older_record_s_policy_is_read_with_today_s_defaults() {
    let old = r#"{"profile":"default","gate":"explicit","reviews":{"with_checks":1,"without_checks":3},"max_iterations":7}"#;
    let policy: Policy = serde_json::from_str(old).expect("readable");
    // Limits that came later are off: the run was decided without them.
    let limits_since = Policy {
        item_baseline: None,
        idle_timeout_ms: 0,
        keep_output: 0,
        keep_snapshots: 0,
        ..Policy::default()
    };
    assert_eq!(policy, Policy { max_iterations: 7, ..limits_since });
}
