//! Which bytes a change may touch, told by the change alone and not by who made it: to add something takes nothing away,
//! and what is set anew is one value.

use ralph_core::backlog::Change;
use ralph_core::edit::Edit;

/// Panics where an edit takes more away than its change may, or where the new text is not the old one with these edits.
pub(crate) fn hold(change: &Change, old: &str, new: &str, edits: &[Edit], what: &str) {
    for edit in edits {
        let taken = &old[edit.range.clone()];
        assert!(may_go(change, taken, &edit.text), "{what}: takes away {taken:?} for {:?}", edit.text);
    }
    outside_is_untouched(old, new, edits, what);
}

fn may_go(change: &Change, taken: &str, put: &str) -> bool {
    match change {
        _ if taken.is_empty() => true,
        Change::Add(_) | Change::Attempt { .. } => {
            let bare: String = taken.chars().filter(|c| !c.is_whitespace()).collect();
            matches!(bare.as_str(), "[]" | "null" | "~")
        }
        Change::Increment { block_on_max, .. } => {
            let number = |text: &str| text.parse::<u64>().ok();
            number(taken).is_some_and(|count| number(put) == Some(count + 1))
                || (*block_on_max && is_one_value(taken))
        }
        Change::State { .. } | Change::Reset { .. } => is_one_value(taken),
    }
}

/// A word, a number, the mark of a box, or a text in quotation marks.
fn is_one_value(text: &str) -> bool {
    let word = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'));
    let quoted = |mark: char| {
        let inside = text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        inside.is_some_and(|inside| {
            !inside.replace("\\\\", "").replace(&format!("\\{mark}"), "").contains(mark)
        })
    };
    word || matches!(text, " " | "/") || quoted('"') || quoted('\'')
}

fn outside_is_untouched(old: &str, new: &str, edits: &[Edit], what: &str) {
    let (mut at, mut in_new) = (0, 0);
    let mut ordered: Vec<_> = edits.iter().collect();
    ordered.sort_by_key(|edit| edit.range.start);
    for edit in ordered {
        let kept = edit.range.start - at;
        assert_eq!(old[at..][..kept], new[in_new..][..kept], "{what}");
        in_new += kept;
        assert_eq!(new[in_new..][..edit.text.len()], edit.text, "{what}");
        (at, in_new) = (edit.range.end, in_new + edit.text.len());
    }
    assert_eq!(old[at..], new[in_new..], "{what}");
    let of_windows = |text: &str| text.matches("\r\n").count() == text.matches('\n').count();
    // A file of one line tells nothing about how lines end.
    if old.contains('\n') && of_windows(old) {
        assert!(of_windows(new), "line ends: {what}\n{new:?}");
    }
}
