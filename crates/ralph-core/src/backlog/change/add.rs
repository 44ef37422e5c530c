//! A new item, written as the others of its file are.

use super::{Changed, Now, Refusal};
use crate::backlog::fields::priority_of;
use crate::backlog::node::Node;
use crate::backlog::write::{self, Written};
use crate::backlog::{Backlog, Shape, Source, State, moves, select};
use crate::prelude::*;

#[derive(Debug, Clone, Default)]
pub struct NewItem {
    /// None: made of the title.
    pub id: Option<String>,
    pub title: String,
    pub description: Option<String>,
    pub priority: Option<String>,
    pub phase: Option<String>,
    pub dependencies: Vec<String>,
    pub criteria: Vec<String>,
    pub verification: Vec<String>,
}

const WORDS: [&str; 4] = ["critical", "high", "medium", "low"];

impl Backlog<'_> {
    pub(super) fn add(&self, new: &NewItem) -> Result<Changed, Refusal> {
        if new.title.trim().is_empty() {
            return Err(Refusal::NoTitle);
        }
        if new.id.as_ref().is_some_and(|id| id.trim().is_empty()) {
            return Err(Refusal::NoId);
        }
        if let Source::Markdown(list) = &self.source {
            self.refuse_extras(new, true)?;
            let mut title = new.title.trim().to_owned();
            let edit = match &new.priority {
                None => write::lines::add(self.text, list, &mut title),
                Some(word) => {
                    let priority = priority_of(word).ok_or_else(|| Refusal::BadPriority(word.clone()))?;
                    let found = write::lines::add_under(self.text, list, new.title.trim(), priority);
                    found.ok_or_else(|| Refusal::NoHeading(word.clone()))?
                }
            };
            let edit = edit.map_err(Refusal::NotLossless)?;
            let text = self.spliced(core::slice::from_ref(&edit))?;
            let nth = list.entries.iter().take_while(|entry| entry.line.start < edit.range.start).count();
            let priority = new.priority.as_deref().and_then(priority_of);
            let id = self.prove_box(&text, nth, &title, priority)?;
            return Ok(Changed {
                text,
                edits: vec![edit],
                id,
                state: State::Open,
                status: State::Open.word().into(),
                limit: None,
                incremented: None,
                run_id: None,
            });
        }
        let id = self.id_for(new);
        if self.shape != Shape::FeatureArray && self.find(&id).is_some() {
            return Err(Refusal::Duplicate(id));
        }
        for dependency in new.dependencies.iter().filter(|other| **other != id) {
            if self.find(dependency).is_none() {
                return Err(Refusal::MissingDependency { id, dependency: dependency.clone() });
            }
        }
        let written = self.written(new, &id)?;
        let edit = match (&self.source, self.list()) {
            (_, Some(Node::Json(list))) => Ok(write::json::push(self.text, list, &written)),
            (Source::Yaml { root, list: Some(name) }, _) => match write::yaml::field(root, name) {
                Some((key, list)) => write::yaml::push(self.text, key, list, &written),
                None => Err("there is no list".into()),
            },
            (Source::Yaml { root, list: None }, _) => write::yaml::push(self.text, root, root, &written),
            _ => Err("there is no list".into()),
        };
        let edit = edit.map_err(Refusal::NotLossless)?;
        let text = self.spliced(core::slice::from_ref(&edit))?;
        let Now { state, status, limit } = self.prove_added(&text, &written.value())?;
        let after = Backlog::read(&text, self.syntax)?;
        if let Some(ring) = select::cycle(&after).filter(|_| select::cycle(self).is_none()) {
            return Err(Refusal::Cycle(ring));
        }
        let id = after.items.last().map(|item| item.id.clone().into_owned()).unwrap_or(id);
        Ok(Changed { text, edits: vec![edit], id, state, status, limit, incremented: None, run_id: None })
    }

    fn id_for(&self, new: &NewItem) -> String {
        match &new.id {
            Some(id) => id.clone(),
            None if self.shape == Shape::Tasks && self.titles_are_ids() => new.title.clone(),
            None => slug(&new.title),
        }
    }

    /// A task list whose tasks have no `id`.
    fn titles_are_ids(&self) -> bool {
        !self.items.is_empty() && self.node(0).is_some_and(|node| node.get("id").is_none())
    }

    fn written(&self, new: &NewItem, id: &str) -> Result<Written, Refusal> {
        let text = |text: &str| Written::Text(text.to_owned());
        let open = moves::word(self.shape, State::Open).unwrap_or_default();
        // As the others tell theirs.
        let state = || {
            let fields = self.fields_of_state(None).into_iter().filter_map(|path| path.first().copied());
            fields.map(|name| match name {
                "status" => (name, text(open)),
                _ => (name, Written::Bool(false)),
            })
        };
        let description = new.description.as_deref().unwrap_or(&new.title);
        let mut fields: Vec<(&'static str, Written)> = Vec::new();
        match self.shape {
            Shape::Features => {
                self.refuse_extras(new, false)?;
                fields.extend([
                    ("id", text(id)),
                    ("title", text(&new.title)),
                    ("description", text(description)),
                ]);
                fields.push(("acceptance_criteria", Written::texts(&new.criteria)));
                fields.push(("verification", Written::texts(&new.verification)));
                fields.extend([("status", text(open)), ("priority", self.number(new, 100)?)]);
                fields.push(("dependencies", Written::texts(&new.dependencies)));
                fields.extend([("attempts", Written::List(vec![])), ("override_reason", Written::Null)]);
                fields.push(("notes", text("")));
                let looping = [
                    ("enabled", Written::Bool(true)),
                    ("max_iterations", Written::Number(5)),
                    ("current_iteration", Written::Number(0)),
                ];
                fields.push(("ralph_loop", Written::map(looping)));
            }
            Shape::Tasks => {
                let titled = self.titles_are_ids();
                if !titled {
                    fields.push(("id", text(id)));
                }
                fields.push(("title", text(&new.title)));
                if let Some(description) = &new.description {
                    fields.push(("description", text(description)));
                }
                if !titled || new.priority.is_some() {
                    fields.push(("priority", self.word(new)?));
                }
                fields.extend(state());
                if let Some(phase) = &new.phase {
                    fields.push(("phase", text(phase)));
                }
                lists(&mut fields, new, "dependencies", "acceptance_criteria", "verification");
            }
            Shape::UserStories | Shape::Stories => {
                self.refuse_extras(new, false)?;
                fields.extend([("id", text(id)), ("title", text(&new.title))]);
                if new.description.is_some() || self.shape == Shape::UserStories {
                    fields.push(("description", text(description)));
                }
                fields.push(("acceptanceCriteria", Written::texts(&new.criteria)));
                if self.shape == Shape::UserStories {
                    fields.push(("priority", self.number(new, self.items.len() as i64 + 1)?));
                }
                fields.extend(state());
                let rest = NewItem { criteria: vec![], ..new.clone() };
                let known = (0..self.items.len()).find_map(|at| self.node(at)?.get("dependencies"));
                let depends = if known.is_some() { "dependencies" } else { "dependsOn" };
                lists(&mut fields, &rest, depends, "", "verification");
                if let Some(place) = fields.iter_mut().find(|(name, _)| *name == "dependencies")
                    && known.is_some_and(|node| node.is_map())
                {
                    place.1 =
                        Written::map([("depends_on", place.1.clone()), ("blocks", Written::List(vec![]))]);
                }
            }
            // bd makes them.
            Shape::Beads => return Err(Refusal::NoPlace { shape: self.shape.word(), what: "edits" }),
            Shape::FeatureArray | Shape::Checklist => {
                self.refuse_extras(new, true)?;
                fields.extend([("category", text("functional")), ("description", text(&new.title))]);
                fields.extend([("steps", Written::texts(&new.criteria)), ("passes", Written::Bool(false))]);
            }
        }
        Ok(Written::Map(fields))
    }

    /// What this dialect cannot say is not left out in silence.
    fn refuse_extras(&self, new: &NewItem, bare: bool) -> Result<(), Refusal> {
        let shape = self.shape.word();
        let asked = [
            (new.phase.is_some(), "a phase"),
            (bare && new.id.is_some(), "an id"),
            (bare && !new.dependencies.is_empty(), "dependencies"),
            (bare && new.priority.is_some() && self.shape != Shape::Checklist, "a priority"),
            (bare && !new.verification.is_empty(), "verification commands"),
            (bare && new.description.is_some(), "a description"),
            (self.shape == Shape::Checklist && !new.criteria.is_empty(), "criteria"),
        ];
        match asked.into_iter().find(|(asked, _)| *asked) {
            Some((_, what)) => Err(Refusal::NoPlace { shape, what }),
            None => Ok(()),
        }
    }

    fn number(&self, new: &NewItem, none: i64) -> Result<Written, Refusal> {
        let Some(word) = &new.priority else { return Ok(Written::Number(none)) };
        priority_of(word).map(Written::Number).ok_or_else(|| Refusal::BadPriority(word.clone()))
    }

    fn word(&self, new: &NewItem) -> Result<Written, Refusal> {
        let word = new.priority.as_deref().unwrap_or("medium");
        let known = WORDS.iter().find(|known| known.eq_ignore_ascii_case(word));
        known.map(|word| Written::Text((*word).into())).ok_or_else(|| Refusal::BadPriority(word.into()))
    }
}

fn lists(
    fields: &mut Vec<(&'static str, Written)>,
    new: &NewItem,
    depends: &'static str,
    criteria: &'static str,
    verification: &'static str,
) {
    let lists = [(depends, &new.dependencies), (criteria, &new.criteria), (verification, &new.verification)];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        fields.push((name, Written::texts(list)));
    }
}

/// `Fix the login!` becomes `fix-the-login`.
fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    if slug.is_empty() { crate::backlog::model::id_of(title, 1) } else { slug }
}
