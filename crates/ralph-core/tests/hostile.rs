//! Seeded runs with agents that lie, stall and break things, under every profile. `cargo xtask simulate` makes many more.
#![expect(clippy::disallowed_macros, reason = "the figures are printed, whether they please or not")]

use ralph_core::profile::{EvidenceNeeded, PROFILES};
use ralph_core::simulation::Reader;
use ralph_core::simulation::hostile::{CHARACTERS, Survey};

/// For each profile; every character is the first agent equally often.
const RUNS: u64 = 420;

#[test]
fn no_lie_completes_a_run_that_is_held_against_facts_and_every_run_ends() {
    let mut reader = Reader::default();
    for profile in PROFILES {
        let policy = profile.policy();
        let survey = Survey::of(&policy, 0..RUNS, &mut reader);
        println!("{:<10} stops {:?}", profile.name, survey.stops);
        println!("{:<10} complete {:?}, of which wrong {:?}", "", survey.complete, survey.wrong);
        assert_eq!(survey.violations, Vec::<String>::new(), "{}", profile.name);
        assert_eq!(survey.stops.values().sum::<u64>(), RUNS, "{}: every run ends", profile.name);
        assert!(survey.stops.contains_key("complete"), "{}: honest work completes", profile.name);
        assert!(survey.stops.len() > 3, "{}: they do not all end alike", profile.name);
        if policy.evidence == EvidenceNeeded::Required {
            assert_eq!(survey.falsely_proved(), 0, "{}", profile.name);
        }
    }
}

#[test]
fn a_profile_that_believes_words_is_deceived_so_the_lies_are_worth_something() {
    let analyzer = PROFILES.iter().find(|profile| profile.name == "analyzer").expect("the profile");
    let survey = Survey::of(&analyzer.policy(), 0..20 * CHARACTERS.len() as u64, &mut Reader::default());
    assert!(survey.wrong.get("words").is_some_and(|wrong| *wrong > 40), "{:?}", survey.wrong);
}
