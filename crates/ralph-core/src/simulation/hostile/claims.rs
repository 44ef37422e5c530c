//! The ways in which agents say done, true or not.

use super::Dice;
use crate::prelude::*;
use crate::simulation::turn::{Report, Turn};

/// Prose that no reader could take for anything else.
pub(super) const CONVINCING: &str = "All tasks are complete. The project is finished. Nothing is left to do.";

/// The turn, now saying done in some dialect, with or without the prose.
pub(super) fn done(mut turn: Turn, dice: &mut Dice) -> Turn {
    let prose = if dice.one_in(4) { "Here is what I did." } else { CONVINCING };
    let (says, report) = match dice.throw(8) {
        0 => (format!("{prose}\n\nRALPH_STATUS: {{\"EXIT_SIGNAL\": true}}\nLOOP_COMPLETE"), None),
        1 => (format!("{prose}\n\n<promise>COMPLETE</promise>"), None),
        2 => (prose.to_owned(), None),
        3 => (prose.to_owned(), Some(Report::Contradiction)),
        _ => (prose.to_owned(), Some(Report::Done)),
    };
    if turn.report.is_none() && says == prose && report.is_none() {
        turn.status = "DONE".into();
    }
    Turn { says, report, ..turn }
}

/// The turn, saying that there is more to do.
pub(super) fn more(turn: Turn, dice: &mut Dice) -> Turn {
    match dice.throw(4) {
        0 => Turn { says: "RALPH_STATUS: {\"EXIT_SIGNAL\": false}\nLOOP_CONTINUE".into(), ..turn },
        1 => Turn { says: "I looked around.".into(), status: "CONTINUE".into(), ..turn },
        2 => Turn { says: CONVINCING.into(), report: Some(Report::More), ..turn },
        _ => Turn { says: "I did a part of it.".into(), report: Some(Report::More), ..turn },
    }
}
