//! `ralph backlog` against python3 that does the same with its standard library.

use std::fmt::Write as _;
use std::path::Path;

use super::place::Place;
use super::samples::Samples;
use super::table::{Row, Target, Value};
use crate::Result;

/// How many items, and how often.
const SIZES: [(usize, usize); 2] = [(1_000, 15), (100_000, 5)];
const MOST: f64 = 0.1;
const FILE: &str = "feature_list.json";

/// Seed 003's scripts, as short as they can be: load, check for cycles, choose; add an attempt and write the file back;
/// the five rules, ids that are there twice, dependencies that are missing, cycles.
const PYTHON: &str = r#"
import json, sys
from datetime import datetime
what, path = sys.argv[1], sys.argv[2]
with open(path) as f: data = json.load(f)
items = data["items"]
by_id = {item["id"]: item for item in items}
def ring():
    seen = {}
    for start in items:
        if start["id"] in seen: continue
        seen[start["id"]] = 1
        way = [(start["id"], iter(start["dependencies"]))]
        while way:
            for dep in way[-1][1]:
                if dep not in by_id: continue
                if seen.get(dep) == 1: return True
                if dep not in seen:
                    seen[dep] = 1
                    way.append((dep, iter(by_id[dep]["dependencies"])))
                    break
            else: seen[way.pop()[0]] = 2
    return False
if what == "next":
    if ring(): sys.exit(2)
    done = ("PASSING", "CANCELLED")
    open_items = [i for i in items if i["status"] == "FAILING" and i.get("ralph_loop", {}).get("enabled")
        and i["ralph_loop"].get("current_iteration", 0) < i["ralph_loop"].get("max_iterations", 5)
        and all(d in by_id and by_id[d]["status"] in done for d in i["dependencies"])]
    print(json.dumps({"selected": min(open_items, key=lambda i: (i["priority"], i["id"]))["id"]}))
elif what == "attempt":
    by_id[sys.argv[3]]["attempts"].append({"run_id": "worker-002", "timestamp": datetime.now().isoformat(),
        "result": "FAILED", "evidence": {"commands_run": ["make"], "results_summary": "red"}, "commit": None, "reverted": False})
    with open(path, "w") as f: json.dump(data, f, indent=2)
else:
    faults = len(items) - len(by_id) + ring()
    for item in items:
        faults += sum(dep not in by_id for dep in item["dependencies"])
        passed = False
        for a in item["attempts"]:
            if a["result"] == "PASSED":
                passed = True
                faults += (not a["evidence"]["commands_run"]) + (not a["evidence"]["results_summary"])
            faults += not a.get("run_id")
            datetime.fromisoformat(a["timestamp"].replace("Z", "+00:00"))
        faults += item["status"] == "PASSING" and not passed
    print(faults)
"#;

pub(super) fn against_python(place: &Place) -> Result<(Vec<Row>, Vec<String>)> {
    let home = place.script("backlog/tasks.py", PYTHON)?;
    let cwd = home.parent().unwrap_or(&home).to_path_buf();
    if place.time(place.command("python3", &cwd).arg("-V"), 0).is_err() {
        return Ok((vec![], vec!["backlog: left out, there is no python3 to measure against".into()]));
    }
    let mut rows = Vec::new();
    for (items, times) in SIZES {
        place.script("backlog/feature_list.json", &features(items))?;
        let last = format!("FEAT-{:06}", items - 1);
        agree(place, &cwd)?;
        for (what, ours) in [
            ("next", vec!["backlog", "next", "--json"]),
            (
                "attempt",
                vec!["backlog", "attempt", &last, "FAILED", "--commands", "make", "--summary", "red"],
            ),
            ("validate", vec!["backlog", "validate"]),
        ] {
            rows.push(one(place, &cwd, (what, items, times), &ours, &last)?);
        }
        let attempts =
            place.said(&mut place.ralph(&cwd, &["backlog", "show", &last, "--json", "--backlog", FILE]))?;
        let recorded = attempts.matches("\"worker-002\"").count();
        if recorded != times {
            return Err(format!("python3 recorded {recorded} attempts of {times}"));
        }
    }
    Ok((rows, vec![]))
}

/// Both choose the same item and find the same faults: what is compared is the same work.
fn agree(place: &Place, cwd: &Path) -> Result<()> {
    let python = |what: &str| place.said(place.command("python3", cwd).args(["tasks.py", what, FILE]));
    let ralph = |args: &[&str]| place.said(&mut place.ralph(cwd, &[args, &["--backlog", FILE]].concat()));
    let (theirs, ours) = (python("next")?, ralph(&["backlog", "next", "--json"])?);
    let id = theirs.split('"').nth(3).unwrap_or_default();
    if id.is_empty() || !ours.contains(&format!("\"id\": \"{id}\"")) {
        return Err(format!("python3 selects {theirs}, and ralph {ours}"));
    }
    let (theirs, ours) = (python("validate")?, ralph(&["backlog", "validate"])?);
    match theirs.trim() {
        "0" => Ok(()),
        _ => Err(format!("python3 finds {theirs} faults, and ralph {ours}")),
    }
}

fn one(
    place: &Place,
    cwd: &Path,
    (what, items, times): (&str, usize, usize),
    ours: &[&str],
    last: &str,
) -> Result<Row> {
    let file = ["--backlog", FILE];
    let (mut ralph, mut python) = (Samples::default(), Samples::default());
    for _ in 0..times {
        let theirs = ["tasks.py", what, FILE, last];
        python.push(place.time(place.command("python3", cwd).args(theirs), 0)?);
        ralph.push(place.time(&mut place.ralph(cwd, &[ours, &file].concat()), 0)?);
    }
    Ok(Row {
        what: format!("backlog {what}, {items} items"),
        measured: Value::Millis(ralph.median()),
        baseline: Value::Millis(python.median()),
        against: "python3",
        ratio: ralph.median() / python.median(),
        target: Some(Target::AtMost(MOST)),
        runs: times,
        spread: Some(ralph.spread()),
    })
}

/// A feature list as json.dump writes it: a third is done, each item depends on two before it.
fn features(items: usize) -> String {
    let mut text = String::from("{\n  \"schema_version\": \"1.0\",\n  \"items\": [");
    for nth in 0..items {
        let (status, result) = if nth % 3 == 0 { ("PASSING", "PASSED") } else { ("FAILING", "FAILED") };
        let depends = match nth {
            0 | 1 => String::new(),
            _ => {
                format!("\n        \"FEAT-{:06}\",\n        \"FEAT-{:06}\"\n      ", nth / 2, nth / 3 * 3 / 2)
            }
        };
        let _ = write!(
            text,
            "{}\n    {{\n      \"id\": \"FEAT-{nth:06}\",\n      \"title\": \"Feature number {nth}\",\n      \
             \"description\": \"What number {nth} is about, in a sentence or two as people write them.\",\n      \
             \"acceptance_criteria\": [\n        \"it builds\",\n        \"its tests pass\"\n      ],\n      \
             \"verification\": [\n        \"make test-{nth}\"\n      ],\n      \"status\": \"{status}\",\n      \
             \"priority\": {},\n      \"dependencies\": [{depends}],\n      \"attempts\": [\n        {{\n          \
             \"run_id\": \"worker-001\",\n          \"timestamp\": \"2026-01-07T19:30:00Z\",\n          \
             \"result\": \"{result}\",\n          \"evidence\": {{\n            \"commands_run\": [\n              \
             \"make\"\n            ],\n            \"results_summary\": \"as it should be\"\n          }},\n          \
             \"commit\": \"abc1234\",\n          \"reverted\": false\n        }}\n      ],\n      \"notes\": \"\",\n      \
             \"ralph_loop\": {{\n        \"enabled\": true,\n        \"max_iterations\": 5,\n        \
             \"current_iteration\": 1\n      }}\n    }}",
            if nth == 0 { "" } else { "," },
            1 + nth % 9,
        );
    }
    text.push_str("\n  ]\n}\n");
    text
}
