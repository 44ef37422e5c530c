//! What was replayed, for people.

use ralph_core::decision::{Outcome, Reason, Verdict};
use ralph_core::replay::{Agreement, Came, Divergence, Side, Told, Turn};
use ralph_core::text::{count, one_line};
use ralph_core::view;

use super::{Replayed, Saved, Shown};
use crate::settings::OtherRules;

impl Shown<'_> {
    pub(super) fn lines(&self) -> Vec<String> {
        let number = self.number;
        if self.info.is_none() {
            return vec![format!("run {number} was never begun: there is nothing to replay")];
        }
        let state = &self.opened.state;
        let ended = state
            .stop()
            .map_or("not at its end".into(), |stop| format!("stopped: {}", view::ended(state, stop)));
        let mut lines =
            vec![format!("run {number}, {}, {}", count(state.used, "iteration"), one_line(&ended, 600))];
        lines.extend(self.opened.problems.iter().map(|problem| format!("journal: {problem}")));
        match self.replayed {
            Replayed::Unchanged(agreement) => agreed(agreement, &mut lines),
            Replayed::Changed(rules, told) => {
                lines.push(format!("under {}: {}", named(rules), came(told)));
                lines.extend(self.remarks());
                if let Some(divergence) = &told.divergence {
                    diverged(divergence, &mut lines);
                }
                lines.extend(Saved::of(told).map(|saved| saved.line()));
            }
        }
        lines
    }
}

fn agreed(agreement: &Agreement, lines: &mut Vec<String>) {
    let Some(found) = &agreement.disagreement else {
        lines.push(format!("decided again: {}, all as recorded", count(agreement.steps, "step")));
        return;
    };
    lines.push(format!(
        "decided again: iteration {} (#{}), record {}, comes out otherwise: {}",
        found.nth,
        found.number,
        found.seq,
        found.parts.join(", ")
    ));
    lines.push(format!("  recorded by version {}", clean(&found.version)));
    lines.extend(reasons(&found.recorded));
    lines.push(format!("  decided by version {}", env!("CARGO_PKG_VERSION")));
    lines.extend(reasons(&found.decided));
}

/// `profile strict, reviews=2`
fn named(rules: &OtherRules) -> String {
    let profile = rules.profile().map(|name| format!("profile {name}"));
    let values = rules.values().iter().map(|value| format!("{}={}", value.key, value.value));
    profile.into_iter().chain(values).collect::<Vec<_>>().join(", ")
}

fn came(told: &Told) -> String {
    let now = &told.replayed;
    match &told.came {
        Came::CannotBeTold { why } => format!("cannot be told: {}", clean(why)),
        Came::GoesOn => format!("goes on after iteration {}", told.recorded.iterations),
        Came::Stops => stops(now),
        Came::Same if now.stop.is_none() => "goes on, as far as the record tells".into(),
        Came::Same if told.divergence.is_some() => {
            format!("{}, as the record ends too, by another way", stops(now))
        }
        Came::Same => format!("{}, like the record", stops(now)),
    }
}

fn stops(side: &Side) -> String {
    let why = side.stop.as_ref().map(|stop| clean(&stop.to_string())).unwrap_or_default();
    match side.iterations {
        0 => format!("stops before the first iteration: {why}"),
        n => format!("stops after iteration {n}: {why}"),
    }
}

fn diverged(divergence: &Divergence, lines: &mut Vec<String>) {
    let Divergence { recorded, replayed } = divergence;
    lines.push(format!(
        "first divergence: iteration {} (#{}), record {}",
        replayed.nth, replayed.number, replayed.seq
    ));
    // Said where it is what they differ in.
    let other = |turn: &Turn| {
        recorded
            .as_ref()
            .is_some_and(|recorded| recorded.outcome != replayed.outcome)
            .then(|| turn.outcome.map(outcome))
            .flatten()
            .map_or_else(String::new, |word| format!("{word}, "))
    };
    match recorded {
        Some(turn) => side("recorded", &other(turn), turn, lines),
        None => lines.push("  recorded: nothing any more".into()),
    }
    side("replayed", &other(replayed), replayed, lines);
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "the claim is accepted",
        Outcome::Refused => "the claim is refused",
        Outcome::More => "more work is announced",
        Outcome::Silent => "nothing is claimed",
        Outcome::Blocked => "the agent is blocked",
        Outcome::Failed => "the agent failed",
        Outcome::Limited => "the agent met a limit",
        Outcome::Interrupted => "the iteration was interrupted",
    }
}

fn side(name: &str, outcome: &str, turn: &Turn, lines: &mut Vec<String>) {
    let what = match (turn.verdict, &turn.stop, &turn.next) {
        (_, Some(stop), _) => format!("stops, {}", stop.word()),
        (_, None, Some((kind, agent))) => format!("goes on with {} by {}", kind.word(), clean(agent)),
        (Verdict::Wait, ..) => "waits".into(),
        _ => "goes on".into(),
    };
    lines.push(format!("  {name}: {outcome}{what}"));
    lines.extend(reasons(&turn.reasons));
}

fn reasons(reasons: &[Reason]) -> impl Iterator<Item = String> + '_ {
    reasons.iter().map(|reason| format!("    {}: {}", reason.rule, clean(&reason.text)))
}

fn clean(text: &str) -> String {
    one_line(text, 300)
}

impl Saved {
    fn line(&self) -> String {
        if self.at_least {
            let more = count(self.iterations.unsigned_abs(), "more iteration");
            return format!("at least {more}; what that would have cost cannot be known");
        }
        let mut parts = vec![count(self.iterations.unsigned_abs(), "iteration")];
        parts.extend(
            self.micro_usd.filter(|saved| *saved != 0).map(|saved| view::money(saved.unsigned_abs())),
        );
        let tokens = self.tokens.filter(|saved| *saved != 0);
        parts.extend(tokens.map(|saved| format!("{} tokens", view::thousands(saved.unsigned_abs()))));
        match self.iterations {
            0 => "saves nothing".into(),
            1.. => format!("saves {}", parts.join(", ")),
            _ => format!("adds {}", parts.join(", ")),
        }
    }
}
