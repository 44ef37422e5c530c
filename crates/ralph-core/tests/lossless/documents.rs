//! Made-up task files. What a file says (its [`Task`]s) and how it is written are two things: written again with the
//! same seed and one other state, it differs in the bytes of that state and in nothing else.

use super::dice::Dice;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Features,
    UserStories,
    /// Version 2: a word, not a truth value.
    Prd2,
    Stories,
    FeatureArray,
    Yaml,
    /// Titles that are ids, and a truth value.
    Completed,
    Checklist,
    /// `### Task N:` with steps below it.
    Plan,
}

pub(crate) const KINDS: [Kind; 9] = [
    Kind::Features,
    Kind::UserStories,
    Kind::Prd2,
    Kind::Stories,
    Kind::FeatureArray,
    Kind::Yaml,
    Kind::Completed,
    Kind::Checklist,
    Kind::Plan,
];

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) id: String,
    /// The file's own word.
    pub(crate) state: &'static str,
    pub(crate) count: u64,
    /// It says nothing of its state, which is that of what nobody has begun; others of the file say theirs.
    pub(crate) silent: bool,
}

pub(crate) fn states(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Features => &["FAILING", "PASSING", "BLOCKED", "CANCELLED"],
        Kind::UserStories | Kind::FeatureArray | Kind::Completed => &["false", "true"],
        Kind::Prd2 => &["pending", "in_progress", "completed", "blocked"],
        Kind::Stories => &["open", "in_progress", "done"],
        Kind::Yaml => &["todo", "in-progress", "done", "blocked"],
        Kind::Checklist | Kind::Plan => &[" ", "/", "x"],
    }
}

/// The field that tells it.
pub(crate) fn field_of(kind: Kind) -> &'static str {
    match kind {
        Kind::UserStories | Kind::FeatureArray => "passes",
        Kind::Completed => "completed",
        _ => "status",
    }
}

pub(crate) fn tasks(kind: Kind, seed: u64) -> Vec<Task> {
    let mut dice = Dice::new(seed);
    let number = 1 + dice.below(5);
    let titled = matches!(kind, Kind::Checklist | Kind::Plan | Kind::FeatureArray | Kind::Completed);
    let id = |nth: usize| if titled { words(seed, nth, "title") } else { format!("T-{nth}") };
    let mut task = |nth: usize| {
        let (state, count) = (dice.pick(states(kind)), dice.below(4) as u64);
        Task { id: id(nth), state, count, silent: false }
    };
    let mut tasks: Vec<Task> = (0..number).map(&mut task).collect();
    let mut dice = at(seed, number, "silent");
    let loud = dice.below(number);
    for (nth, task) in tasks.iter_mut().enumerate() {
        task.silent = nth != loud && task.state == states(kind)[0] && !is_markdown(kind) && dice.one_in(3);
    }
    tasks
}

pub(crate) fn is_markdown(kind: Kind) -> bool {
    matches!(kind, Kind::Checklist | Kind::Plan)
}

/// A text with whatever makes trouble somewhere; the same for the same place.
fn words(seed: u64, nth: usize, name: &str) -> String {
    const PARTS: [&str; 22] = [
        "plain", "größe", "日本語", "it's", "\"so\"", "a: b", "x #y", "[1]", "{a}", "- dash", "\\", "`code`",
        "100%", "true", "no", "todo", "status: todo", "\u{1f600}", "a,b", "*star*", "&and", "<b>",
    ];
    let mut dice = at(seed, nth, name);
    let count = 1 + dice.below(4);
    let parts: Vec<&str> = (0..count).map(|_| PARTS[dice.below(PARTS.len())]).collect();
    format!("{nth} {}", parts.join(" "))
}

/// Dice of one place of a file.
fn at(seed: u64, nth: usize, name: &str) -> Dice {
    let place =
        name.bytes().fold(nth as u64 + 17, |all, byte| all.wrapping_mul(31).wrapping_add(byte.into()));
    Dice::new(seed ^ place.wrapping_mul(0x2545_f491_4f6c_dd1d))
}

pub(crate) fn write(kind: Kind, seed: u64, tasks: &[Task]) -> String {
    let mut text = match kind {
        Kind::Yaml | Kind::Completed => yaml(kind, seed, tasks),
        Kind::Checklist => checklist(seed, tasks),
        Kind::Plan => plan(seed, tasks),
        _ => json(kind, seed, tasks),
    };
    let mut dice = at(seed, 0, "whole file");
    if dice.one_in(3) {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if dice.one_in(3) {
        text = text.replace('\n', "\r\n");
    }
    if dice.one_in(4) { format!("\u{feff}{text}") } else { text }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

pub(crate) fn list_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Features => "items",
        Kind::UserStories | Kind::Prd2 => "userStories",
        Kind::Stories => "stories",
        Kind::FeatureArray => "features",
        Kind::Yaml | Kind::Completed => "tasks",
        Kind::Checklist | Kind::Plan => "",
    }
}

/// What is written into notes when an item is blocked at its limit.
const AT_LIMIT: &str = "Max iterations reached, human review required";

const PROOF: &str = r#"[{"run_id": "worker-007", "timestamp": "2026-01-07T19:30:00Z", "result": "PASSED", "evidence": {"commands_run": ["make"], "results_summary": "fine"}, "commit": null, "reverted": false}]"#;

/// What an item has of attempts; none, if it has no such field.
fn attempts(seed: u64, nth: usize) -> Option<&'static str> {
    let lists = ["", "[]", "[ ]", "null", "[{\"run_id\": \"worker-001\"}]", PROOF, PROOF];
    Some(at(seed, nth, "attempts").pick(&lists)).filter(|list| !list.is_empty())
}

/// Whether an item may pass.
pub(crate) fn is_proved(kind: Kind, seed: u64, nth: usize) -> bool {
    kind != Kind::Features || attempts(seed, nth) == Some(PROOF)
}

fn json(kind: Kind, seed: u64, tasks: &[Task]) -> String {
    let mut dice = at(seed, 0, "json");
    let tall = !dice.one_in(3);
    let unit = dice.pick(&["  ", "    ", "\t", " "]);
    let colon = dice.pick(&[": ", ":", " : "]);
    let line = |depth: usize| if tall { format!("\n{}", unit.repeat(depth)) } else { String::new() };
    // A feature array may stand alone.
    let bare = kind == Kind::FeatureArray && dice.one_in(2);
    let mut text = String::from(if bare { "[" } else { "{" });
    if dice.one_in(2) && !bare {
        text.push_str(&format!("{}\"description\"{colon}{},", line(1), quoted(&words(seed, 0, "about"))));
    }
    if !bare {
        text.push_str(&format!("{}\"{}\"{colon}[", line(1), list_of(kind)));
    }
    for (nth, task) in tasks.iter().enumerate() {
        let mut fields = match kind {
            Kind::FeatureArray => vec![("description".to_owned(), quoted(&task.id))],
            _ => {
                vec![
                    ("id".to_owned(), quoted(&task.id)),
                    ("title".into(), quoted(&words(seed, nth, "title"))),
                ]
            }
        };
        let mut dice = at(seed, nth, "fields");
        match kind {
            Kind::Features => {
                fields.push(("status".into(), quoted(task.state)));
                fields.extend(attempts(seed, nth).map(|list| ("attempts".into(), list.to_owned())));
                let pair = |name: &str, value: &str| format!("\"{name}\"{colon}{value}");
                let mut inner =
                    vec![pair("enabled", "true"), pair("current_iteration", &task.count.to_string())];
                inner.extend(dice.one_in(2).then(|| pair("max_iterations", "2")));
                fields.push(("ralph_loop".into(), format!("{{{}}}", inner.join(","))));
                if dice.one_in(2) {
                    let note = quoted(AT_LIMIT);
                    fields.push((
                        "notes".into(),
                        dice.pick(&["\"\"", "null", "\"by hand\"", &note]).to_owned(),
                    ));
                }
            }
            Kind::UserStories => {
                fields.push(("passes".into(), task.state.to_owned()));
                fields.push(("priority".into(), format!("{}", nth + 1)));
            }
            Kind::FeatureArray => fields.push(("passes".into(), task.state.to_owned())),
            _ => {
                fields.push(("status".into(), quoted(task.state)));
                let criteria =
                    "[{\"id\": \"a\", \"description\": \"it is \\\"there\\\"\", \"passes\": false}]";
                fields.push(("acceptanceCriteria".into(), criteria.into()));
            }
        }
        for extra in 0..dice.below(3) {
            fields.push((
                format!("x{extra}"),
                dice.pick(&["null", "1.50", "[1, {\"status\": \"x\"}]", "{}", "-0"]).to_owned(),
            ));
        }
        fields.retain(|(name, _)| !task.silent || name != field_of(kind));
        // Any order, the same for the same seed.
        let turn = dice.below(fields.len());
        fields.rotate_left(turn);
        text.push_str(if nth == 0 { "" } else { "," });
        text.push_str(&format!("{}{{", line(2)));
        for (n, (name, value)) in fields.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            text.push_str(&format!("{comma}{}{}{colon}{value}", line(3), quoted(name)));
        }
        text.push_str(&format!("{}}}", line(2)));
    }
    if bare {
        return format!("{text}{}]\n", line(0));
    }
    text.push_str(&format!("{}]", line(1)));
    if dice.one_in(2) {
        text.push_str(&format!(",{}\"after\"{colon}[]", line(1)));
    }
    text.push_str(&format!("{}}}\n", line(0)));
    text
}

fn yaml(kind: Kind, seed: u64, tasks: &[Task]) -> String {
    let mut dice = at(seed, 0, "yaml");
    let outer = dice.pick(&["", "  ", "    "]);
    let mut text = String::new();
    let comment = |dice: &mut Dice, indent: &str| {
        if dice.one_in(4) { format!("{indent}# status: done, {}\n", dice.below(9)) } else { String::new() }
    };
    text.push_str(&comment(&mut dice, ""));
    if dice.one_in(2) {
        text.push_str("project:\n  name: \"N\"   # a name\n  objectives: [one, 'two']\n\n");
    }
    text.push_str(dice.pick(&["tasks:\n", "tasks:\n", "tasks: # all of them\n", "tasks:   \n"]));
    let state = field_of(kind);
    for (nth, task) in tasks.iter().enumerate() {
        let mut dice = at(seed, nth, "task");
        text.push_str(&comment(&mut dice, outer));
        // A truth value in quotation marks is a text.
        let quote = if kind == Kind::Completed { "" } else { dice.pick(&["", "'", "\""]) };
        let title = quoted(&words(seed, nth, "title"));
        if dice.one_in(5) {
            let id = if kind == Kind::Completed { String::new() } else { format!("id: {}, ", task.id) };
            let told = format!(", {state}: {quote}{}{quote}", task.state);
            let told = if task.silent { "" } else { &told };
            text.push_str(&format!("{outer}- {{{id}title: {title}{told}}}\n"));
            continue;
        }
        let mut fields = vec![
            format!("title: {title}{}", dice.pick(&["", " # a title", "   "])),
            format!("{state}: {quote}{}{quote}{}", task.state, dice.pick(&["", "  # todo", " "])),
        ];
        if task.silent {
            fields.pop();
        }
        if kind == Kind::Yaml {
            fields.insert(0, format!("id: {quote}{}{quote}", task.id));
        }
        for extra in 0..dice.below(4) {
            fields.push(match dice.below(4) {
                0 => format!("notes{extra}: |\n{outer}    status: todo\n\n{outer}    more"),
                1 => format!("list{extra}:\n{outer}    - a # one\n{outer}    - \"b: c\""),
                2 => format!("flow{extra}: {{a: [1, 2], status: todo}}"),
                _ => format!("empty{extra}:"),
            });
        }
        let turn = dice.below(fields.len());
        fields.rotate_left(turn);
        let dash = dice.pick(&["- ", "- ", "- ", "- # status: todo\n"]);
        for (n, field) in fields.iter().enumerate() {
            let lead = match (n, dash.ends_with('\n')) {
                (0, true) => format!("{outer}{dash}{outer}  "),
                (0, false) => format!("{outer}{dash}"),
                _ => format!("{outer}  "),
            };
            text.push_str(&format!("{lead}{field}\n"));
            if n > 0 {
                text.push_str(&comment(&mut dice, &format!("{outer}  ")));
            }
        }
        if dice.one_in(4) {
            text.push('\n');
        }
    }
    if dice.one_in(2) {
        text.push_str("workflows: {}\n# the end\n");
    }
    text
}

fn checklist(seed: u64, tasks: &[Task]) -> String {
    let mut dice = at(seed, 0, "checklist");
    let mut text = String::from(dice.pick(&["", "# Plan\n\n", "Words - [ ] not an item\n"]));
    for (nth, task) in tasks.iter().enumerate() {
        let mut dice = at(seed, nth, "box");
        if dice.one_in(3) {
            text.push_str(dice.pick(&[
                "## High\n",
                "## Low priority\n\n",
                "```\n- [ ] an example\n```\n",
                "> - [ ] quoted\n",
                "<!--\n- [ ] put off\n-->\n",
            ]));
        }
        let marker = dice.pick(&["- ", "* ", "+ ", "1. ", "  - ", "### - ", "-   ", "2) "]);
        text.push_str(&format!("{marker}[{}] {}\n", task.state, task.id));
        if dice.one_in(3) {
            text.push_str("        more about it\n");
        }
    }
    text.push_str(dice.pick(&["", "\nThe end.\n", "\n"]));
    text
}

fn plan(seed: u64, tasks: &[Task]) -> String {
    let mut dice = at(seed, 0, "plan");
    let mut text = String::from(dice.pick(&["", "# Plan\n\n", "## Validation Commands\n\n- `make`\n\n"]));
    let level = dice.pick(&["##", "###", "####"]);
    for (nth, task) in tasks.iter().enumerate() {
        let mut dice = at(seed, nth, "task");
        text.push_str(&format!("{level} Task {}: {}\n", nth + 1, task.id));
        text.push_str(dice.pick(&[
            "",
            "\n",
            "words\n\n",
            "```\n- [ ] an example\n```\n",
            "<!-- - [ ] -->\n",
        ]));
        for step in 0..1 + dice.below(3) {
            // What is begun is begun with its first step.
            let mark = if task.state == "/" && step > 0 { " " } else { task.state };
            let marker = dice.pick(&["- ", "* ", "  - ", "1. "]);
            text.push_str(&format!("{marker}[{mark}] {}\n", words(seed, nth * 10 + step, "step")));
            text.push_str(dice.pick(&["", "", "    more about it\n", "\n"]));
        }
        text.push_str(dice.pick(&["", "\n", "\nAfter it.\n\n"]));
    }
    text.push_str(dice.pick(&["", "\nThe end.\n", "\n## Later\n\nwords\n"]));
    text
}
