//! Every fact of an iteration is in: each rule takes its step, and the first in order that wants to stop, stops.

use super::begin::{Concluded, Selection, next_iteration};
use super::{halt, items as machine_items, park, stop_of};
use crate::agents::Ended;
use crate::breaker;
use crate::check::CheckResult;
use crate::decision::{Conclusion, Decision, Early, Kind, Outcome, Proof, Reason, Rules, Stop};
use crate::event::{AgentEnded, End, Measured, Plan, StopBy, is_of_judging};
use crate::evidence::{self, Evidence};
use crate::gate::{self, Words};
use crate::items::{self, Attempt, ItemAfter, Memory, ParkReason, Says, Work, all_as_red};
use crate::prelude::*;
use crate::profile::{Baseline, Gate, Protocol, Saturated, TestsChanged};
use crate::questions::ASKS;
use crate::report::IterationReport;
use crate::report::block::WorkType;
use crate::reviews;
use crate::saturation::{self, Reached};
use crate::signature::{self, ErrorSet};
use crate::state::{Iteration, State};
use crate::text;
use crate::time::Time;

/// What the words of an iteration amount to.
pub(super) fn words_of(plan: &Plan, current: &Iteration) -> Words {
    let policy = &plan.policy;
    let Some(ended) = &current.ended else { return Words::Silence };
    let after = current.after.as_ref();
    let items = after.and_then(|after| after.items);
    let judged_by = plan.checks_for(current.item.as_deref()).next();
    if policy.gate == Gate::Evidence && judged_by.is_none() && current.after.is_some() && items.is_none() {
        return Words::More { why: "there is neither a check nor a backlog to judge by".into() };
    }
    let words = gate::judge(gate_context(plan, current), &ended.report);
    match &current.item {
        Some(work) => {
            let after = after.and_then(|after| after.item.as_ref());
            in_prose(policy.protocol, work, &ended.report, items::claim(words, &ended.report, after))
        }
        None => words,
    }
}

fn gate_context(plan: &Plan, current: &Iteration) -> gate::Context {
    let policy = &plan.policy;
    gate::Context {
        gate: policy.gate,
        indicators: policy.indicators,
        review: current.kind == Kind::Review,
        has_test_check: plan.has_test_check(),
        believes_contradictions: policy.believe_contradictions,
    }
}

/// Of an iteration that counted as more work: what in its report means done, and why it was not read so.
pub fn unread_claim(plan: &Plan, iteration: &Iteration) -> Option<gate::UnreadClaim> {
    let ended = iteration.ended.as_ref().filter(|_| iteration.outcome() == Some(Outcome::More))?;
    gate::unread_claim(gate_context(plan, iteration), &ended.report)
}

/// An item that is not claimed otherwise, and that the prose reports as done where the protocol has no word for it.
fn in_prose(protocol: Protocol, work: &Work, report: &IterationReport, words: Words) -> Words {
    match words {
        Words::More { .. } if protocol == Protocol::Json && report.block.is_none() => {
            let said = items::reported_done(work, &report.last_words);
            said.map_or(words, |said| Words::done(format!("reported as done: {said}")))
        }
        words => words,
    }
}

/// Whether the words say that everything is done, whatever they were asked about.
fn declares(plan: &Plan, current: &Iteration) -> bool {
    let whole = Iteration { item: None, ..current.clone() };
    matches!(words_of(plan, &whole), Words::Done { .. })
}

/// Whether facts are to be held against the iteration: it says done, or the loop may end without saying so.
pub(super) fn wants_evidence(seen: &State, plan: &Plan, current: &Iteration) -> bool {
    let failed = current.ended.as_ref().is_none_or(|ended| ended.failure().is_some());
    let words = words_of(plan, current);
    let claims = matches!(words, Words::Done { .. });
    let polishes = || {
        let (_, reached) = saturated(seen, plan, current, claims);
        reached.is_some_and(|reached| reached.action == Saturated::Complete)
    };
    !failed && (claims || polishes())
}

pub(super) fn conclude(seen: &State, plan: &Plan, now: Time, current: &Iteration) -> Decision {
    let policy = &plan.policy;
    let Some(ended) = &current.ended else {
        return halt(seen, Stop::Error { what: "no agent ended".into() });
    };
    let failure = ended.failure();
    let failure = failure.as_deref();
    let words = &words_of(plan, current);
    let evidence = judged(seen, plan, current, words, failure);
    let outcome = outcome(ended, words, failure, &evidence);
    let counts = !matches!(outcome, Outcome::Interrupted | Outcome::Limited);
    let progress = current.progress();

    // Each rule takes its own step.
    let needed = seen.reviews_needed();
    // An agent that could not even begin has not tried the item.
    let touched =
        current.after.as_ref().and_then(|after| after.item.as_ref()).is_some_and(ItemAfter::is_touched);
    let tried = failure.is_none() || progress || touched || outcome == Outcome::Blocked;
    let attempt = current.item.as_ref().filter(|_| tried).and_then(|_| machine_items::attempt(outcome));
    let (reviews, proved) = match &current.item {
        // An item is proved by checks; reviews are for the whole.
        Some(_) => (Default::default(), false),
        None => seen.rules.reviews.step(needed, opinion(outcome, failure), progress),
    };
    let mut memory = machine_items::remembered(seen, current);
    if evidence.finds_tests_as_they_were() {
        memory.flagged.retain(|flag| !is_of_judging(flag));
    }
    // What passed without a change was done before, or nothing but words speaks for it.
    let item = current.item.as_ref().filter(|_| attempt == Some(Attempt::Passed));
    let idle = item.is_some_and(|item| memory.is_untouched(&item.id));
    let says = machine_items::says(seen, current);
    let as_red = all_as_red(&current.checks, &seen.baseline.results);
    let of_goal = current.item.is_none() && outcome == Outcome::Accepted && as_red;
    let tolerated = of_goal || item.is_some() && says == Some(Says::Red);
    let told = machine_items::is_told(seen, current, says);
    let (untouched, without_change) = (idle && !told, idle && told && !tolerated);
    let unmeasured = item.map(|item| {
        let own = item.has_own_checks();
        says == Some(Says::Green) && !own && !idle && !memory.is_tested(&item.id)
    });
    let of_goal = current.item.is_none() && plan.backlog.is_none() && outcome == Outcome::Accepted;
    let green = !current.checks.is_empty() && evidence::were_green(&current.checks, &seen.baseline.results);
    let tested = memory.goal_tested || current.changed_tests();
    let unmeasured = unmeasured.or(of_goal.then_some(green && !tested));
    let by_word = untouched || tolerated || current.checks.is_empty();
    memory.standing = match &current.item {
        Some(item) => memory.standing.begun(&item.id, &seen.baseline.results).with(&current.checks),
        None => memory.standing.with(&current.checks),
    };
    if outcome == Outcome::Accepted && plan.baseline() == Baseline::Tolerate {
        memory.standing = memory.standing.accepted(&current.checks, &seen.baseline.results);
    }
    memory.goal_tested |= current.item.is_none() && current.changed_tests();
    if let (Some(item), Some(attempt)) = (&current.item, attempt) {
        let claimed = matches!(words, Words::Done { .. });
        memory = memory.judged(&item.id, attempt, claimed && !progress);
        if attempt == Attempt::Passed {
            memory = memory.proved(item, current.after.as_ref().map(Measured::left));
            memory = match by_word {
                true => memory.claimed(untouched),
                false if without_change => memory.without_change(),
                false if unmeasured == Some(true) => memory.unmeasured(&item.id),
                false => memory,
            };
        }
    }
    if current.item.is_none() && counts {
        let again = memory.whole_refused.saturating_add(1);
        memory.whole_refused = if outcome == Outcome::Accepted { 0 } else { again };
    }
    memory.declared = counts && declares(plan, current);
    memory.declared_phase = current.phase_saying().map(|(number, _)| number).filter(|_| memory.declared);
    let accepted = outcome == Outcome::Accepted;
    let (saturation, reached) = match counts && failure.is_none() {
        true => saturated(seen, plan, current, accepted),
        false => (seen.rules.saturation, None),
    };
    let (questions, question) = match outcome {
        Outcome::More | Outcome::Silent => {
            seen.rules.questions.step(policy.questions, &ended.report.last_words, progress)
        }
        Outcome::Failed | Outcome::Limited | Outcome::Interrupted => (seen.rules.questions, None),
        _ => (Default::default(), None),
    };
    let errors = errors(ended, failure, &evidence, current);
    let (breaker, tripped) = match counts {
        true => {
            // Who claims an item without a change and without a check that could tell has not brought it any further.
            let by_words = item.is_some() && !progress && by_word;
            // A reviewer has to say something; one that does not is no different from one that stalls.
            let reviews = current.kind == Kind::Review && outcome != Outcome::Silent;
            let still = (accepted && !by_words) || reviews;
            let proved = proved || (accepted && !untouched && moved(seen, current, idle));
            let facts = breaker::Facts {
                proved,
                claimed: accepted,
                ..breaker_facts(current, ended, failure, &errors, still)
            };
            seen.rules.breaker.step(&policy.breaker, now, facts)
        }
        false => (seen.rules.breaker.clone(), vec![]),
    };
    let refused = (outcome == Outcome::Refused).then(|| refusal(&evidence));
    let parked = park::reason(
        seen,
        current,
        &park::Judged {
            outcome,
            words,
            attempt,
            question: question.as_deref(),
            why: refused.as_deref().or(failure),
            breaker: &breaker,
        },
    );
    let breaker = match (&parked, attempt) {
        (Some(ParkReason::Breaker { .. }), _) => breaker.after_parking(),
        // What the item counted goes with it, also where its breaker tripped at the same time.
        (Some(_), _) if seen.rules.breaker.is_of_item() => seen.rules.breaker.for_another_item(),
        (None, Some(Attempt::Passed)) => breaker::Breaker { parked_items: 0, ..breaker },
        _ => breaker,
    };
    let questions = if parked.is_some() { Default::default() } else { questions };
    let agents = match agent_ended(ended, outcome, failure, progress) {
        None => seen.rules.agents.clone(),
        Some(how) => seen.rules.agents.step(policy, now, place(plan, &current.agent), how),
    };
    let rules = Rules { reviews, agents, breaker, saturation, questions, items: memory };

    let mut reasons = reasons(words, failure, &evidence);
    if accepted && current.item.is_none() {
        reasons.push(Reason::new("reviews", format!("{}/{needed} passes", reviews.passes.min(needed))));
    }
    reasons.extend(tripped.iter().map(|why| Reason::new("breaker", why.clone())));
    reasons.extend(reached.iter().map(|reached| Reason::new("saturation", reached.why.clone())));
    let uncounted = uncounted(seen, plan, ended);
    reasons.extend(uncounted.iter().map(|why| Reason::new("limits", why.clone())));
    let conclusion = Conclusion {
        outcome,
        words: words.describe(),
        unasked: words.is_unasked(),
        refusal: refused,
        passes: reviews.passes.min(needed),
        // An item needs none: its checks prove it.
        passes_needed: if current.item.is_some() { 0 } else { needed },
        evidence,
        warnings: tripped
            .into_iter()
            .chain(uncounted)
            .chain(unlooked(current))
            .chain(left_marked(current))
            .collect(),
        flags: flags(seen, current),
        proof_flags: if accepted { proof_flags(plan, &rules.items, current) } else { vec![] },
        differences: differences(seen, plan, current, attempt),
        attempt,
        parked,
        untouched,
        without_change,
        tolerated,
        unmeasured,
    };

    // Checks that are green anyway speak neither for items that were only claimed nor for the whole of them.
    let telling = progress || !rules.items.is_claimed_alone() || seen.totals.files > 0;
    // Nor do those that are as red as before the run.
    let telling = telling && !as_red;
    let by = proof(plan, needed, !current.checks.is_empty(), telling);
    // The order of the rules. What remains are the limits of what comes next.
    let stop = match seen.stop_asked.filter(|by| *by != StopBy::Request) {
        Some(by) => Some(stop_of(by)),
        // In a backlog an item that is blocked is parked, and only what is about the whole stops the run.
        None => blocked(words, outcome, question)
            .filter(|_| current.item.is_none())
            .or_else(|| proved.then_some(Stop::complete(by)))
            .or_else(|| departed(plan, current, outcome))
            .or_else(|| {
                let open = rules.breaker.stopped()?;
                Some(Stop::CircuitOpen { why: open.reason, probe_at: open.probe_at })
            })
            .or_else(|| {
                reached
                    .filter(|_| conclusion.parked.is_none())
                    .map(|reached| polished(seen, plan, reached, &conclusion.evidence, telling))
            }),
    };
    let settlement = machine_items::settlement(seen, plan, current, &conclusion, &rules.items);
    let decision = match (settlement, stop) {
        (Some(settlement), stop) => Decision { rules, ..machine_items::settle(seen, settlement, stop) },
        (None, Some(stop)) => machine_items::stop_or_settle(&State { rules, ..seen.clone() }, plan, stop),
        (None, None) => {
            let concluded = Concluded { iteration: current, outcome, rules };
            next_iteration(seen, plan, now, Some(concluded), Selection::None)
        }
    };
    reasons.extend(decision.reasons);
    Decision { reasons, concluded: Some(conclusion), ..decision }
}

/// A budget that the first agent without a cost, or without tokens, makes a guess.
fn uncounted(seen: &State, plan: &Plan, ended: &AgentEnded) -> Option<String> {
    let budget = &plan.policy.budget;
    if ended.report.cost_micro_usd.is_some() || seen.totals.without_cost != 1 {
        return None;
    }
    let tokens = ended.report.usage.total() > 0;
    let agent = seen.current.as_ref().and_then(|current| plan.agent(&current.agent));
    if tokens && agent.is_some_and(|agent| agent.prices.is_some()) {
        return None;
    }
    match (budget.micro_usd > 0, budget.tokens > 0 && !tokens) {
        (false, false) => None,
        (true, false) if tokens => Some(
            "the agent told no cost, so the budget counts nothing for it; --max-tokens or --max-time would hold",
        ),
        (true, false) => Some(
            "the agent told no cost and no tokens, so the budget counts nothing for it; --max-time would hold",
        ),
        (false, true) => {
            Some("the agent told no tokens, so max_tokens counts nothing for it; --max-time would hold")
        }
        (true, true) => Some(
            "the agent told no cost and no tokens, so neither the budget nor max_tokens counts anything for it; \
             --max-time would hold",
        ),
    }
    .map(Into::into)
}

fn judged(seen: &State, plan: &Plan, current: &Iteration, words: &Words, failure: Option<&str>) -> Evidence {
    if !matches!(words, Words::Done { .. }) && !wants_evidence(seen, plan, current) {
        return Evidence::default();
    }
    let after = current.after.as_ref();
    let about_item = current.item.as_deref().map(|work| {
        let judging = after.and_then(|after| after.judging.as_ref());
        let after = after.and_then(|after| after.item.as_ref());
        let provable = plan.can_prove(work);
        items::conditions(work, after, judging, current.progress(), provable, &seen.rules.items)
    });
    evidence::judge(evidence::Context {
        needed: plan.policy.evidence,
        baseline: plan.baseline(),
        todos: plan.policy.todos,
        failure,
        checks: &current.checks,
        before: &seen.baseline.results,
        fixed: seen.rules.items.standing.fixed(),
        items: after.and_then(|after| after.items),
        task_files: after.map_or(&[], |after| &after.task_files),
        item: about_item.as_deref(),
        unchanged: plan.backlog.is_none() && is_as_it_was(seen, current),
        added_todos: after.and_then(|after| after.todos.as_ref()),
        judging: after
            .and_then(|after| after.judging.as_ref())
            .filter(|_| plan.policy.tests_changed == TestsChanged::Refuse),
    })
}

/// Whether no agent of the run has changed anything, or nothing is left of it.
fn is_as_it_was(seen: &State, current: &Iteration) -> bool {
    let Some(after) = &current.after else { return false };
    let untouched = seen.totals.is_unchanged() && !after.progress();
    let back = seen.base.as_ref().is_some_and(|base| base.tree == after.tree && base.head == after.head);
    untouched || back
}

fn outcome(ended: &AgentEnded, words: &Words, failure: Option<&str>, evidence: &Evidence) -> Outcome {
    match words {
        _ if matches!(ended.end, End::Stopped | End::Cut) => Outcome::Interrupted,
        _ if failure.is_some() && ended.report.limit.is_some() => Outcome::Limited,
        Words::Blocked { .. } => Outcome::Blocked,
        Words::Done { .. } if evidence.holds() => Outcome::Accepted,
        Words::Done { .. } => Outcome::Refused,
        _ if failure.is_some() => Outcome::Failed,
        Words::More { .. } => Outcome::More,
        Words::Silence => Outcome::Silent,
    }
}

fn opinion(outcome: Outcome, failure: Option<&str>) -> reviews::Outcome {
    match outcome {
        Outcome::Accepted => reviews::Outcome::Accepted,
        // A crash has no opinion, whatever was said before it; nor has silence.
        _ if failure.is_some() || outcome == Outcome::Silent => reviews::Outcome::NoOpinion,
        _ => reviews::Outcome::NotDone,
    }
}

/// The errors of the iteration: those of the agent, and the checks that spoke against its claim. Of an agent that broke down
/// and told none, how it ended.
fn errors(ended: &AgentEnded, failure: Option<&str>, evidence: &Evidence, current: &Iteration) -> ErrorSet {
    let mut errors = ended.report.errors.clone();
    if let Some(failure) = failure.filter(|_| errors.is_empty() && ended.end != End::TimedOut) {
        errors.errors.insert(signature::normalise(failure));
    }
    let red = current.checks.iter().filter(|check| !check.passed());
    if evidence.failures().any(|condition| condition.name.starts_with("check ")) {
        errors.errors.extend(red.map(|check| text::one_line(&check.describe(), 200)));
    }
    errors
}

fn breaker_facts<'a>(
    current: &Iteration,
    ended: &'a AgentEnded,
    failure: Option<&str>,
    errors: &'a ErrorSet,
    still: bool,
) -> breaker::Facts<'a> {
    breaker::Facts {
        progress: current.progress(),
        errors,
        words: ended.report.words,
        denied: &ended.report.denied,
        failed: failure.is_some(),
        proved: false,
        claimed: false,
        review: still,
    }
}

/// Whether checks show that a claim that was accepted brought the run further, though its own iteration changed nothing: they prove
/// an item for which files were changed, or one of them was red when it was last known, or an agent that was cut off or limited just
/// before has changed files. `idle`: no agent has changed a file for the item.
fn moved(seen: &State, current: &Iteration, idle: bool) -> bool {
    let works_on = current.item.is_some() && !idle;
    let of_the_same = |item: Option<&str>| item == current.item.as_ref().map(|item| item.id.as_str());
    let refused = seen.refusal.iter().filter(|refusal| of_the_same(refusal.item.as_deref()));
    let refused = refused.flat_map(|refusal| &refusal.checks);
    // What was red before the run tells nothing of now, once an item was proved by it.
    let before = seen.baseline.results.iter().filter(|_| seen.rules.items.passed == 0);
    let red: Vec<&CheckResult> = refused.chain(before).filter(|check| !check.passed()).collect();
    // Somebody may have named another command for the same check meanwhile.
    let was_red =
        |check: &CheckResult| red.iter().any(|red| red.command == check.command || red.name == check.name);
    let turned = current.checks.iter().any(|check| check.passed() && was_red(check));
    let unjudged = seen.last.as_ref().is_some_and(|last| {
        last.progress() && matches!(last.outcome(), Some(Outcome::Limited | Outcome::Interrupted))
    });
    !current.checks.is_empty() && (works_on || turned || unjudged)
}

/// The saturation rule's step; `accepted` says that the loop does not simply go on.
fn saturated(
    seen: &State,
    plan: &Plan,
    current: &Iteration,
    accepted: bool,
) -> (saturation::Saturation, Option<Reached>) {
    let (report, after) = (current.ended.as_ref().map(|ended| &ended.report), current.after.as_ref());
    let testing = report.and_then(|report| report.block.as_ref()?.work_type) == Some(WorkType::Testing);
    let tests_alone = after.is_some_and(|after| after.tests_alone());
    let source = after.is_some_and(|after| after.touched_source());
    let says_done = report.is_some_and(|report| report.indicators.count >= plan.policy.indicators);
    let facts = saturation::Facts {
        test_only: tests_alone || (testing && !source),
        done_signal: says_done && !accepted && current.progress(),
        review: current.kind == Kind::Review,
    };
    seen.rules.saturation.step(&plan.policy.saturation, facts)
}

/// What the end of the process means to the agent's health: nothing, if it was not its own end.
fn agent_ended<'a>(
    ended: &'a AgentEnded,
    outcome: Outcome,
    failure: Option<&'a str>,
    progress: bool,
) -> Option<Ended<'a>> {
    match (outcome, &ended.report.limit, failure) {
        (Outcome::Interrupted, ..) => None,
        (Outcome::Limited, Some(limit), _) => {
            Some(Ended::Limited { kind: limit.kind, until: ended.reset_at, why: &limit.text, progress })
        }
        // Whoever worked until its time was over did not break down.
        (_, _, Some(_)) if progress && ended.end == End::TimedOut => Some(Ended::Fine),
        (_, _, Some(why)) => Some(Ended::Failed { why, progress }),
        _ => Some(Ended::Fine),
    }
}

fn place(plan: &Plan, name: &str) -> usize {
    plan.agents.iter().position(|agent| agent.name == name).unwrap_or(usize::MAX)
}

fn blocked(words: &Words, outcome: Outcome, question: Option<String>) -> Option<Stop> {
    match words {
        Words::Blocked { why } if outcome == Outcome::Blocked => Some(Stop::Blocked { why: why.clone() }),
        _ => question.map(|question| Stop::Blocked { why: format!("{ASKS}{question}") }),
    }
}

/// Where HEAD is elsewhere, every claim about an item is refused until a person gets it back.
fn departed(plan: &Plan, current: &Iteration, outcome: Outcome) -> Option<Stop> {
    let after = current.after.as_ref().filter(|_| outcome == Outcome::Refused && !plan.is_for_one_item())?;
    after.item.as_ref()?.departed.clone().map(|why| Stop::Blocked { why })
}

/// Where the evidence holds, polishing means that the work is done; else it is a limit.
fn polished(seen: &State, plan: &Plan, reached: Reached, evidence: &Evidence, telling: bool) -> Stop {
    // What proves an item does not prove the whole.
    let open = seen.current.as_ref().is_some_and(|current| current.item.is_some());
    let judged = !evidence.conditions.is_empty() && evidence.holds() && !open;
    match reached.action {
        Saturated::Complete if judged => {
            let proof = if plan.proves_by_checks() && telling { Proof::Checks } else { Proof::None };
            let early = Early::Saturation { word: reached.word.into(), why: reached.why };
            Stop::Complete { proof, early: Some(early) }
        }
        _ => Stop::Saturated { word: reached.word.into(), why: reached.why },
    }
}

/// What a completion rests on; `checked`: commands were run for it, whoever named them; `telling`: they could speak for it.
pub(super) fn proof(plan: &Plan, reviews_needed: u32, checked: bool, telling: bool) -> Proof {
    match (telling && (plan.proves_by_checks() || checked), reviews_needed) {
        (true, _) => Proof::Checks,
        (false, 1..) => Proof::Reviews,
        (false, 0) => Proof::Words,
    }
}

/// What an agent changed of that by which claims are judged: worth a look, and a refusal only where that is asked.
fn flags(seen: &State, current: &Iteration) -> Vec<String> {
    let Some(after) = &current.after else { return vec![] };
    let about_an_item = current.item.is_some();
    let judging =
        after.judging.iter().flat_map(|judging| judging.touched().chain(judging.others_run(about_an_item)));
    let gone = machine_items::red_and_gone(seen, current);
    gone.into_iter().chain(judging).chain(put_back(current)).chain(after.flags.iter().cloned()).collect()
}

/// The same as far as a proof rests on it, whichever iteration did it.
fn proof_flags(plan: &Plan, memory: &Memory, current: &Iteration) -> Vec<String> {
    let judging = current.after.as_ref().and_then(|after| after.judging.as_ref());
    let others_run = judging.and_then(|judging| judging.others_run(current.item.is_some()));
    let excused = machine_items::failed_before(current);
    let left_out = machine_items::left_out(plan);
    memory.flagged.iter().cloned().chain(others_run).chain(excused).chain(left_out).collect()
}

/// As it was said before anybody looked whether a test was there when the run began.
fn unlooked(current: &Iteration) -> Option<String> {
    let after = current.after.as_ref().filter(|after| current.item.is_some() && after.judging.is_none())?;
    let touched: Vec<&str> = after.touched_tests().map(|change| change.path.as_str()).collect();
    let more = touched.len().saturating_sub(5);
    let names = touched.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!touched.is_empty()).then(|| format!("existing tests were changed: {names}{more}"))
}

/// Marks that stay, because nobody can tell whether the agent set them or a person since.
fn left_marked(current: &Iteration) -> Option<String> {
    let item = current.item.as_ref().filter(|_| current.is_cut())?;
    let after = current.after.as_ref()?.item.as_ref()?;
    let own = after.ticked.then(|| item.id.clone());
    let marked: Vec<String> = own.into_iter().chain(after.ticked_others.iter().cloned()).collect();
    let first = marked.first()?;
    Some(format!(
        "marked as done since ralph was cut off, by the agent or by you, and proved by nobody: {}; \
         to have it worked on: ralph backlog set {first} open",
        items::some(&marked)
    ))
}

/// What the agent did to other items, or to what its own is judged by.
fn put_back(current: &Iteration) -> Option<String> {
    current.after.as_ref()?.item.as_ref()?.describe_put_back()
}

/// Where more is claimed than was measured: in a report, by a marker, or by marks in the backlog.
fn differences(seen: &State, plan: &Plan, current: &Iteration, attempt: Option<Attempt>) -> Vec<String> {
    let Some(after) = &current.after else { return vec![] };
    let block = current.block();
    let files = block.and_then(|block| block.files).filter(|_| !after.untold);
    let files = files.filter(|files| *files > after.changed_total && after.commits == 0).map(|files| {
        format!("FILES_MODIFIED: {files}, and {} changed", text::count(after.changed_total, "file"))
    });
    let proved = u64::from(attempt == Some(Attempt::Passed));
    let tasks = block.and_then(|block| block.tasks).filter(|tasks| *tasks > proved && attempt.is_some());
    let tasks = tasks.map(|tasks| format!("TASKS_COMPLETED_THIS_LOOP: {tasks}, and {proved} proved"));
    let own = current.item.as_ref().zip(after.item.as_ref());
    let own = own.filter(|(_, item)| item.ticked && attempt != Some(Attempt::Passed) && !current.is_cut());
    let own = own.map(|(work, _)| format!("marked as done without proof, and taken back: {}", work.id));
    let others = after.item.as_ref().map_or(&[][..], |item| &item.ticked_others);
    let others = (!others.is_empty() && !current.is_cut())
        .then(|| format!("marked as done without being worked on, and taken back: {}", items::some(others)));
    // Where one attempt is all there is, parts do not stay for the next one.
    let once = plan.backlog.as_ref().is_some_and(|backlog| backlog.once);
    let failed = attempt == Some(Attempt::Failed) || (once && attempt == Some(Attempt::InProgress));
    let parts = after.item.as_ref().zip(current.item.as_ref());
    let parts = parts.filter(|(item, _)| item.in_part && failed && !current.is_cut());
    let parts = parts.map(|(_, work)| {
        format!("parts of {} that were marked as done, or its attempts, which are taken back", work.id)
    });
    let phase = phase_claim(seen, current, proved);
    [files, tasks, own, others, parts, phase].into_iter().flatten().collect()
}

/// A phase that is said to be done while items of it are open.
fn phase_claim(seen: &State, current: &Iteration, proved: u64) -> Option<String> {
    let backlog = seen.backlog.as_ref().filter(|backlog| !backlog.phases.is_empty())?;
    let (number, quote) = current.phase_saying()?;
    let Some(phase) = backlog.numbered(number) else {
        return Some(format!("{quote}, and there {}", are(backlog.phases.len() as u64, "phase")));
    };
    let worked_on = Some(&phase.name) == backlog.phase.as_ref();
    let open = phase.items.open.saturating_sub(if worked_on { proved } else { 0 });
    let name = text::one_line(&phase.name, 60);
    (open > 0).then(|| format!("{quote}, and of {name} there {} open", are(open, "item")))
}

/// `is 1 item`, `are 2 items`
fn are(count: u64, noun: &str) -> String {
    format!("{} {}", if count == 1 { "is" } else { "are" }, text::count(count, noun))
}

fn refusal(evidence: &Evidence) -> String {
    evidence.failures().map(|condition| condition.fact.as_str()).collect::<Vec<_>>().join("; ")
}

fn reasons(words: &Words, failure: Option<&str>, evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = vec![Reason::new("gate", words.describe())];
    if evidence.conditions.is_empty() {
        reasons.extend(failure.map(|failure| Reason::new("agent", failure)));
    }
    reasons
        .extend(evidence.conditions.iter().map(|condition| Reason::new("evidence", condition.fact.clone())));
    reasons
}
