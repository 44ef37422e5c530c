//! Task files: any bytes are a backlog or an error, and a change changes what it says it does.

use ralph_core::backlog::{Backlog, Change, NewItem, Requirements, State, Syntax, Wish, select, validate};
use ralph_core::edit::splice;

pub(super) fn backlog(bytes: &[u8]) {
    let _ = Requirements::parse(bytes);
    for syntax in [Syntax::Json, Syntax::Yaml, Syntax::Markdown] {
        let Ok(backlog) = Backlog::parse(bytes, syntax) else { continue };
        let (_, stats) = select(&backlog, Wish::default());
        assert_eq!(stats.total, backlog.items().len() as u64);
        assert_eq!(backlog.lines().len(), backlog.items().len());
        validate(&backlog, None, true);
        for at in 0..backlog.items().len().min(8) {
            backlog.words(at, None);
            backlog.judged_by(at, None);
            let id = backlog.items()[at].id.clone().into_owned();
            for to in [State::Open, State::InProgress, State::Done, State::Blocked] {
                changes(&backlog, &Change::State { id: id.clone(), to, at: None });
            }
            changes(&backlog, &Change::Reset { id: id.clone() });
            changes(
                &backlog,
                &Change::Increment { id, block_on_max: true, override_reason: Some("x".into()) },
            );
        }
        changes(&backlog, &Change::Add(NewItem { title: "one: more".into(), ..NewItem::default() }));
    }
}

/// Made or refused; if made, by its edits and by nothing else.
fn changes(backlog: &Backlog<'_>, change: &Change) {
    if let Ok(changed) = backlog.change(change) {
        assert_eq!(splice(backlog.text(), &changed.edits).as_ref(), Some(&changed.text));
    }
}
