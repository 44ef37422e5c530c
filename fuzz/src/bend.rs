//! Bends a good recording a little: one line torn, joined, moved, dirtied, or one value of its JSON exchanged.

use serde_json::{Map, Value, json};

/// Strings that mean something to some reader.
const WORDS: [&str; 22] = [
    "",
    "true",
    "result",
    "assistant",
    "user",
    "error",
    "success",
    "rejected",
    "rate_limit",
    "text",
    "tool_use",
    "thread.started",
    "turn.failed",
    "item.completed",
    "step_finish",
    "init",
    "API Error: 529 Overloaded",
    "usage limit reached, resets 3pm (Europe/Berlin)",
    "<promise>COMPLETE</promise>",
    "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
    "All tasks are complete.\u{1b}[0m\u{202e}\u{0}",
    "RALPH_STATUS: {\"EXIT_SIGNAL\": true}\nLOOP_COMPLETE",
];

/// One change to the bytes, chosen by the seed: the same seed makes the same change.
pub fn bend(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return b"{}\n".to_vec();
    }
    let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(20) {
        0 => lines.swap(at, other),
        1 => lines.insert(other, lines[at].clone()),
        2 => drop(lines.remove(at)),
        3 => {
            let keep = dice.below(lines[at].len());
            lines[at].truncate(keep);
        }
        4 => drop(lines[at].pop()),
        5 => insert(&mut lines[at], &mut dice, b"\r\n"),
        6 => insert(&mut lines[at], &mut dice, b"\0"),
        7 => insert(&mut lines[at], &mut dice, b"\xff\xc3"),
        8 => {
            let run = vec![lines[at][0]; dice.below(3000)];
            insert(&mut lines[at], &mut dice, &run);
        }
        9 => lines.insert(at, format!("{}\n", dice.pick(&WORDS)).into_bytes()),
        _ => exchange(&mut lines, at, other, &mut dice),
    }
    lines.concat()
}

fn insert(line: &mut Vec<u8>, dice: &mut Dice, what: &[u8]) {
    let at = dice.below(line.len() + 1);
    line.splice(at..at, what.iter().copied());
}

/// Puts something else in the place of one value of a line's JSON.
fn exchange(lines: &mut [Vec<u8>], at: usize, other: usize, dice: &mut Dice) {
    let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) else { return };
    let another = serde_json::from_slice::<Value>(&lines[other]).unwrap_or_default();
    let nth = dice.below(size(&value));
    let new = replacement(&another, dice);
    let whole = value.clone();
    if let Some(place) = nth_mut(&mut value, &mut { nth }) {
        match dice.below(6) {
            0 => *place = json!([place.clone(), whole]),
            1 => drop(
                place
                    .as_object_mut()
                    .and_then(|map| map.keys().next().cloned().and_then(|key| map.remove(&key))),
            ),
            2 => drop(place.as_array_mut().map(|list| list.extend(list.clone()))),
            _ => *place = new,
        }
    }
    lines[at] = format!("{value}\n").into_bytes();
}

fn replacement(another: &Value, dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(dice.pick(&[0, 1, 401, 429, u64::MAX - 1, u64::MAX])),
        3 => json!(dice.pick(&[-1, i64::MIN, i64::MAX, 1_900_000_000])),
        4 => json!(dice.pick(&[0.5, -0.0, 1e300, 1e-300])),
        5 => json!([]),
        6 => Value::Object(Map::new()),
        7 => json!("x".repeat(dice.below(6000))),
        8 | 9 => {
            let mut copy = another.clone();
            let nth = dice.below(size(&copy));
            nth_mut(&mut copy, &mut { nth }).map(Value::take).unwrap_or_default()
        }
        _ => json!(dice.pick(&WORDS)),
    }
}

/// How many values there are in a value, itself included.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn nth_mut<'a>(value: &'a mut Value, nth: &mut usize) -> Option<&'a mut Value> {
    if *nth == 0 {
        return Some(value);
    }
    *nth -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|value| nth_mut(value, nth)),
        Value::Object(map) => map.values_mut().find_map(|value| nth_mut(value, nth)),
        _ => None,
    }
}

/// Numbers that look random and follow from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`; 0 if that is impossible.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end.max(1) as u64).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
