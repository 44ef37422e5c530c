//! The way back from what was done to issues while an agent worked.

use super::{Call, DEFERRED};
use crate::backlog::Backlog;
use crate::prelude::*;

impl Backlog<'_> {
    /// What puts the issues back as they were `before`, where more was done to them than agents may do. What was added stays.
    pub fn way_back(&self, before: &Backlog<'_>) -> Vec<Call> {
        let touched = self.touched_since(before);
        let mut calls = Vec::new();
        for id in &touched.removed {
            calls.extend(before.find(id).into_iter().flat_map(|old| before.made_again(old)));
        }
        // Whoever waited for a removed issue has lost that with it.
        for (old, item) in before.items.iter().enumerate() {
            let still =
                self.find(&item.id).filter(|_| !touched.changed.iter().any(|altered| altered.id == item.id));
            let Some(now) = still.filter(|_| !before.is_others(old)) else { continue };
            let is = self.blocked_by(now);
            let lost = before
                .blocked_by(old)
                .into_iter()
                .filter(|on| touched.removed.contains(on) && !is.contains(on));
            calls.extend(lost.map(|on| Call::new(&["dep", "add", &item.id, &on])));
        }
        for altered in &touched.changed {
            let (Some(old), Some(new)) = (before.find(&altered.id), self.find(&altered.id)) else { continue };
            let id = &*altered.id;
            let mut args = Call::new(&["update", id]).args;
            let changed = |what: &str| altered.what.contains(&what);
            if changed("title") {
                args.extend(["--title".into(), before.items[old].title.to_string()]);
            }
            if changed("description") {
                before.texts_as_flags(old, &["description"], &mut args);
            }
            if changed("criteria") {
                before.texts_as_flags(old, &["acceptance"], &mut args);
            }
            let apart = changed("who has it") || changed("that it is handed out");
            if changed("state") || apart {
                args.extend(["--status".into(), before.status(old)]);
            }
            if apart {
                args.extend(["--assignee".into(), before.field(old, "assignee")]);
                for (flag, name) in [("--type", "issue_type"), ("--defer", DEFERRED)] {
                    let was = before.field(old, name);
                    let differs = was != self.field(new, name);
                    args.extend(differs.then(|| [flag.to_owned(), was]).into_iter().flatten());
                }
            }
            if args.len() > 2 {
                calls.push(Call { args, instead: None });
            }
            let (was, is) = (before.blocked_by(old), self.blocked_by(new));
            let missing = was.iter().filter(|on| !is.contains(on));
            calls.extend(missing.map(|on| Call::new(&["dep", "add", id, on])));
            let extra = is.iter().filter(|on| !was.contains(on));
            calls.extend(extra.map(|on| Call::new(&["dep", "remove", id, on])));
        }
        calls
    }

    /// The calls that make a removed issue anew: bd creates only open ones that nobody has and that wait for nothing.
    fn made_again(&self, at: usize) -> Vec<Call> {
        let item = &self.items[at];
        let id = &*item.id;
        let mut args = Call::new(&["create", "--id", id, "--force", "--title"]).args;
        args.push(item.title.to_string());
        self.texts_as_flags(at, &["description", "acceptance", "design"], &mut args);
        for (flag, name) in [("--type", "issue_type"), ("--notes", "notes")] {
            let text = self.field(at, name);
            args.extend((!text.is_empty()).then(|| [flag.to_owned(), text]).into_iter().flatten());
        }
        if (0..=4).contains(&item.priority) {
            args.extend(["--priority".into(), item.priority.to_string()]);
        }
        let labels = self.node(at).and_then(|node| node.get("labels"));
        let labels = labels.map(|node| node.texts().join(",")).filter(|labels| !labels.is_empty());
        args.extend(labels.map(|labels| ["--labels".to_owned(), labels]).into_iter().flatten());
        let mut calls = vec![Call { args, instead: None }];
        let (status, holder) = (self.status(at), self.field(at, "assignee"));
        if status != "open" || !holder.is_empty() {
            calls.push(Call::new(&["update", id, "--status", &status, "--assignee", &holder]));
        }
        calls.extend(self.blocked_by(at).iter().map(|on| Call::new(&["dep", "add", id, on])));
        calls
    }

    fn texts_as_flags(&self, at: usize, flags: &[&str], args: &mut Vec<String>) {
        for flag in flags {
            let name = if *flag == "acceptance" { "acceptance_criteria" } else { flag };
            let text = self.node(at).and_then(|node| node.get(name)?.str()).unwrap_or_default();
            args.extend([format!("--{flag}"), text.into()]);
        }
    }
}
