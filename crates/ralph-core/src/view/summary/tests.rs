use super::*;

fn item(nth: u64) -> Named {
    Named {
        id: format!("FEAT-{nth}"),
        title: format!("A title of item {nth} with several words in it"),
        made_id: false,
    }
}

fn lines(summary: &Summary) -> Vec<String> {
    let page = Page {
        columns: 80,
        width: &|text| text.chars().count(),
        moment: &|time| time.to_string(),
        readable: &|text| text.into(),
    };
    summary.lines(&page)
}

/// A list of ten whose items ended in these ways.
fn of_ten(passed: u64, parked: u64, waiting: u64) -> Summary {
    let long = "Which of the three providers that the contract names should the export use? ".repeat(8);
    let commit = |nth: u64| format!("{nth:040x}");
    let unfinished = 10 - passed - parked - waiting;
    Summary {
        run: 3,
        status: "blocked",
        ended: Some(Ended { reason: "blocked", text: format!("blocked: {long}"), exit_code: 2 }),
        iterations: 31,
        items: Some(Items { open: 10 - passed, total: 10 }),
        passed: (0..passed)
            .map(|nth| PassedItem { item: item(nth), rests_on: Rests::Proved, commit: Some(commit(nth)) })
            .collect(),
        parked: (0..parked)
            .map(|nth| ParkedLine {
                item: Some(item(100 + nth)),
                reason: "question".into(),
                question: Some(long.clone()),
                answer_with: format!("ralph note --item FEAT-{} \"...\"", 100 + nth),
                leave_out_with: None,
            })
            .collect(),
        waiting: (0..waiting)
            .map(|nth| WaitingLine { item: item(200 + nth), waits_for: vec!["FEAT-100".into()] })
            .collect(),
        unfinished: (0..unfinished)
            .map(|nth| UnfinishedItem { item: item(300 + nth), attempts: 2, why: Some(long.clone()) })
            .collect(),
        commits: (0..passed)
            .map(|nth| Commit { hash: commit(nth), subject: Some("feat: it".repeat(20)), by_agent: false })
            .collect(),
        next: vec!["to see all: ralph history".into(), "to continue: ralph run".into()],
        ..Summary::default()
    }
}

#[test]
fn however_a_list_of_ten_ends_its_summary_has_25_lines_of_80_columns_at_most() {
    for passed in 0..=10 {
        for parked in 0..=10 - passed {
            for waiting in 0..=10 - passed - parked {
                let lines = lines(&of_ten(passed, parked, waiting));
                let text = lines.join("\n");
                assert!(lines.len() <= 25, "{passed} {parked} {waiting}\n{text}");
                assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
                let answered =
                    (0..parked).filter(|nth| text.contains(&format!("--item FEAT-{} ", 100 + nth)));
                assert_eq!(answered.count() as u64, parked, "each is named with its command\n{text}");
                assert!(text.contains("ralph run"), "{text}");
            }
        }
    }
}

#[test]
fn a_question_is_shown_word_for_word_where_there_is_room() {
    let mut summary = of_ten(7, 1, 2);
    let question = "Postgres or SQLite? The driver in Cargo.toml is for neither, and the tests name both.";
    summary.parked[0].question = Some(question.into());
    let text = lines(&summary).iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("question: {question} answer with: ralph note")), "{text}");
    assert!(text.contains("FEAT-200 A title of item 200 with several words in it: for FEAT-100"), "{text}");
}

#[test]
fn what_is_claimed_is_not_listed_as_proved() {
    let mut summary = of_ten(2, 0, 0);
    summary.unfinished.clear();
    summary.passed[1].rests_on = Rests::Claimed;
    summary.passed[1].commit = None;
    let text = lines(&summary).join("\n");
    assert!(text.contains("; 1 proved, 1 claimed, 8 of 10 items open"), "{text}");
    assert!(text.contains("Proved (1):\n  FEAT-0 000000000 feat: it"), "{text}");
    let claimed = "Claimed, with no check to prove it (1):\n  FEAT-1 A title of item 1 with several words in it, not committed";
    assert!(text.contains(claimed), "{text}");
}
