//! From what the user said to a settled plan.

pub(crate) mod pool;

use ralph_core::check::CheckSpec;
use ralph_core::detect::Stack;
use ralph_core::event::{AgentInfo, Plan};
use ralph_core::items::BacklogPlan;
use ralph_core::profile::{self, EvidenceNeeded, Gate, Policy, Profile, WrongValue};
use ralph_core::time::Time;

use crate::agent;
use crate::clock;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::suggest;

pub use pool::{AgentWishes, For};

/// What the command line says; what it does not say is `None`.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    pub agent: AgentWishes,
    pub profile: Option<String>,
    /// Keys of the policy and their values, with what the user wrote to set them.
    pub values: Vec<Value>,
    /// Commands by the name of their check, in the order they run.
    pub checks: Vec<(&'static str, String)>,
    /// The task file that is to be worked through, with what is meant of it.
    pub backlog: Option<BacklogPlan>,
    /// Go on to the next item, also where the profile makes one attempt.
    pub all: bool,
    /// Commit what reached the goal.
    pub commit: bool,
    /// When the run is to end, by the clock.
    pub until: Option<Time>,
    /// Look for checks that nobody names.
    pub detect: bool,
    /// What was found then; checks of these names that somebody names win.
    pub found: Vec<CheckSpec>,
    /// What the project is written in.
    pub stacks: Vec<Stack>,
}

/// Instead of a command: that there shall be no such check, also where one could be found.
pub const NO_CHECK: &str = "none";

/// A value for a key of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub key: String,
    pub value: String,
    /// `--set gate=dual`, or where in a file.
    pub origin: String,
}

impl Value {
    /// What `--set KEY=VALUE` says.
    pub fn set((key, value): &(String, String)) -> Self {
        Self { key: key.clone(), value: value.clone(), origin: format!("--set {key}={value}") }
    }
}

/// A settled plan, and what the user should know about how it was settled.
#[derive(Debug)]
pub struct Settled {
    pub plan: Plan,
    pub remarks: Vec<String>,
}

/// The rules of a new run, or of one that goes on with `earlier`.
fn policy(wishes: &Wishes, earlier: Option<&Plan>) -> Result<Policy> {
    let mut policy = match (&wishes.profile, earlier) {
        // What a run may use was decided when it began, and only a value of its own changes that.
        (Some(name), Some(plan)) => Policy {
            budget: plan.policy.budget.clone(),
            max_iterations: plan.policy.max_iterations,
            ..profile(name)?.policy()
        },
        (Some(name), None) => profile(name)?.policy(),
        (None, Some(plan)) => plan.policy.clone(),
        (None, None) => Policy::default(),
    };
    set(&mut policy, &wishes.values)?;
    Ok(policy)
}

/// What a new run would do of a backlog, whoever does it.
pub fn backlog(wishes: &Wishes) -> Result<Option<BacklogPlan>> {
    Ok(backlog_plan(wishes, None, &policy(wishes, None)?))
}

/// The plan of a new run, or of one that goes on with `earlier` and what the user changed.
pub fn settle(wishes: &Wishes, earlier: Option<&Plan>) -> Result<Settled> {
    let mut policy = policy(wishes, earlier)?;
    let mut checks = earlier.map_or(vec![], |plan| plan.checks.clone());
    let mut left_out = earlier.map_or(vec![], |plan| plan.left_out.clone());
    for (name, command) in &wishes.checks {
        if command.trim().is_empty() {
            return Err(Error::usage(format!("--{name}-cmd is empty"))
                .hint(format!("--{name}-cmd CMD"))
                .hint(format!("--{name}-cmd {NO_CHECK}, for no such check")));
        }
        if command.trim() == NO_CHECK {
            // What the run was begun with is remembered, for its proofs are weaker without it.
            left_out.extend(checks.extract_if(.., |check| check.name == *name));
        } else {
            checks.retain(|check| check.name != *name);
            left_out.retain(|check| check.name != *name);
            checks.push(CheckSpec::named(*name, command));
        }
    }
    if !wishes.detect {
        checks.retain(|check| check.source.is_none());
    }
    if policy.wants_checks() {
        checks.extend(wishes.found.iter().filter(|found| !wishes.says(&found.name)).cloned());
    }
    checks.sort_by_key(|check| CHECKS.iter().position(|name| *name == check.name));
    let mut remarks = vec![];
    let said = wishes.values.iter().any(|value| value.key == "evidence");
    let given = wishes.checks.iter().any(|(_, command)| command.trim() != NO_CHECK);
    let asked = wishes.profile.is_some() || given;
    if asked && !checks.is_empty() && !said && policy.evidence != EvidenceNeeded::Required {
        policy.evidence = EvidenceNeeded::Required;
        let name = &policy.profile;
        // A session has that profile because it is one, not because somebody asked for it.
        if !wishes.agent.session {
            remarks.push(format!(
                "profile {name} runs no checks by itself; the one you gave is run all the same (evidence = required)"
            ));
        }
    }
    let backlog = backlog_plan(wishes, earlier, &policy);
    if policy.gate == Gate::Evidence && backlog.is_none() && (checks.is_empty() || !policy.wants_checks()) {
        return Err(Error::usage(format!(
            "profile {} judges by facts alone, and there are none",
            policy.profile
        ))
        .because("gate = evidence needs a check that ralph can run")
        .hint("--test-cmd CMD"));
    }
    // Last, for it may ask the user.
    let (mut agents, chosen) = pool::settle(&wishes.agent, earlier.map(|plan| plan.agents.as_slice()))?;
    remarks.extend(chosen);
    count_money(&policy, &agents)?;
    if policy.budget.micro_usd > 0 {
        // What an agent had used when it was cut off must not be missing in the budget.
        agents
            .iter_mut()
            .for_each(|agent| agent.prices = agent.prices.or_else(|| agent::costs_at_most(agent)));
    }
    let commit = wishes.commit || earlier.is_some_and(|plan| plan.commit);
    let stack = wishes.stacks.first().cloned().or_else(|| earlier?.stack.clone());
    let stack_commands = if policy.wants_checks() { vec![] } else { wishes.found.clone() };
    // An hour that has passed does not stop whoever continues the run later.
    let until = wishes.until.or_else(|| earlier?.until.filter(|until| *until > clock::now()));
    let plan =
        Plan { policy, checks, agents, backlog, commit, boot: None, stack, left_out, stack_commands, until };
    Ok(Settled { plan, remarks })
}

/// What is meant of the backlog: said now, else as before.
fn backlog_plan(wishes: &Wishes, earlier: Option<&Plan>, policy: &Policy) -> Option<BacklogPlan> {
    let said = wishes.backlog.clone().or_else(|| earlier?.backlog.clone())?;
    let once = !wishes.all && (said.once || policy.once);
    Some(BacklogPlan { once, ..said })
}

impl Wishes {
    /// With what the project's file says, where the command line says nothing. A profile on the command line replaces
    /// the file's; the file's single values still apply, for somebody wrote them for this project.
    #[must_use]
    pub fn over(&self, config: Config) -> Self {
        let values = config.values.into_iter().chain(self.values.iter().cloned()).collect();
        let agent = self.agent.over(config.agents);
        let said = |name: &str| self.checks.iter().any(|(own, _)| *own == name);
        let own = |check: &Value| CHECKS.into_iter().find(|name| *name == check.key && !said(name));
        let file = config.checks.iter().filter_map(|check| Some((own(check)?, check.value.clone())));
        let checks = file.chain(self.checks.iter().cloned()).collect();
        let (profile, detect) =
            (self.profile.clone().or(config.profile), self.detect && config.detect != Some(false));
        Self { profile, values, checks, agent, detect, ..self.clone() }
    }

    /// Whether somebody said what this check is, be it nothing.
    pub fn says(&self, check: &str) -> bool {
        self.checks.iter().any(|(name, _)| *name == check)
    }
}

/// A budget that nothing counts would never stop anything.
fn count_money(policy: &Policy, agents: &[AgentInfo]) -> Result<()> {
    match agents.iter().find(|agent| !agent::may_tell_cost(agent)) {
        Some(agent) if policy.budget.micro_usd > 0 => Err(Error::usage(format!(
            "{} does not report what it costs, so a budget cannot stop it",
            agent.name
        ))
        .hint(format!(
            "ralph config set agents.{}.prices INPUT/OUTPUT, in dollars for a million tokens: 1.25/10",
            agent.name
        ))
        .hint("--max-tokens N, or --max-time 8h")),
        _ => Ok(()),
    }
}

pub(crate) fn set(policy: &mut Policy, values: &[Value]) -> Result<()> {
    values.iter().try_for_each(|Value { key, value, origin }| {
        policy.set(key, value).map_err(|wrong| wrong_value(&wrong, key, origin))
    })
}

/// Other rules for a run that was recorded: a profile whole, then single values.
#[derive(Debug)]
pub struct OtherRules {
    profile: Option<&'static Profile>,
    values: Vec<Value>,
}

impl OtherRules {
    /// `None` if nothing is to be changed.
    pub fn new(name: Option<&str>, values: Vec<Value>) -> Result<Option<Self>> {
        set(&mut Policy::default(), &values)?;
        let rules = Self { profile: name.map(profile).transpose()?, values };
        Ok((rules.profile.is_some() || !rules.values.is_empty()).then_some(rules))
    }

    pub fn apply(&self, plan: &mut Plan) {
        let policy = &mut plan.policy;
        let once = policy.once;
        if let Some(profile) = self.profile {
            *policy = profile.policy();
        }
        // They were set once already, so they can be.
        let _ = set(policy, &self.values);
        // Where the run differs from its own rules somebody said so, and only another word changes that.
        let said = self.values.iter().any(|value| value.key == "once");
        if let Some(backlog) = plan.backlog.as_mut().filter(|backlog| said || backlog.once == once) {
            backlog.once = policy.once;
        }
        if self.checks_all_the_same(plan) {
            plan.policy.evidence = EvidenceNeeded::Required;
        }
    }

    /// As when a run is started: checks that were given are run though the profile runs none.
    pub fn checks_all_the_same(&self, plan: &Plan) -> bool {
        let runs_none = |profile: &Profile| profile.policy().evidence != EvidenceNeeded::Required;
        let said = self.values.iter().any(|value| value.key == "evidence");
        self.profile.is_some_and(runs_none) && !said && !plan.checks.is_empty()
    }

    pub fn profile(&self) -> Option<&'static str> {
        self.profile.map(|profile| profile.name)
    }

    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

/// The checks there are.
pub use ralph_core::detect::CHECKS;

/// A profile by its name.
pub fn profile(name: &str) -> Result<&'static Profile> {
    profile::profile(name).ok_or_else(|| {
        let names = || profile::PROFILES.iter().map(|profile| profile.name);
        let error = Error::usage(format!("there is no profile '{name}'"))
            .because(format!("profiles: {}", names().collect::<Vec<_>>().join(", ")));
        match suggest::nearest(name, names()) {
            Some(near) => error.hint(format!("--profile {near}")),
            None => error.hint("ralph profile list"),
        }
    })
}

fn wrong_value(wrong: &WrongValue, key: &str, origin: &str) -> Error {
    let error = Error::usage(format!("{origin}: {wrong}"));
    match (wrong, suggest::nearest(key, profile::KEYS.iter().map(|key| key.name))) {
        (WrongValue::Name { .. }, Some(near)) => error.hint(suggest::instead(near, key)),
        (WrongValue::Name { .. }, None) => error.hint("ralph profile show default lists the keys"),
        (WrongValue::Value { value, expected, .. }, _)
            if expected.contains("a time") && value.parse::<u64>().is_ok() =>
        {
            if value.parse() == Ok(0_u64) {
                return error.because("it cannot be switched off").hint("a long time, such as 24h");
            }
            let written = |unit: &str| match origin.strip_suffix(value.as_str()) {
                Some(start) => format!("{start}{value}{unit}"),
                None => format!("{value}{unit}"),
            };
            error.because("a time has a unit: s, m, h or d").hint(format!(
                "{} for minutes, {} for seconds",
                written("m"),
                written("s")
            ))
        }
        _ => error.hint("ralph profile show default tells what it is otherwise"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_core::transcript::Format;

    fn wishes(command: &str, values: &[(&str, &str)]) -> Wishes {
        let value = |(key, value): &(&str, &str)| Value {
            key: (*key).into(),
            value: (*value).into(),
            origin: format!("--set {key}={value}"),
        };
        Wishes {
            agent: AgentWishes { commands: vec![command.into()], ..AgentWishes::default() },
            values: values.iter().map(value).collect(),
            ..Wishes::default()
        }
    }

    #[test]
    fn continuing_keeps_what_was_chosen_and_takes_what_is_new() {
        let first = Wishes {
            checks: vec![("test", "make test".into())],
            ..wishes("./a", &[("max_iterations", "5")])
        };
        let plan = settle(&first, None).expect("settled").plan;
        let more = Wishes {
            agent: AgentWishes::default(),
            checks: vec![("build", "make".into())],
            ..wishes("", &[("max_iterations", "9")])
        };
        let next = settle(&more, Some(&plan)).expect("settled").plan;
        assert_eq!(next.agents[0].command.as_deref(), Some("./a"));
        assert_eq!(
            next.checks.iter().map(|check| check.name.as_str()).collect::<Vec<_>>(),
            ["build", "test"]
        );
        assert_eq!(next.policy.max_iterations, 9);
    }

    #[test]
    fn a_profile_is_a_starting_point_and_single_values_win() {
        let wishes = Wishes { profile: Some("strict".into()), ..wishes("./a", &[("reviews", "2")]) };
        let policy = settle(&wishes, None).expect("settled").plan.policy;
        assert_eq!((policy.gate, policy.reviews.with_checks), (Gate::Dual, 2));
        assert_eq!(policy.profile, "strict");
    }

    #[test]
    fn a_wrong_profile_key_or_value_is_a_usage_error_with_a_suggestion() {
        let text = |wishes: &Wishes| settle(wishes, None).expect_err("wrong").to_string();
        let profile = Wishes { profile: Some("strickt".into()), ..wishes("./a", &[]) };
        assert!(text(&profile).contains("--profile strict"), "{}", text(&profile));
        let key = text(&wishes("./a", &[("reviewss", "1")]));
        assert!(
            key.contains("--set reviewss=1: there is no key")
                && key.contains("try: write reviews instead of reviewss"),
            "{key}"
        );
        assert!(text(&wishes("./a", &[("gate", "half")])).contains("one of dual, explicit, evidence"));
    }

    #[test]
    fn a_check_that_is_given_is_run_whatever_the_profile_says() {
        let given = Wishes {
            profile: Some("analyzer".into()),
            checks: vec![("test", "true".into())],
            ..wishes("./a", &[])
        };
        let settled = settle(&given, None).expect("settled");
        assert_eq!(settled.plan.policy.evidence, EvidenceNeeded::Required);
        assert_eq!(settled.remarks.len(), 1);
        let off = Wishes { values: wishes("", &[("evidence", "off")]).values, ..given };
        assert_eq!(settle(&off, None).expect("settled").plan.policy.evidence, EvidenceNeeded::Off);
    }

    #[test]
    fn the_file_gives_way_to_the_command_line_value_by_value() {
        let value =
            |key: &str, value: &str| Value { key: key.into(), value: value.into(), origin: "f:1".into() };
        let config = Config {
            profile: Some("strict".into()),
            values: vec![value("max_iterations", "7"), value("timeout", "5m")],
            checks: vec![value("test", "make test"), value("lint", "make lint")],
            ..Config::default()
        };
        let policy =
            |wishes: &Wishes| settle(&wishes.over(config.clone()), None).expect("settled").plan.policy;
        let file = policy(&wishes("./a", &[]));
        assert_eq!((file.profile.as_str(), file.max_iterations), ("strict", 7));
        let set = policy(&wishes("./a", &[("max_iterations", "9")]));
        assert_eq!((set.max_iterations, set.agent_timeout_ms), (9, 300_000));
        let other = policy(&Wishes { profile: Some("dual".into()), ..wishes("./a", &[]) });
        assert_eq!((other.profile.as_str(), other.max_iterations), ("dual", 7));
        let own = Wishes { checks: vec![("test", "true".into())], ..wishes("./a", &[]) };
        let checks = settle(&own.over(config.clone()), None).expect("settled").plan.checks;
        let checks: Vec<_> = checks.iter().map(|c| (c.name.as_str(), c.command.as_str())).collect();
        assert_eq!(checks, [("test", "true"), ("lint", "make lint")], "flags win, check by check");
    }

    #[test]
    fn a_budget_needs_agents_that_tell_what_they_cost() {
        let mut policy = Policy::default();
        let named =
            |name: &str| AgentInfo { name: name.into(), ..agent::custom(String::new(), Format::Auto) };
        let built_in = |name: &str| AgentInfo { command: None, ..named(name) };
        let silent = [built_in("claude"), built_in("silent")];
        assert!(count_money(&policy, &silent).is_ok(), "nobody counts");
        policy.budget.micro_usd = 1;
        let error = count_money(&policy, &silent).expect_err("silent");
        assert!(error.to_string().contains("silent does not report"), "{error}");
        assert!(count_money(&policy, &[built_in("claude"), named("custom")]).is_ok());
    }

    #[test]
    fn another_profile_on_resume_keeps_the_run_s_checks_and_limits() {
        let first = Wishes {
            checks: vec![("test", "false".into())],
            ..wishes("./a", &[("budget", "5"), ("max_time", "8h"), ("max_iterations", "7")])
        };
        let plan = settle(&first, None).expect("settled").plan;
        let other = Wishes { profile: Some("analyzer".into()), ..Wishes::default() };
        let settled = settle(&other, Some(&plan)).expect("settled");
        assert_eq!(settled.plan.policy.evidence, EvidenceNeeded::Required);
        assert_eq!(
            (&settled.plan.policy.budget, settled.plan.policy.max_iterations),
            (&plan.policy.budget, 7)
        );
        assert_eq!(settled.remarks.len(), 1);
    }

    #[test]
    fn facts_alone_need_facts() {
        let worker = Wishes { profile: Some("worker".into()), ..wishes("./a", &[]) };
        assert!(settle(&worker, None).is_err());
        assert!(settle(&Wishes { checks: vec![("test", "true".into())], ..worker }, None).is_ok());
    }
}
