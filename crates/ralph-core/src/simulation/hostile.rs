//! Agents one would not choose: they lie, stall, crash, ask and break what was there. One seed gives one run.

mod characters;
mod claims;
mod survey;

use super::script::{agent, started};
use super::turn::{Agent, Glance, Turn};
use super::world::{Check, World};
use crate::agents::{Role, thrown};
use crate::event::{Plan, RunStarted};
use crate::evidence::Items;
use crate::items::BacklogPlan;
use crate::prelude::*;
use crate::profile::{Order, Policy};

pub use survey::Survey;

/// Who an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Character {
    /// Says done whatever is there.
    Liar,
    /// Repeats its prompt.
    Echoer,
    Idler,
    /// Runs into the same error again and again.
    SameError,
    /// Commits, mostly nothing.
    Committer,
    /// Writes tests and nothing else.
    Tester,
    /// Its provider will not go on.
    Limited,
    /// Done, more, change, undo.
    Flapper,
    Crasher,
    Asker,
    /// Has less and less to say.
    Shrinker,
    /// Is denied its tools.
    Denied,
    /// Makes the backlog easier: removes, cancels and weakens items, and claims one.
    Vandal,
    /// Does the work, and says how it stands.
    Honest,
}

pub const CHARACTERS: [Character; 14] = [
    Character::Liar,
    Character::Echoer,
    Character::Idler,
    Character::SameError,
    Character::Committer,
    Character::Tester,
    Character::Limited,
    Character::Flapper,
    Character::Crasher,
    Character::Asker,
    Character::Shrinker,
    Character::Denied,
    Character::Vandal,
    Character::Honest,
];

/// An agent of a character, with luck of its own.
#[derive(Debug)]
pub struct Hostile {
    pub character: Character,
    dice: Dice,
    /// How often it has worked.
    turns: u64,
}

impl Agent for Hostile {
    fn turn(&mut self, glance: Glance<'_>) -> Turn {
        self.turns += 1;
        characters::turn(self.character, glance, self.turns, &mut self.dice)
    }
}

/// A small generator: the same numbers for the same seed everywhere.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(thrown(seed))
    }

    /// 0 to `sides` - 1.
    pub fn throw(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        thrown(self.0) % sides.max(1)
    }

    pub fn one_in(&mut self, sides: u64) -> bool {
        self.throw(sides) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.throw(of.len() as u64) as usize]
    }
}

/// A run of one seed: its first event, its world, who works.
pub struct Scene {
    pub started: RunStarted,
    pub world: World,
    pub agents: Vec<Hostile>,
}

/// The scene of a seed under a policy. Seeds that follow each other have the characters in turn as the first agent.
pub fn scene(policy: &Policy, seed: u64) -> Scene {
    let mut dice = Dice::new(seed);
    let parts = dice.throw(4);
    let mut checks = vec![Check {
        needs: (0..=parts).map(part).collect(),
        takes_ms: 1_000 + dice.throw(60_000),
        never_ends: dice.one_in(40),
        writes: if dice.one_in(8) { vec!["target/cache".into()] } else { vec![] },
        ..Check::default()
    }];
    if dice.one_in(2) {
        checks.push(Check { name: "lint".into(), fails_with: vec![MESS.into()], ..Check::default() });
    }
    // Sometimes there is nothing that ralph could run.
    let specs = if dice.one_in(8) { vec![] } else { checks.iter().map(Check::spec).collect() };
    let total = parts + 1;
    let items = dice.one_in(3).then_some(Items { open: total, total });
    let files: Vec<String> = (0..dice.throw(parts + 2)).map(part).collect();
    let agents: Vec<Hostile> = cast(seed, &mut dice);
    let mut policy = policy.clone();
    policy.order = dice.pick(&[Order::Listed, Order::RoundRobin, Order::Random]);
    let infos = agents.iter().enumerate().map(|(nth, _)| {
        let role = dice.pick(&[Role::Any, Role::Any, Role::Work, Role::Review]);
        agent(NAMES[nth], role)
    });
    let agents_of_plan = infos.collect();
    // Half of the backlogs are handed out item by item.
    let handed_out = items.is_some() && dice.one_in(2);
    let backlog = handed_out.then(|| BacklogPlan {
        file: "backlog".into(),
        once: dice.one_in(6),
        ..BacklogPlan::default()
    });
    let plan = Plan {
        policy,
        checks: specs,
        agents: agents_of_plan,
        backlog,
        commit: dice.one_in(8),
        boot: None,
        stack: None,
        left_out: vec![],
        stack_commands: vec![],
        until: None,
    };
    let world = World::new(&files, checks, items);
    Scene {
        started: started("a simulated goal", plan, seed),
        world: if handed_out { world.with_backlog() } else { world },
        agents,
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];
/// What a lint complains about.
const MESS: &str = "src/mess.rs";

fn part(nth: u64) -> String {
    format!("src/part{nth}.rs")
}

fn cast(seed: u64, dice: &mut Dice) -> Vec<Hostile> {
    let first = CHARACTERS[(seed % CHARACTERS.len() as u64) as usize];
    let others = dice.pick(&[0, 0, 0, 1, 1, 2]);
    let rest = (0..others).map(|_| dice.pick(&CHARACTERS)).collect::<Vec<_>>();
    core::iter::once(first)
        .chain(rest)
        .map(|character| Hostile { character, dice: Dice::new(dice.throw(u64::MAX)), turns: 0 })
        .collect()
}
