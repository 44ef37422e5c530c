//! What a new run takes over from the last one, where both work on the same backlog. Each `run --once` is a run of its own,
//! and what an agent did must not become the user's by that: what it left uncommitted is still its work, what nobody
//! proved is still nobody's standard, and what proved an item has to hold as long as the backlog asks for it.

use std::collections::{BTreeMap, BTreeSet};

use ralph_core::check::CheckSpec;
use ralph_core::decision::{Early, Stop, TreeMark};
use ralph_core::detect;
use ralph_core::event::{Plan, When};
use ralph_core::git_text::Object;
use ralph_core::items::{BacklogPlan, Inherited, Span};
use ralph_core::state::State;

use super::paths::between;
use super::stand::{CHANGED, Stood, departed, is_astray};
use crate::project::Project;
use crate::runner::on_disk;
use crate::store::Run;
use crate::tree::{Tree, TreeError, TreeId};

/// What proved items since the whole was last proved: whether that holds together, nobody has seen yet.
pub(crate) fn proofs_apart(last: &State) -> &[CheckSpec] {
    let whole =
        last.run.as_ref().and_then(|run| run.plan.backlog.as_ref()).is_some_and(BacklogPlan::is_whole);
    match last.stop() {
        // A phase is not the whole.
        Some(Stop::Complete { early: Some(Early::Phase { .. }), .. }) => &last.rules.items.proofs,
        Some(Stop::Complete { .. } | Stop::BacklogComplete { .. }) if whole => &[],
        _ => &last.rules.items.proofs,
    }
}

/// Where the last agent left HEAD, if nobody has moved it since and it is not where the agent found it.
pub(crate) fn left_elsewhere(project: &Project, run: &Run, last: &State) -> Option<String> {
    let (repo, iteration) = (project.repo.as_ref()?, last.last.as_ref()?);
    let files = run.files(iteration.number);
    let kept = |when: When, digest: Option<&String>| {
        let path = files.stand(when);
        if path.exists() { Stood::read(&path, digest.map(String::as_str)) } else { Stood::Unknown }
    };
    let stood = kept(When::Before, iteration.noted.before.as_ref());
    if stood == Stood::Changed {
        return Some(CHANGED.to_owned());
    }
    let stood = stood.stand()?;
    let (before, after) = (iteration.before.as_ref()?, iteration.after.as_ref()?);
    let (branch, head) = (repo.branch().ok()?, repo.head().ok()?);
    let left = kept(When::After, after.stood.as_ref());
    let moved = left.stand().is_some_and(|left| left.branch != branch);
    if moved || head.as_deref() != after.left_head() {
        return None;
    }
    let (stood, before) = (stood.branch.as_deref(), before.head.as_deref());
    let (branch, head) = (branch.as_deref(), head.as_deref());
    let astray = stood != branch && is_astray(repo, stood, before, head);
    departed(repo, (stood, before), (branch, head), astray)
}

type Contents = BTreeMap<Vec<u8>, Option<Object>>;

/// The rest of what is taken over. `apart` says which paths are ralph's own business: the task file.
pub(crate) fn work(
    project: &Project,
    tree: &mut Tree,
    last: &State,
    apart: impl Fn(&[u8]) -> bool,
) -> Result<Inherited, TreeError> {
    let memory = &last.rules.items;
    let earlier = last.unproved.as_ref().filter(|_| memory.proved_tree.is_none());
    if memory.spans.is_empty() && earlier.is_none() {
        return Ok(Inherited::default());
    }
    let now = tree.snapshot()?;
    let chain: Vec<&Span> = match memory.spans.is_empty() {
        true => earlier.into_iter().collect(),
        false => memory.spans.iter().collect(),
    };
    let others = since(tree, &chain, &now.tree)?;
    let theirs = |path: &[u8]| others.contains(path) || apart(path);

    let mut unproved = before(tree, earlier.into_iter().chain(memory.unproved()))?;
    unproved.retain(|path, _| !theirs(path));
    let judged = with(tree, &now.tree, &unproved)?;

    let mut left = before(tree, &memory.spans)?;
    left.retain(|path, _| !theirs(path));
    let mut inherited = Inherited {
        unproved: (judged != now.tree).then(|| span(&judged, &now.tree)),
        flagged: memory.flagged.clone(),
        ..Inherited::default()
    };
    let Some(repo) = &project.repo else { return Ok(inherited) };
    if let Some(base) = &last.base {
        // What was the user's before it was an agent's too.
        let dirty = between(tree, &repo.tree_of(base.head.as_deref())?, &base.tree)?;
        left.retain(|path, _| !dirty.contains(path));
    }
    let Some(head) = TreeId::new(&repo.tree_of(now.head.as_deref())?) else { return Ok(inherited) };
    let uncommitted = tree.compare(&head, &now.tree)?.into_iter();
    let committed: Contents = uncommitted
        .filter(|change| left.contains_key(&change.path))
        .map(|change| (change.path, change.old))
        .collect();
    if !committed.is_empty() {
        let base = with(tree, &now.tree, &committed)?;
        inherited.left = left_for(&memory.spans, &base, &now.tree);
        inherited.base = Some(TreeMark { tree: base.to_string(), head: now.head, beside: now.beside });
        // What is proved and not committed is a standard already.
        inherited.unproved = Some(span(&judged, &now.tree));
    }
    Ok(inherited)
}

/// The checks stand for what they stood for before agents changed what nobody proved since; one that was found and is not
/// any more by such a change stays.
pub(crate) fn recipes(project: &Project, tree: &Tree, unproved: &Span, last: &Plan, plan: &mut Plan) {
    let Ok(changed) = between(tree, &unproved.from, &unproved.to) else { return };
    let Some(judged) = TreeId::new(&unproved.from) else { return };
    let on_disk = on_disk(&project.root);
    let before = |file: &str| match changed.contains(file.as_bytes()) {
        true => tree.texts(&judged, &[file.to_owned()]).ok()?.remove(file),
        false => on_disk(file),
    };
    for check in &mut plan.checks {
        *check = check.clone().with_recipe(before);
    }
    for check in &last.checks {
        let (Some(source), Some(recipe)) = (&check.source, &check.recipe) else { continue };
        let stood = detect::recipe(source, before).as_ref() == Some(recipe);
        if !stood || detect::recipe(source, &on_disk).as_ref() == Some(recipe) {
            continue;
        }
        match plan.checks.iter_mut().find(|known| known.name == check.name) {
            Some(known) if known.source.is_none() => {}
            Some(known) => known.clone_from(check),
            None => plan.checks.push(check.clone()),
        }
    }
}

fn span(from: &TreeId, to: &TreeId) -> Span {
    Span { from: from.to_string(), to: to.to_string(), item: None, earlier: false }
}

/// All of it, and every item that it was for.
fn left_for(spans: &[Span], base: &TreeId, now: &TreeId) -> Vec<Span> {
    let mut left: Vec<Span> = vec![];
    for item in spans.iter().map(|span| &span.item) {
        if left.iter().all(|known| known.item != *item) {
            let from = if left.is_empty() { base } else { now };
            left.push(Span { item: item.clone(), earlier: true, ..span(from, now) });
        }
    }
    left
}

fn with(tree: &Tree, now: &TreeId, contents: &Contents) -> Result<TreeId, TreeError> {
    match contents.is_empty() {
        true => Ok(now.clone()),
        false => tree.with(now, contents.iter().map(|(path, object)| (path.as_slice(), object.as_ref()))),
    }
}

/// What these spans changed, as it was before.
fn before<'s>(tree: &Tree, spans: impl IntoIterator<Item = &'s Span>) -> Result<Contents, TreeError> {
    let mut contents = Contents::new();
    for span in spans {
        let (Some(from), Some(to)) = (TreeId::new(&span.from), TreeId::new(&span.to)) else { continue };
        for change in tree.compare(&from, &to)? {
            contents.entry(change.path).or_insert(change.old);
        }
    }
    Ok(contents)
}

/// What was changed between the agents' turns and since.
fn since(tree: &Tree, spans: &[&Span], now: &TreeId) -> Result<BTreeSet<Vec<u8>>, TreeError> {
    let mut others = BTreeSet::new();
    for pair in spans.windows(2) {
        others.extend(between(tree, &pair[0].to, &pair[1].from)?);
    }
    if let Some(last) = spans.last() {
        others.extend(between(tree, &last.to, now.as_str())?);
    }
    Ok(others)
}
