//! Made-up task files. What a file says (its [`Task`]s) and how it is written are two things: written again with the
//! same seed and one other state, it differs in the bytes of that state and in nothing else.

use super::dice::Dice;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Features,
    UserStories,
    Yaml,
    Checklist,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Features, Kind::UserStories, Kind::Yaml, Kind::Checklist];

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) id: String,
    /// The file's own word.
    pub(crate) state: &'static str,
    pub(crate) count: u64,
}

pub(crate) fn states(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Features => &["FAILING", "BLOCKED", "CANCELLED"],
        Kind::UserStories => &["false", "true"],
        Kind::Yaml => &["todo", "in-progress", "done", "blocked"],
        Kind::Checklist => &[" ", "/", "x"],
    }
}

pub(crate) fn tasks(kind: Kind, seed: u64) -> Vec<Task> {
    let mut dice = Dice::new(seed);
    let number = 1 + dice.below(5);
    let id =
        |nth: usize| if kind == Kind::Checklist { words(seed, nth, "title") } else { format!("T-{nth}") };
    (0..number)
        .map(|nth| Task { id: id(nth), state: dice.pick(states(kind)), count: dice.below(4) as u64 })
        .collect()
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
        Kind::Features | Kind::UserStories => json(kind, seed, tasks),
        Kind::Yaml => yaml(seed, tasks),
        Kind::Checklist => checklist(seed, tasks),
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

fn json(kind: Kind, seed: u64, tasks: &[Task]) -> String {
    let mut dice = at(seed, 0, "json");
    let tall = !dice.one_in(3);
    let unit = dice.pick(&["  ", "    ", "\t", " "]);
    let colon = dice.pick(&[": ", ":", " : "]);
    let line = |depth: usize| if tall { format!("\n{}", unit.repeat(depth)) } else { String::new() };
    let list = if kind == Kind::Features { "items" } else { "userStories" };
    let mut text = String::from("{");
    if dice.one_in(2) {
        text.push_str(&format!("{}\"description\"{colon}{},", line(1), quoted(&words(seed, 0, "about"))));
    }
    text.push_str(&format!("{}\"{list}\"{colon}[", line(1)));
    for (nth, task) in tasks.iter().enumerate() {
        let mut fields =
            vec![("id".to_owned(), quoted(&task.id)), ("title".into(), quoted(&words(seed, nth, "title")))];
        let mut dice = at(seed, nth, "fields");
        if kind == Kind::Features {
            fields.push(("status".into(), quoted(task.state)));
            if dice.one_in(2) {
                fields.push((
                    "attempts".into(),
                    dice.pick(&["[]", "[ ]", "[{\"run_id\": \"worker-001\"}]"]).to_owned(),
                ));
            }
            let pair = |name: &str, value: &str| format!("\"{name}\"{colon}{value}");
            let inner = [pair("enabled", "true"), pair("current_iteration", &task.count.to_string())];
            fields.push(("ralph_loop".into(), format!("{{{}}}", inner.join(","))));
        } else {
            fields.push(("passes".into(), task.state.to_owned()));
            fields.push(("priority".into(), format!("{}", nth + 1)));
        }
        for extra in 0..dice.below(3) {
            fields.push((
                format!("x{extra}"),
                dice.pick(&["null", "1.50", "[1, {\"status\": \"x\"}]", "{}", "-0"]).to_owned(),
            ));
        }
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
    text.push_str(&format!("{}]", line(1)));
    if dice.one_in(2) {
        text.push_str(&format!(",{}\"after\"{colon}[]", line(1)));
    }
    text.push_str(&format!("{}}}\n", line(0)));
    text
}

fn yaml(seed: u64, tasks: &[Task]) -> String {
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
    text.push_str("tasks:\n");
    for (nth, task) in tasks.iter().enumerate() {
        let mut dice = at(seed, nth, "task");
        text.push_str(&comment(&mut dice, outer));
        let quote = dice.pick(&["", "'", "\""]);
        let title = quoted(&words(seed, nth, "title"));
        if dice.one_in(5) {
            text.push_str(&format!(
                "{outer}- {{id: {}, title: {title}, status: {quote}{}{quote}}}\n",
                task.id, task.state
            ));
            continue;
        }
        let mut fields = vec![
            format!("id: {quote}{}{quote}", task.id),
            format!("title: {title}{}", dice.pick(&["", " # a title", "   "])),
            format!("status: {quote}{}{quote}{}", task.state, dice.pick(&["", "  # todo", " "])),
        ];
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
        for (n, field) in fields.iter().enumerate() {
            let lead = if n == 0 { format!("{outer}- ") } else { format!("{outer}  ") };
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
