use super::*;

fn check(text: &str) -> Result<(), Fault> {
    let mut walk = Walk::new(text);
    walk.any()?;
    walk.end()
}

#[test]
fn what_serde_json_takes_is_taken_and_what_it_refuses_is_refused() {
    for text in [
        "1",
        "-0",
        "0.5e-3",
        "01",
        "-",
        "1.",
        "1e",
        "+1",
        "null",
        "nul",
        "true",
        "True",
        "\"a\"",
        "\"a",
        "\"\u{1}\"",
        "\"a\\qb\"",
        "\"\\u12g4\"",
        "\"\\u00e9\"",
        "\"exactly8\"",
        "\"seven77\\\"\"",
        "[]",
        "[1,]",
        "[1 2]",
        "[,]",
        "{}",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":}",
        "[1]x",
        "",
        " [ { \"a\" : [ ] } ] ",
        "{\"größe\":\"日本語 and more\"}",
        "\"tab\there\"",
        "\"a\\",
        "[\"long enough to be read in words of eight\\n\", \"\\\\\"]",
    ] {
        let theirs = serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert_eq!(check(text).is_ok(), theirs, "{text}");
    }
}

#[test]
fn a_mark_at_the_start_is_no_fault_and_depth_has_a_limit() {
    assert_eq!(check("\u{feff}{}"), Ok(()));
    assert_eq!(check(&"[".repeat(100_000)).unwrap_err().why, "nested too deeply");
}

#[test]
fn a_fault_knows_its_place() {
    assert_eq!(check("{\"a\": x}"), Err(Fault { at: 6, why: "a value was expected" }));
}

#[test]
fn fields_and_elements_know_their_bytes() {
    let text = "{ \"a\" : [1, \"x\\ny\"], \"b\":{}, \"a\": 2 }";
    let value = Walk::new(text).any().expect("JSON");
    let fields = value.fields();
    assert_eq!(
        fields.iter().map(|field| &text[field.key.clone()]).collect::<Vec<_>>(),
        ["\"a\"", "\"b\"", "\"a\""]
    );
    let list = fields[0].value.elements();
    assert_eq!((list[0].raw(), list[1].str().as_deref()), ("1", Some("x\ny")));
    assert_eq!(value.get("a").expect("there").raw(), "2", "of two the last");
    assert!(fields[1].value.fields().is_empty() && fields[0].value.fields().is_empty());
}
