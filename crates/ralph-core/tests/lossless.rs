//! Made-up task files of every format, edited by chance: nothing but the bytes of the change differs. Here 1,000 files of
//! each format; `cargo xtask lossless` tries 20,000.

#[path = "lossless/bounds.rs"]
mod bounds;
#[path = "lossless/dice.rs"]
mod dice;
#[path = "lossless/documents.rs"]
mod documents;
#[path = "lossless/property.rs"]
mod property;

use documents::Kind;

const FILES: u64 = 1_000;

fn hold(kind: Kind) {
    (0..FILES).for_each(|seed| property::hold(kind, seed));
}

#[test]
fn feature_lists_change_in_the_bytes_of_the_change_only() {
    hold(Kind::Features);
}

#[test]
fn user_stories_change_in_the_bytes_of_the_change_only() {
    hold(Kind::UserStories);
}

#[test]
fn the_other_dialects_of_json_change_in_the_bytes_of_the_change_only() {
    [Kind::Prd2, Kind::Stories, Kind::FeatureArray].into_iter().for_each(hold);
}

#[test]
fn yaml_changes_in_the_bytes_of_the_change_only() {
    [Kind::Yaml, Kind::Completed].into_iter().for_each(hold);
}

#[test]
fn checklists_change_in_the_bytes_of_the_change_only() {
    [Kind::Checklist, Kind::Plan].into_iter().for_each(hold);
}

#[test]
fn every_format_is_tried() {
    assert_eq!(documents::KINDS.len(), 9);
}
