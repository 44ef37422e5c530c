//! Seed 001's boxes, 59 columns wide. Built as lines, so that they can be tested without a terminal.

use ralph_core::decision::{Conclusion, Kind, Outcome, Stop};
use ralph_core::event::{AgentInfo, Permissions, Plan};
use ralph_core::profile::{Policy, Protocol};
use ralph_core::state::{Iteration, State};
use ralph_core::transcript::Format;
use ralph_core::view::event::RunChanges;
use ralph_core::{redact, text, time, view};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{stops, summary};
use crate::agent;
use crate::clock;

/// A terminal needs this many columns for them.
pub(super) const COLUMNS: usize = INNER + 4;
const INNER: usize = 55;
const LABEL: usize = 14;

/// What a run starts with.
pub(super) fn header(state: &State, resumed: bool) -> Vec<String> {
    let Some(run) = &state.run else { return vec![] };
    let plan = &run.plan;
    let mut lines = Vec::new();
    let mut add = |name: &str, value: &str| {
        for (at, part) in wrap(value, 60).iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            lines.push(format!("  {name:<8}{part}"));
        }
    };
    let verb = if resumed { "continued" } else { "started" };
    let (rules, most) = (by_rules(&plan.policy), limit(plan));
    add("run", &format!("{} {verb}{rules}, at most {most}", run.number));
    add("goal", &text::one_line(&run.goal, 400));
    // What was set for it once goes on with it.
    let rules = rules_set(&plan.policy);
    if !rules.is_empty() {
        add("rules", &rules.join(", "));
    }
    for agent in &plan.agents {
        add("agent", &named_agent(plan, agent));
    }
    if plan.asked().is_empty() {
        add("checks", &no_checks(state));
    }
    for check in plan.asked() {
        add("checks", &check.described());
    }
    for check in &plan.left_out {
        add("without", &check.described());
    }
    lines.push(String::new());
    lines
}

/// By which profile, where it is not the usual one.
pub(super) fn by_rules(policy: &Policy) -> String {
    match policy.profile.as_str() {
        "default" => String::new(),
        name => format!(" by profile {name}"),
    }
}

/// What other rows tell.
const TOLD_ELSEWHERE: [&str; 8] =
    ["max_iterations", "each_item", "max_time", "max_tokens", "budget", "timeout", "once", "commits"];

/// `baseline = tolerate`: each value that is not as in its profile.
pub(crate) fn rules_set(policy: &Policy) -> Vec<String> {
    let set = policy.set_apart().filter(|(name, _)| !TOLD_ELSEWHERE.contains(name));
    set.map(|(name, value)| format!("{name} = {}", text::one_line(&value, 200))).collect()
}

/// In a pool, with the name it goes by elsewhere.
pub(super) fn named_agent(plan: &Plan, agent: &AgentInfo) -> String {
    match plan.agents.len() {
        1 => describe_agent(agent),
        _ if agent.command.is_none() => describe_agent(agent),
        _ => format!("{}: {}", agent.name, describe_agent(agent)),
    }
}

/// What a run without checks rests on.
pub(super) fn no_checks(state: &State) -> String {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let adds = match plan.is_some_and(|plan| !plan.checks.is_empty()) {
        true => "--set evidence=required runs those that are set",
        false => "--test-cmd CMD adds one",
    };
    if plan.is_some_and(|plan| plan.backlog.is_some()) {
        let whole = match state.reviews_needed() {
            0 => String::new(),
            // One item is no whole.
            _ if plan.is_some_and(|plan| plan.is_for_one_item()) => String::new(),
            reviews => format!(", and the whole needs {}", text::count(u64::from(reviews), "review")),
        };
        return format!("none for every item ({adds}): items are proved by their own{whole}");
    }
    let needs = match state.reviews_needed() {
        0 => "the agent's word is enough".to_owned(),
        reviews => format!("done needs {}", reviews_of_a_claim(reviews)),
    };
    format!("none ({adds}): {needs}")
}

/// `3 reviews, or 2 where the claim changed nothing`: such a claim is the first pass, but the last one is a review's.
pub(crate) fn reviews_of_a_claim(needed: u32) -> String {
    let all = text::count(needed.into(), "review");
    match needed {
        0 | 1 => all,
        _ => format!("{all}, or {} where the claim changed nothing", needed - 1),
    }
}

pub(super) fn limit(plan: &Plan) -> String {
    let iterations = match plan.policy.max_iterations {
        0 => "any number of iterations".into(),
        most if plan.limits_each_item() => format!("{} for each item", text::count(most, "iteration")),
        most => text::count(most, "iteration"),
    };
    [iterations].into_iter().chain(budgets(plan)).collect::<Vec<_>>().join(", ")
}

/// What a run may use and until when, and whether one iteration may use more.
pub(crate) fn budgets(plan: &Plan) -> Vec<String> {
    let budget = &plan.policy.budget;
    let mut parts: Vec<String> = view::budget(budget).collect();
    parts.extend(plan.until.map(|until| format!("until {}", clock::local(until, clock::now()))));
    let blind: Vec<&AgentInfo> =
        plan.agents.iter().filter(|agent| agent::may_overshoot(agent, budget)).collect();
    if !blind.is_empty() {
        let names = blind.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(" and ");
        let verb = match blind.iter().any(|agent| agent.format == Format::Auto) {
            true => "may report",
            false if blind.len() == 1 => "reports",
            false => "report",
        };
        parts.push(format!("one iteration may use more ({names} {verb} usage only at the end)"));
    }
    parts
}

pub(crate) fn describe_agent(agent: &AgentInfo) -> String {
    let mut words = match &agent.command {
        Some(command) => redact::command(command, 200),
        None => agent.name.clone(),
    };
    if let Some(model) = &agent.model {
        words.push_str(&format!(", model {}", text::one_line(model, 60)));
    }
    match agent.permissions {
        Some(Permissions::Full) => words.push_str(", full permissions"),
        Some(Permissions::Edits) => words.push_str(", may edit files"),
        Some(Permissions::Inherit) => words.push_str(", its own permissions"),
        None => {}
    }
    words
}

/// The upper half, while the agent works.
pub(super) fn begin(state: &State, iteration: &Iteration) -> Vec<String> {
    let plan = state.run.as_ref().map(|run| &run.plan);
    let whose =
        plan.and_then(|plan| Some(agent::title(plan.agent(&iteration.agent)?, plan.agents.len() > 1)));
    let name = whose.unwrap_or("Agent");
    let (doing, mark) = match iteration.kind {
        Kind::Work => ("working", ""),
        Kind::Review => ("reviewing", " [REVIEW]"),
    };
    let nth = view::nth_of(state, iteration.nth);
    let number =
        if iteration.number == iteration.nth { String::new() } else { format!(" (#{})", iteration.number) };
    let mut lines = vec![top(&format!("{name} {doing}..."))];
    lines.extend(row("Iteration:", &format!("{nth}{number}{mark}")));
    lines.extend(iteration.item.iter().flat_map(|item| row("Item:", &text::one_line(&item.named(), 300))));
    lines
}

/// A claim that changed nothing counts as a pass, and yet nobody has looked at it.
pub(super) fn to_come(last: &Iteration, conclusion: &Conclusion) -> &'static str {
    match last.kind == Kind::Work && conclusion.passes >= conclusion.passes_needed {
        true => ", by the claim itself: its review is still to come",
        false => "",
    }
}

/// The lower half, when it is known what it came to.
pub(super) fn conclude(state: &State, last: &Iteration) -> Vec<String> {
    let policy = state.run.as_ref().map(|run| &run.plan.policy);
    // Seed 001's word, by its rules.
    let unit = match policy.is_some_and(|policy| policy.protocol == Protocol::StatusFile) {
        true => "Rotation",
        false => "Iteration",
    };
    let how = match last.outcome() {
        None | Some(Outcome::Interrupted) => "interrupted",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Limited) => "not counted",
        _ => "complete",
    };
    let mut lines = vec![middle(&format!("{unit} {how}"))];
    lines.extend(row("Result:", view::result_for_people(last)));
    lines.extend(row("Files:", &view::files(last)));
    let conclusion = last.conclusion.as_ref();
    if let Some(conclusion) = conclusion.filter(|c| c.outcome == Outcome::Accepted && c.passes_needed > 0) {
        let dots: String = (0..conclusion.passes_needed.min(20))
            .map(|n| if n < conclusion.passes { '●' } else { '○' })
            .collect();
        lines.extend(row(
            "Verification:",
            &format!(
                "{}/{} [{dots}]{}",
                conclusion.passes,
                conclusion.passes_needed,
                to_come(last, conclusion)
            ),
        ));
    }
    for check in &last.checks {
        let mark = if check.passed() { "✓" } else { "✗" };
        lines.extend(row("Check:", &format!("{mark} {}", last.describe(check))));
    }
    if let Some(ended) = &last.ended {
        let failure = view::failure(state, last);
        let limit = view::limit_words(last);
        let said = limit.filter(|limit| failure.as_ref().is_none_or(|failure| !failure.contains(limit)));
        for words in failure.into_iter().chain(said) {
            lines.extend(row("Agent:", &words));
        }
        if ended.left_running() > 0 {
            lines.extend(row("Ended:", &text::count(u64::from(ended.left_running()), "background process")));
        }
        let report = &ended.report;
        let cost = report.cost_micro_usd.map(view::money);
        let tokens =
            Some(report.usage.total()).filter(|n| *n > 0).map(|n| format!("{} tokens", view::thousands(n)));
        let parts: Vec<String> =
            [Some(time::duration(ended.duration_ms)), tokens, cost].into_iter().flatten().collect();
        lines.extend(row("Used:", &parts.join(", ")));
        match &report.block {
            Some(block) => lines.extend(block.recommendation.iter().flat_map(|says| row("Says:", says))),
            None if report.sayings.is_empty() => lines.extend(row("Says:", "no report")),
            // A signal by file or a marker: the result says it.
            None => {}
        }
    }
    lines.push(bottom());
    lines
}

/// A word from beside the run, while the box is open.
pub(super) fn beside(words: &str) -> Vec<String> {
    row("You:", words)
}

/// What is worth a word while the box is open.
pub(super) fn noted(words: &str) -> Vec<String> {
    row("Note:", words)
}

/// The last box of a run.
pub(super) fn halted(state: &State, stop: &Stop, changes: Option<&RunChanges>) -> Vec<String> {
    let mut lines = vec![plain_top()];
    lines.extend(line(stops::title_of(state, stop)));
    lines.extend(stops::details(stop).iter().flat_map(|detail| line(detail)));
    for (label, value) in summary::rows(state, stop, changes) {
        lines.extend(row(label, &value));
    }
    lines.extend(row("Iterations:", &summary::iterations(state)));
    lines.extend(row("Used:", &summary::used(state)));
    lines.push(bottom());
    lines
}

fn top(title: &str) -> String {
    titled('╭', title, '╮')
}

fn middle(title: &str) -> String {
    titled('├', title, '┤')
}

fn plain_top() -> String {
    format!("  ╭{}╮", "─".repeat(INNER))
}

pub(super) fn bottom() -> String {
    format!("  ╰{}╯", "─".repeat(INNER))
}

fn titled(left: char, title: &str, right: char) -> String {
    let rest = INNER.saturating_sub(title.width() + 4);
    format!("  {left}── {title} {}{right}", "─".repeat(rest))
}

/// `│  Label:        value │`, with as many lines as the value needs.
fn row(label: &str, value: &str) -> Vec<String> {
    let parts = wrap(value, INNER - 2 - LABEL - 1);
    parts
        .iter()
        .enumerate()
        .map(|(at, part)| framed(&format!("{:<LABEL$}{part}", if at == 0 { label } else { "" })))
        .collect()
}

fn line(text: &str) -> Vec<String> {
    wrap(text, INNER - 3).iter().map(|part| framed(part)).collect()
}

fn framed(content: &str) -> String {
    let pad = (INNER - 2).saturating_sub(content.width());
    format!("  │  {content}{}│", " ".repeat(pad))
}

/// Breaks at spaces into lines of at most so many columns; a longer word is broken where it must be.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_whole(&text::one_line(text, 2000), columns)
}

/// The same for a text of any length that has no line breaks.
pub(crate) fn wrap_whole(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        let gap = usize::from(!last.is_empty());
        if last.width() + gap + word.width() <= columns {
            if gap == 1 {
                last.push(' ');
            }
            last.push_str(word);
            continue;
        }
        if !last.is_empty() {
            lines.push(String::new());
        }
        for c in word.chars() {
            let last = lines.last_mut().expect("there is always a line");
            if last.width() + c.width().unwrap_or(0) > columns {
                lines.push(c.to_string());
            } else {
                last.push(c);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_look_like_the_seed() {
        assert_eq!(top("Claude working..."), "  ╭── Claude working... ──────────────────────────────────╮");
        assert_eq!(
            row("Iteration:", "3/20"),
            ["  │  Iteration:    3/20                                   │"]
        );
        assert_eq!(
            middle("Rotation complete"),
            "  ├── Rotation complete ──────────────────────────────────┤"
        );
        assert_eq!(bottom(), "  ╰───────────────────────────────────────────────────────╯");
        assert_eq!(line("✗ BLOCKED"), ["  │  ✗ BLOCKED                                            │"]);
    }

    #[test]
    fn every_line_of_a_box_has_the_same_width_whatever_is_in_it() {
        let values = [
            "",
            "short",
            "日本語のとても長い説明文がここに入りますので折り返しが必要です。もう少し長く。",
            &"x".repeat(300),
            "a b c \u{1b}[31mred\n\nlines\ttabs",
        ];
        for value in values {
            for line in row("Says:", value).iter().chain(&line(value)) {
                assert_eq!(line.width(), COLUMNS, "{line}");
            }
        }
    }
}
