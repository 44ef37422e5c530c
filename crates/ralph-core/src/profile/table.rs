//! The profiles: each a column of the same table. What a column does not name is as in `default`.

use super::Policy;

/// A named set of values.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    pub name: &'static str,
    pub use_when: &'static str,
    column: usize,
}

pub const PROFILES: [Profile; 7] = [
    Profile { name: "default", use_when: "always", column: 0 },
    Profile { name: "strict", use_when: "the words must convince too", column: 1 },
    Profile { name: "dual", use_when: "words and facts must both say done", column: 2 },
    Profile { name: "rotations", use_when: "agents signal by .ralph/status", column: 3 },
    Profile { name: "analyzer", use_when: "the agent's EXIT_SIGNAL is to be believed", column: 4 },
    Profile { name: "worker", use_when: "one item a call, judged by facts alone", column: 5 },
    Profile { name: "phases", use_when: "phased work that reports JSON and a marker", column: 6 },
];

type Row = (&'static str, [&'static str; 7]);

#[rustfmt::skip]
const TABLE: [Row; 24] = [
    //                 default     strict      dual        rotations      analyzer     worker      phases
    ("protocol",     ["block",    "block",    "block",    "status_file", "block",     "block",    "json"]),
    ("gate",         ["explicit", "dual",     "dual",     "explicit",    "explicit",  "evidence", "dual"]),
    ("believe_contradictions",
                     ["false",    "false",    "false",    "false",       "true",      "false",    "false"]),
    ("evidence",     ["required", "required", "required", "off",         "off",       "required", "backlog"]),
    ("baseline",     ["refuse/tolerate",
                                  "refuse",   "refuse",   "off",         "off",       "refuse",   "off"]),
    ("todos",        ["flag",     "flag",     "refuse",   "off",         "off",       "flag",     "off"]),
    ("goal_backlog", ["false",    "false",    "true",     "false",       "false",     "false",    "false"]),
    ("reviews",      ["1/3",      "3",        "0",        "3",           "0",         "0",        "0"]),
    ("no_progress",  ["open",     "open",     "open",     "off",         "half_open", "off",      "open"]),
    ("same_error",   ["open",     "open",     "open",     "off",         "open",      "off",      "open"]),
    ("decline",      ["warn",     "warn",     "open",     "off",         "warn",      "off",      "open"]),
    ("denials",      ["open",     "open",     "open",     "off",         "open",      "open",     "open"]),
    ("cooldown",     ["30m",      "30m",      "30m",      "none",        "none",      "none",     "none"]),
    ("test_only",    ["off",      "off",      "off",      "off",         "halt",      "off",      "complete"]),
    ("done_signals", ["off",      "off",      "off",      "off",         "off",       "off",      "complete"]),
    ("test_share",   ["off",      "off",      "off",      "off",         "off",       "off",      "complete"]),
    ("max_iterations",
                     ["50",       "50",       "50",       "20",          "50",        "5",        "50"]),
    ("each_item",    ["false",    "false",    "false",    "false",       "false",     "true",     "false"]),
    ("once",         ["false",    "false",    "false",    "false",       "false",     "true",     "false"]),
    ("boot",         ["false",    "false",    "false",    "false",       "false",     "true",     "false"]),
    ("harness_lock", ["false",    "false",    "false",    "false",       "false",     "true",     "false"]),
    ("failed_item",  ["keep",     "keep",     "keep",     "keep",        "keep",      "revert",   "keep"]),
    ("commits",      ["items",    "items",    "items",    "never",       "items",     "items",    "never"]),
    ("session_view", ["false",    "false",    "false",    "false",       "true",      "false",    "false"]),
];

pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

impl Profile {
    pub fn policy(&self) -> Policy {
        let mut policy = Policy { profile: self.name.into(), ..Policy::default() };
        for (key, values) in TABLE {
            // A test holds that every value of the table can be set.
            let _ = policy.set(key, values[self.column]);
        }
        policy
    }

    /// The values of the table, in its order.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        TABLE.iter().map(|(key, values)| (*key, values[self.column]))
    }
}
