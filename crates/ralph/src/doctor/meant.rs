//! What a run by these settings, and with no word on the command line, would do.

use std::path::Path;

use ralph_core::backlog::{Rule, validate_with};
use ralph_core::check::CheckSpec;
use ralph_core::detect::Stack;
use ralph_core::items::BacklogPlan;
use ralph_core::profile::Policy;

use super::Finding;
use crate::config::{Config, Layers};
use crate::detected::LeftOut;
use crate::project::Project;
use crate::settings::{self, Wishes};
use crate::trust::Commands;
use crate::work::{Place, TwoHands, beads};
use crate::{brought, detected, work};

#[derive(Debug)]
pub(super) struct Meant {
    pub(super) policy: Policy,
    pub(super) stacks: Vec<Stack>,
    /// With where each stands.
    pub(super) checks: Vec<(CheckSpec, String)>,
    /// What was found and cannot be run.
    pub(super) missing: Vec<LeftOut>,
    /// How it stands with the backlog; `None` where there is none.
    pub(super) backlog: Option<Finding>,
    pub(super) brought: Commands,
    /// Whether `brought` is all of it.
    pub(super) all_known: bool,
}

impl Meant {
    pub(super) fn by(project: &Project, layers: &Layers) -> Self {
        let config = layers.merged();
        let policy = policy(&config);
        let mut wishes = Wishes { detect: policy.wants_checks(), ..Wishes::default() }.over(config.clone());
        let missing = detected::look(&project.root, &mut wishes);
        let mut checks = brought::checks(&config, &wishes);
        let mut commands = brought::by_settings(&layers.project, &Wishes::default());
        commands.extend(brought::by_detection(&wishes.found));
        let (backlog, of_items) = backlog(project, &policy, &wishes, &mut checks);
        let all_known = of_items.is_some();
        commands.extend(of_items.unwrap_or_default());
        let place = |check: &CheckSpec| brought::place_of(check, &config);
        let checks = checks.iter().map(|check| (check.clone(), place(check))).collect();
        Self { policy, stacks: wishes.stacks, checks, missing, backlog, brought: commands, all_known }
    }
}

/// They were read already, so they can be set.
fn policy(config: &Config) -> Policy {
    let profile = config.profile.as_deref().and_then(|name| settings::profile(name).ok());
    let mut policy = profile.map(|profile| profile.policy()).unwrap_or_default();
    let _ = settings::set(&mut policy, &config.values);
    policy
}

/// How it stands with the task file, and what it brings, also to the checks; `None` where nobody knows.
fn backlog(
    project: &Project,
    policy: &Policy,
    wishes: &Wishes,
    checks: &mut Vec<CheckSpec>,
) -> (Option<Finding>, Option<Commands>) {
    let root = &project.root;
    let path = match work::find(root) {
        Ok(None) => return (None, Some(Commands::default())),
        Ok(Some(path)) => path,
        Err(error) => {
            let remedy = error.hints.first().cloned().unwrap_or_else(|| "ralph config show".into());
            return (Some(Finding::failed("backlog", error.what, remedy)), None);
        }
    };
    let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
    let counted = match work::items(root, &path) {
        Ok(counted) => counted,
        Err(why) => {
            let text = format!("{file} cannot be read as a backlog: {why}");
            let remedy = match beads::is_meant(&path) {
                true => "bd doctor; ralph has changed nothing",
                false => "mend the file by hand; ralph has not touched it",
            };
            return (Some(Finding::failed("backlog", text, remedy)), None);
        }
    };
    let to_add = if counted.is_empty() { "; to add one: ralph backlog add \"TITLE\"" } else { "" };
    let stands = format!("{file}: {}{to_add}", counted.told());
    let finding = fault(root, &path, &file, &stands).unwrap_or_else(|| Finding::held("backlog", stands));
    let plan = BacklogPlan { file, ..BacklogPlan::default() };
    let brought = brought::by_backlog(project, policy, &plan, wishes, checks);
    (Some(finding), brought.ok().map(|(commands, _)| commands))
}

/// What in it keeps a run from its items, or some of them; the rules of evidence are not looked at here.
fn fault(root: &Path, path: &Path, file: &str, stands: &str) -> Option<Finding> {
    let place = Place::at(root, path.to_path_buf()).ok()?;
    let bytes = place.read().ok()?;
    let backlog = place.parse(&bytes).ok()?;
    let found = validate_with(&backlog, None, false, &TwoHands).findings;
    let of = |rule: Rule| found.iter().find(move |finding| finding.rule == rule);
    if let Some(ring) = of(Rule::Cycle) {
        let remedy = format!("take one of these dependencies out of {file}");
        return Some(Finding::failed("backlog", format!("{file}: {}", ring.what), remedy));
    }
    let odd = of(Rule::Shape).or(of(Rule::Dependency))?;
    let who = odd.id.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
    let remedy = "ralph backlog validate, which names every fault";
    Some(Finding::warned("backlog", format!("{stands}; {who}{}", odd.what), remedy))
}
