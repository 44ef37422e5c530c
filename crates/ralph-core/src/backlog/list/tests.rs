//! Two hands read what one reads, whatever the document is.

use core::cell::Cell;

use proptest::prelude::*;
use proptest::sample;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use super::*;
use crate::backlog::json::Value as Place;
use crate::backlog::{
    Backlog, Finding, Findings, OneHand, Source, Syntax, Wish, select, select_with, validate, validate_with,
};

/// In which order the two are done, or whether there is anybody for the second.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// The second hand has read to the end before the first begins.
    SecondFirst,
    FirstFirst,
    AtOnce,
    Nobody,
}

const ORDERS: [Order; 4] = [Order::SecondFirst, Order::FirstFirst, Order::AtOnce, Order::Nobody];

/// A second hand for the smallest of texts, which counts how often it is asked for.
#[derive(Debug)]
struct Lent {
    order: Order,
    asked: Cell<u32>,
}

impl Lent {
    fn new(order: Order) -> Self {
        Self { order, asked: Cell::new(0) }
    }
}

impl Hands for Lent {
    fn least(&self) -> usize {
        0
    }

    fn both<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, Option<B>) {
        self.asked.set(self.asked.get() + 1);
        match self.order {
            Order::SecondFirst => {
                let other = other();
                (one(), Some(other))
            }
            Order::FirstFirst => (one(), Some(other())),
            Order::AtOnce => std::thread::scope(|scope| {
                let other = scope.spawn(other);
                (one(), other.join().ok())
            }),
            Order::Nobody => (one(), None),
        }
    }
}

/// Everything that is known of it, down to the slots of its index.
fn shown<T: core::fmt::Debug>(read: &T) -> String {
    format!("{read:?}")
}

/// Holds two hands against one; tells how often a second one was asked for while reading.
fn same(text: &str) -> u32 {
    let alone = Backlog::read(text, Syntax::Json);
    let mut asked = 0;
    for order in ORDERS {
        let hands = Lent::new(order);
        let lent = Backlog::parse_with(text.as_bytes(), Syntax::Json, &hands);
        asked = hands.asked.get();
        assert_eq!(shown(&lent), shown(&alone), "{order:?} {text}");
        let (Ok(alone), Ok(lent)) = (&alone, &lent) else { continue };
        for strict in [false, true] {
            let (one, two) = (validate(alone, None, strict), validate_with(lent, None, strict, &hands));
            assert_eq!(shown(&two), shown(&one), "{order:?} {text}");
        }
        let (one, two) = (select(alone, Wish::default()), select_with(lent, Wish::default(), &hands));
        assert_eq!(two, one, "{order:?} {text}");
    }
    asked
}

/// Where a second hand would begin in the document's list, and whether an element of the list begins there.
fn place(text: &str) -> Option<(usize, bool)> {
    let backlog = Backlog::read(text, Syntax::Json).ok()?;
    let Source::Json { list } = &backlog.source else { return None };
    let mut walk = Walk::new(text);
    walk.at = list.start;
    let at = walk.enter().then(|| middle(text, walk.at, 0)).flatten()?;
    Some((at, Place::at(text, list.clone()).elements().iter().any(|element| element.span().start == at)))
}

/// `{"id":"a1"}` and so on, each on its line.
fn lines(ids: core::ops::Range<u32>) -> String {
    let lines: Vec<String> = ids.map(|id| format!("{{\"id\":\"a{id}\"}}")).collect();
    lines.join(",\n")
}

#[test]
fn a_second_hand_begins_at_an_element_near_the_middle() {
    let text = format!("{{\"items\":[\n{}\n]}}", lines(0..20));
    let (at, right) = place(&text).expect("a place");
    assert!(right && at.abs_diff(text.len() / 2) < 30, "{at} of {}", text.len());
    assert_eq!(same(&text), 1);
    assert_eq!(same(&text.replace('\n', "\r\n")), 1);
    assert_eq!(same(&text.replace('\n', "\n\t ")), 1);
    assert_eq!(same(&format!("\u{feff}{text}")), 1);
    assert_eq!(same(&text.replace('\n', "")), 0, "all in one line");
    assert_eq!(same(&text.replace("[\n", "[7,\n")), 0, "the first has no line of its own");
    let valued = text.replace("\"a10\"}", "\"a10\",\"x\":[\n{}],\"y\":\n{}}");
    assert_eq!((place(&valued).map(|(_, right)| right), same(&valued)), (Some(true), 1), "{valued}");
    assert_eq!(middle(&text, 11, text.len()), None, "too short to be worth it");
    assert_eq!(OneHand.both(|| 1, || 2), (1, None));
}

#[test]
fn a_wrong_place_makes_no_difference() {
    let inner = lines(0..20);
    let nested = format!("[\n{{\"id\":\"b\",\"steps\":[\n{inner}]}},\n{{\"id\":\"c\"}}\n]");
    let elsewhere = format!("{{\"tasks\":[\n{{\"id\":\"b\"}}],\n\"steps\":[\n{inner}\n]}}");
    let broken = nested.replace("\"a19\"", "\"a19");
    for text in [&nested, &elsewhere] {
        assert_eq!((place(text).map(|(_, right)| right), same(text)), (Some(false), 1), "{text}");
    }
    assert_eq!(same(&broken), 1, "{broken}");
}

#[test]
fn the_first_fault_is_the_one_that_is_told() {
    let text = format!("[\n{}\n]", lines(0..20));
    let early = text.replace("\"a2\"", "a2");
    let late = text.replace("\"a18\"", "a18");
    let both = early.replace("\"a18\"", "a18");
    for (text, line) in [(&early, 4), (&late, 20), (&both, 4)] {
        assert_eq!(same(text), 1);
        assert_eq!(Backlog::read(text, Syntax::Json).expect_err("a fault").line, line);
    }
}

#[test]
fn ids_that_are_made_of_texts_are_counted_over_the_whole_list() {
    let text = |described: &dyn Fn(u32) -> u32| {
        let items: Vec<String> =
            (0..20).map(|nth| format!("{{\"description\":\"d{}\"}}", described(nth))).collect();
        format!("[\n{}\n]", items.join(",\n"))
    };
    let (different, again) = (text(&|nth| nth), text(&|nth| nth % 10));
    assert_eq!((place(&different).map(|(_, right)| right), same(&different)), (Some(true), 1));
    assert_eq!((place(&again).map(|(_, right)| right), same(&again)), (Some(true), 1));
    let backlog = Backlog::read(&again, Syntax::Json).expect("a backlog");
    assert_eq!(backlog.items()[19].id, format!("{}-2", backlog.items()[9].id));
}

#[test]
fn the_dialect_is_that_of_the_whole_list() {
    let plain = lines(0..20);
    for odd in [r#""status":"PASSING""#, r#""status":"open""#, r#""ralph_loop":{}"#] {
        for id in ["\"a1\"", "\"a18\""] {
            let text = format!("[\n{}\n]", plain.replace(id, &format!("{id},{odd}")));
            assert_eq!(same(&text), 2, "in the one dialect and in the other");
        }
        let both = plain.replace("\"a1\"", &format!("\"a1\",{odd}"));
        same(&format!("[\n{}\n]", both.replace("\"a18\"", "\"a18\",\"status\":\"todo\"")));
    }
}

#[test]
fn findings_of_both_halves_are_told_in_order() {
    let text = format!("{{\"items\":[\n{}\n]}}", lines(0..20).replace("}", ",\"dependencies\":[\"gone\"]}"));
    let backlog = Backlog::read(&text, Syntax::Json).expect("a backlog");
    let hands = Lent::new(Order::SecondFirst);
    let Findings { findings, checked, .. } = validate_with(&backlog, None, false, &hands);
    let ids = findings.iter().filter_map(|Finding { id, .. }| id.clone());
    assert!(ids.eq((0..20).map(|id| format!("a{id}"))), "{findings:?}");
    assert_eq!((checked, hands.asked.get()), (20, 2), "for the dependencies and for the items");
}

/// Fields as dialects have them, and as they should not be.
fn fields() -> Vec<(&'static str, Value)> {
    let objects =
        json!([{"id": "x", "run_id": "r"}, {"id": "y", "result": "PASSED"}, {"id": "z"}, {"id": 1}]);
    let mut fields: Vec<(&str, Value)> = (0..8).map(|id| ("id", format!("id {id}").into())).collect();
    fields.extend((0..12).map(|text| ("description", format!("text {text}").into())));
    fields.extend(["PASSING", "FAILING", "open", "done", "almost"].map(|word| ("status", word.into())));
    fields.extend(["one", "two", "größe 3"].map(|phase| ("phase", phase.into())));
    fields.extend([json!(1), json!("high"), json!("soon"), json!(null)].map(|value| ("priority", value)));
    fields.extend([
        ("id", 7.into()),
        ("title", "A title with \"quotes\" and \n a line end".into()),
        ("name", "{".into()),
        ("passes", true.into()),
        ("dependencies", json!(["id 1", "id 2", "gone"])),
        ("dependencies", json!({"depends_on": ["id 3"], "blocks": ["id 4", "7"]})),
        ("dependsOn", "id 5".into()),
        ("ralph_loop", json!({"enabled": true, "current_iteration": 2})),
        ("attempts", objects.clone()),
        ("attempts", json!([{"evidence": {"commands_run": [], "results_summary": "x"}, "result": "PASSED"}])),
        ("steps", objects.clone()),
        ("steps", json!([objects, {"steps": objects}, objects])),
        ("na\"me", json!({})),
    ]);
    fields
}

fn element() -> impl Strategy<Value = Value> {
    let item = proptest::collection::vec(sample::select(fields()), 1..7).prop_map(|fields| {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
        Value::Object(fields.collect::<Map<_, _>>())
    });
    let other = sample::select(vec![json!(7), json!("text"), json!([]), json!({}), json!(null)]);
    prop_oneof![12 => item, 1 => other]
}

/// How a document is written.
#[derive(Debug, Clone, Copy)]
struct Style {
    indent: &'static str,
    line_end: &'static str,
    /// As deep as it may be, all lines are indented alike, so that they all look like elements.
    flat: bool,
}

fn style() -> impl Strategy<Value = Style> {
    let indent = sample::select(vec!["", " ", "  ", "    ", "\t"]);
    let line_end = sample::select(vec!["\n", "\n", "\r\n", "\n\n", " \n", ""]);
    (indent, line_end, any::<bool>()).prop_map(|(indent, line_end, flat)| Style { indent, line_end, flat })
}

fn write(value: &Value, style: Style, depth: usize, text: &mut String) {
    let line = |depth: usize| {
        let depth = if style.flat { 1 } else { depth };
        format!("{}{}", style.line_end, style.indent.repeat(depth))
    };
    let (open, close, parts): (_, _, Vec<(String, &Value)>) = match value {
        Value::Array(list) => ('[', ']', list.iter().map(|value| (String::new(), value)).collect()),
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| (format!("{}: ", Value::from(name.as_str())), value));
            ('{', '}', fields.collect())
        }
        other => return text.push_str(&other.to_string()),
    };
    text.push(open);
    for (nth, (name, value)) in parts.iter().enumerate() {
        text.push_str(if nth == 0 { "" } else { "," });
        text.push_str(&line(depth + 1));
        text.push_str(name);
        write(value, style, depth + 1, text);
    }
    if !parts.is_empty() {
        text.push_str(&line(depth));
    }
    text.push(close);
}

/// A list alone, or under its name, with another list before or behind it.
fn document() -> impl Strategy<Value = String> {
    let names = sample::select(vec!["items", "userStories", "stories", "tasks", "features", "list"]);
    let list = || proptest::collection::vec(element(), 0..14).prop_map(Value::Array);
    let bare = list();
    let named = (names.clone(), list(), names, list()).prop_map(|(name, list, other, second)| {
        let mut map = Map::new();
        map.insert(other.into(), second);
        map.insert(name.into(), list);
        Value::Object(map)
    });
    (prop_oneof![bare, named], style(), prop::bool::weighted(0.2)).prop_map(|(value, style, marked)| {
        let mut text = String::from(if marked { "\u{feff}" } else { "" });
        write(&value, style, 0, &mut text);
        text
    })
}

/// One character is gone, another, or one too many.
fn damaged() -> impl Strategy<Value = String> {
    let with =
        sample::select(vec!["", "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "0", "t", "\u{1}"]);
    (document(), any::<prop::sample::Index>(), with, any::<bool>()).prop_map(|(mut text, at, with, over)| {
        let at = text.floor_char_boundary(at.index(text.len()));
        let length = text[at..].chars().next().map_or(0, char::len_utf8);
        text.replace_range(at..at + if over { length } else { 0 }, with);
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_hands_read_what_one_reads(text in document()) {
        same(&text);
    }

    #[test]
    fn two_hands_find_the_fault_that_one_finds(text in damaged()) {
        same(&text);
    }
}

/// The properties above would hold as well if nothing were ever read in two, or never from a wrong place.
#[test]
fn made_up_documents_are_read_in_two_from_right_and_wrong_places() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut none, mut right, mut wrong) = (0, 0, 0);
    for _ in 0..200 {
        let tree = document().new_tree(&mut runner).expect("a document");
        match place(&tree.current()) {
            None => none += 1,
            Some((_, true)) => right += 1,
            Some((_, false)) => wrong += 1,
        }
    }
    assert!(none > 20 && right > 20 && wrong > 20, "{none} nowhere, {right} right, {wrong} wrong");
}
