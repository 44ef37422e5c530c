//! What is shown before the first run in a project: where, who, what proves it, and how far it may go.

use std::ffi::OsStr;

use ralph_core::event::Plan;
use ralph_core::items::Memory;
use ralph_core::profile::{Gate, Policy};
use ralph_core::{text, time};

use crate::git::Repo;
use crate::project::Project;
use crate::store::Runs;
use crate::suggest;
use crate::trust::{self, Commands};
use crate::ui::{self, Introduction, describe_agent};
use crate::unix::names::OsStrExt as _;
use crate::work::{self, Source};

/// `new`: the branch that commits are to go to.
pub(super) fn introduction(
    project: &Project,
    goal: &str,
    plan: &Plan,
    commands: &Commands,
    new: Option<&str>,
) -> Introduction {
    let mut shown = Introduction { title: "The first run in this project".into(), ..Introduction::default() };
    let once = plan.backlog.as_ref().filter(|backlog| backlog.once);
    shown.row(
        "goal",
        match once {
            Some(backlog) if backlog.task.is_some() => {
                format!("one attempt at {}", text::one_line(goal, 400))
            }
            // `every item of FILE`, or of a phase of it: one of them is meant.
            Some(_) => {
                let whole = goal.strip_prefix("every item of ").unwrap_or(goal);
                format!("one attempt at one item of {}", text::one_line(whole, 400))
            }
            None => text::one_line(goal, 400),
        },
    );
    if let Some(items) = items(project, plan) {
        shown.row("items", items);
    }
    shown.row("folder", project.root.display().to_string());
    shown.row("branch", branch(project, plan, new));
    for agent in &plan.agents {
        let open = agent.command.is_none() && agent.permissions.is_none();
        let yours = if open { ", permissions as you choose below" } else { "" };
        shown.row("agent", format!("{}{yours}", describe_agent(agent)));
    }
    for check in plan.asked() {
        let brought = commands.iter().find(|known| known.command == check.command);
        let brought = brought.map(|known| known.source.as_str());
        let from = check.source.as_deref().or(brought).unwrap_or("your command line");
        shown.row("checks", format!("{}: {} ({from})", check.name, trust::shown(&check.command)));
    }
    let bare = unchecked(project, plan);
    if let Some(backlog) = plan.backlog.as_ref().filter(|_| plan.asked().is_empty()) {
        let own = format!("{}, ", backlog.file);
        let any = commands.iter().any(|command| command.source.starts_with(&own));
        shown.row(
            "checks",
            match (any, plan.policy.gate) {
                (true, _) => format!("those of each item{}", behind(bare)),
                (false, Gate::Evidence) => {
                    "none, and no item has any: nothing could prove one; --test-cmd CMD adds one".into()
                }
                (false, _) => format!("none, and no item has any: done is a matter of {}", words(plan)),
            },
        );
    } else if let Some(bare) = bare {
        shown.row("checks", bare);
    } else if plan.asked().is_empty() {
        shown.row("checks", format!("none: done is a matter of {}", words(plan)));
    }
    let each = if plan.limits_each_item() { " for each item" } else { "" };
    shown.row("limits", limits(plan, each, once.is_some()));
    if let Some(rules) = rules(&plan.policy) {
        shown.row("rules", rules);
    }
    shown.row("commits", commits(project, plan, new));
    shown
}

fn behind(more: Option<String>) -> String {
    more.map(|more| format!("; {more}")).unwrap_or_default()
}

/// What says done where no check does.
fn words(plan: &Plan) -> &'static str {
    let reviews = plan.policy.reviews;
    let needed = if plan.proves_by_checks() { reviews.with_checks } else { reviews.without_checks };
    if needed == 0 || plan.is_for_one_item() { "words" } else { "words and reviews" }
}

/// The items for which nothing would be run, and how many are open.
fn bare(project: &Project, plan: &Plan) -> Option<(Vec<String>, u64)> {
    // What cannot be read stops the run, with its own words.
    Source::new(&project.root, plan.backlog.as_ref()?, 0).ok()?.unchecked(plan.asked()).ok()
}

/// Whether items pass, and so are committed, of which nothing but words says that they are done.
pub(super) fn takes_claims(project: &Project, plan: &Plan) -> bool {
    plan.policy.gate != Gate::Evidence && bare(project, plan).is_some_and(|(bare, _)| !bare.is_empty())
}

/// The task file, where its marks are not committed with the items because the user has changed it and not committed that.
pub(super) fn unclean(project: &Project, plan: &Plan) -> Option<String> {
    let repo = project.repo.as_ref().filter(|_| plan.commits())?;
    let source = Source::new(&project.root, plan.backlog.as_ref()?, 0).ok()?;
    let path = source.below(&project.root).filter(|path| source.is_file() && !work::is_own(path))?;
    let theirs = repo.is_uncommitted(OsStr::from_bytes(&path)).ok()? && !work::is_as_left(project, &source);
    theirs.then(|| text::one_line(&String::from_utf8_lossy(&path), 400))
}

/// The same in a sentence, with what to do.
pub(super) fn to_commit_first(file: &str) -> String {
    // From whichever folder it is typed.
    let typed = suggest::quoted(&format!(":/{file}"));
    format!(
        "{file} has changes that are not committed, so its marks are not committed with the items; to have them \
         committed, commit it first: git add -- {typed} && git commit -m \"tasks\" -- {typed}"
    )
}

/// The items for which nothing would be run, in a sentence, where there are any.
pub(super) fn unchecked(project: &Project, plan: &Plan) -> Option<String> {
    let (bare, all) = bare(project, plan)?;
    let (have, it, is) = if bare.len() == 1 { ("has", "it", "is") } else { ("have", "they", "are") };
    let so = match plan.policy.gate {
        Gate::Evidence => format!("nothing could prove that {it} {is} done"),
        _ => format!("only {} say that {it} {is} done", words(plan)),
    };
    let (some, of) = (bare.len(), text::count(all, "open item"));
    let names = text::one_line(&bare.join(", "), 200);
    (some > 0).then(|| format!("{some} of {of} {have} no check, so {so}: {names}"))
}

/// Where the first run in a project works, for whoever was neither shown nor asked it.
pub(super) fn place_of_first(project: &Project) -> String {
    let folder = project.root.display();
    let Some(repo) = &project.repo else {
        return format!("the first run in this project: in {folder}, which is no git repository");
    };
    let branch = repo.branch_in_words().map(|branch| format!(" on branch {branch}")).unwrap_or_default();
    format!(
        "the first run in this project: in {folder}{branch}; ralph leaves files that are not committed alone"
    )
}

/// `2 of 3 open, 1 blocked`; nothing where they cannot be read, for that stops the run with its own words.
fn items(project: &Project, plan: &Plan) -> Option<String> {
    let read = Source::new(&project.root, plan.backlog.as_ref()?, 0).ok()?.read(&Memory::default());
    let blocked = read.blocked.min(read.items.open);
    let waits = if blocked > 0 { format!(", {blocked} blocked") } else { String::new() };
    let told = format!("{} of {} open{waits}", read.items.open - blocked, read.items.total);
    (read.items.total > 0).then_some(told)
}

fn commits(project: &Project, plan: &Plan, new: Option<&str>) -> String {
    match (plan.commits(), &project.repo) {
        (true, Some(repo)) => {
            let which = match plan.backlog.is_some() {
                true if takes_claims(project, plan) => {
                    "one for each item that passes, or claimed where it has no check"
                }
                true => "one for each item that passes",
                false => "one, when the goal is reached",
            };
            let unclean = unclean(project, plan);
            let without = |file| {
                format!("; without the marks in {file}, which has uncommitted changes: commit it first")
            };
            let unclean = unclean.map(without).unwrap_or_default();
            format!("{which}, {}{unclean}", place(repo, new))
        }
        (true, None) => "none, for this folder is no git repository".into(),
        _ => "ralph makes none; the agent itself may".into(),
    }
}

/// Where commits go, and how they go elsewhere.
fn place(repo: &Repo, new: Option<&str>) -> String {
    match (new, repo.branch()) {
        (Some(new), _) => format!("on {new}"),
        (None, Ok(Some(branch))) if repo.default_branch().as_ref() == Some(&branch) => {
            format!("on {branch}, the default branch; elsewhere: --branch NAME")
        }
        (None, Ok(Some(branch))) => format!("on {branch}"),
        (None, _) => "where HEAD is, which is on no branch; on one: --branch NAME".into(),
    }
}

/// What is there already, which nobody touches but the agent.
fn branch(project: &Project, plan: &Plan, new: Option<&str>) -> String {
    let Some(repo) = &project.repo else { return "none: this folder is no git repository".into() };
    let name = match repo.branch() {
        Ok(Some(name)) => name,
        _ => "detached HEAD".into(),
    };
    let name = match new.filter(|new| *new != name) {
        Some(new) => format!("{new}, which is begun on {name}"),
        None => name,
    };
    match repo.uncommitted() {
        Ok(0) => format!("{name}, nothing uncommitted"),
        Ok(files) => {
            let marks = unclean(project, plan).map(|file| format!(", but for marks in {file}"));
            let marks = marks.unwrap_or_default();
            let files = text::count(files, "uncommitted file");
            // What agents of earlier iterations left is among them.
            match Runs::of(&project.truth).last_iteration() {
                0 => format!("{name}, {files} left alone{marks}"),
                _ => format!("{name}, {files}; what of them is not an agent's is left alone{marks}"),
            }
        }
        Err(_) => name,
    }
}

/// `profile strict, tests_changed = refuse`: what is not as by default.
fn rules(policy: &Policy) -> Option<String> {
    let profile = Some(&policy.profile).filter(|name| *name != "default");
    let named = profile.map(|name| format!("profile {name}"));
    let rules: Vec<String> = named.into_iter().chain(ui::rules_set(policy)).collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}

fn limits(plan: &Plan, each: &str, once: bool) -> String {
    let policy = &plan.policy;
    let mut parts = vec![match policy.max_iterations {
        // A limit for each item counts over many such calls.
        most if once && !each.is_empty() && most > 0 => {
            format!("one attempt now, {}{each} in all", text::count(most, "iteration"))
        }
        _ if once => "one attempt".to_owned(),
        0 => "any number of iterations".to_owned(),
        most => format!("{}{each}", text::count(most, "iteration")),
    }];
    parts.push(format!("{} for each agent process", time::span(policy.agent_timeout_ms)));
    parts.extend(ui::budgets(plan));
    parts.join(", ")
}
