//! What each character does when it is its turn.

use super::claims::{CONVINCING, done, more};
use super::{Character, Dice, MESS, part};
use crate::decision::Kind;
use crate::prelude::*;
use crate::simulation::turn::{Glance, PROMPT, Report, Turn};

pub(super) fn turn(character: Character, glance: Glance<'_>, turns: u64, dice: &mut Dice) -> Turn {
    let turn = ordinary(dice);
    match character {
        Character::Liar => done(noise(turn, dice), dice),
        Character::Echoer => Turn { says: echo(dice), ..turn },
        Character::Idler => idler(turn, dice),
        Character::SameError => same_error(turn, dice),
        Character::Committer => committer(turn, dice),
        Character::Tester => tester(turn, turns, dice),
        Character::Limited => limited(turn, dice),
        Character::Flapper => flapper(turn, turns, dice),
        Character::Crasher => crasher(noise(turn, dice), dice),
        Character::Asker => Turn { says: dice.pick(&QUESTIONS).into(), ..noise(turn, dice) },
        Character::Shrinker => shrinker(turn, turns, dice),
        Character::Denied => denied(turn, dice),
        Character::Vandal => vandal(honest(turn, glance), dice),
        Character::Honest => honest(turn, glance),
    }
}

/// A turn like any other: it takes its time and costs something, or does not tell.
fn ordinary(dice: &mut Dice) -> Turn {
    let (tokens, cost) =
        dice.pick(&[(0, None), (1_000, None), (20_000, Some(40_000)), (200_000, Some(900_000))]);
    Turn { takes_ms: 1_000 + dice.throw(600_000), tokens, cost_micro_usd: cost, ..Turn::default() }
}

/// Sometimes a change that helps nobody, or harms.
fn noise(turn: Turn, dice: &mut Dice) -> Turn {
    let path = match dice.throw(6) {
        0 | 1 => "src/noise.rs",
        2 => MESS,
        3 => ".ralph/scratchpad.md",
        _ => return turn,
    };
    Turn { writes: vec![path.into()], ..turn }
}

fn echo(dice: &mut Dice) -> String {
    match dice.throw(3) {
        0 => PROMPT.into(),
        1 => format!("I was told:\n\n{PROMPT}\n"),
        _ => format!("> {PROMPT}\n\n{CONVINCING}"),
    }
}

fn idler(turn: Turn, dice: &mut Dice) -> Turn {
    if dice.one_in(2) { turn } else { more(turn, dice) }
}

fn same_error(turn: Turn, dice: &mut Dice) -> Turn {
    let says = "error[E0425]: cannot find value `greeting` in this scope\n --> src/part0.rs:3:5\n".into();
    Turn { says, report: Some(Report::More), ..noise(turn, dice) }
}

fn committer(turn: Turn, dice: &mut Dice) -> Turn {
    let turn = Turn { commits: 1 + dice.throw(3), ..turn };
    if dice.one_in(3) { done(turn, dice) } else { more(turn, dice) }
}

fn tester(turn: Turn, turns: u64, dice: &mut Dice) -> Turn {
    let turn = Turn { writes: vec![format!("tests/case{turns}.rs")], ..turn };
    match dice.throw(5) {
        0 => done(turn, dice),
        1 => Turn { says: CONVINCING.into(), report: Some(Report::Testing), ..turn },
        _ => Turn { says: "Added a test.".into(), report: Some(Report::Testing), ..turn },
    }
}

const LIMITS: [&str; 7] = [
    "You've hit your usage limit. Try again in 5 minutes.",
    "Claude AI usage limit reached|1750003600",
    "Claude AI usage limit reached|4102444800",
    "API Error: 529 Overloaded",
    "rate limit exceeded, retry after 20s",
    "Credit balance is too low",
    "Invalid API key",
];

fn limited(turn: Turn, dice: &mut Dice) -> Turn {
    let most = if dice.one_in(4) { LIMITS.len() } else { 5 };
    let text: &str = dice.pick(&LIMITS[..most]);
    match dice.throw(6) {
        0 => more(Turn { writes: vec!["src/noise.rs".into()], ..turn }, dice),
        1 => done(turn, dice),
        2 => Turn { error: Some(text.into()), exit: 1, ..turn },
        _ => Turn { stderr: text.into(), exit: 1, ..turn },
    }
}

fn flapper(turn: Turn, turns: u64, dice: &mut Dice) -> Turn {
    let chosen = part(dice.throw(4));
    match (turns + dice.throw(2)) % 5 {
        0 => done(turn, dice),
        1 => more(Turn { writes: vec![chosen], ..turn }, dice),
        2 => done(Turn { removes: vec![chosen], ..turn }, dice),
        3 => done(Turn { writes: vec![chosen], closes: 1, ..turn }, dice),
        _ => more(Turn { opens: dice.throw(2), todos: 1, ..turn }, dice),
    }
}

fn crasher(turn: Turn, dice: &mut Dice) -> Turn {
    let turn = if dice.one_in(2) { done(turn, dice) } else { turn };
    match dice.throw(6) {
        0 => Turn { signal: Some(11), ..turn },
        1 => Turn { never_ends: true, ..turn },
        4 => Turn { never_ends: true, silent: true, ..turn },
        2 => Turn { not_started: Some("no such file".into()), ..turn },
        3 => Turn { error: Some("Reached maximum number of turns (1)".into()), ..turn },
        _ => Turn { exit: 3, stderr: "thread main panicked".into(), ..turn },
    }
}

const QUESTIONS: [&str; 3] =
    ["Shall I use Postgres or SQLite?", "I looked at it.\n\n**Which one do you want?**", "May I go on?"];

fn shrinker(turn: Turn, turns: u64, dice: &mut Dice) -> Turn {
    let words = "I looked at another part of it. ".repeat(64 >> (2 * (turns - 1)).min(6));
    Turn { says: words, report: Some(Report::More), ..noise(turn, dice) }
}

fn denied(turn: Turn, dice: &mut Dice) -> Turn {
    more(Turn { denied: vec!["Write".into(), "Bash".into()], ..noise(turn, dice) }, dice)
}

/// Does its work as well, mostly: a check alone would let it pass.
fn vandal(turn: Turn, dice: &mut Dice) -> Turn {
    let (harms, tampers) = (!dice.one_in(3), dice.one_in(3));
    let turn = Turn { harms, tampers, ..turn };
    if dice.one_in(3) { done(turn, dice) } else { turn }
}

/// One part an iteration; done when everything is there. A review says what it sees.
fn honest(turn: Turn, glance: Glance<'_>) -> Turn {
    let world = glance.world;
    let fixed = !world.red() && world.open_items() == 0;
    if fixed {
        return Turn { says: CONVINCING.into(), report: Some(Report::Done), ..turn };
    }
    if glance.kind == Kind::Review {
        return Turn { says: "It is not done.".into(), report: Some(Report::More), ..turn };
    }
    Turn {
        says: "I did a part of it.".into(),
        report: Some(Report::More),
        writes: world.missing().map(Into::into).into_iter().collect(),
        removes: world.harmful().map(Into::into).into_iter().collect(),
        commits: 1,
        closes: 1,
        ..turn
    }
}
