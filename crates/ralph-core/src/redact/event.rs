//! Every text of an event that comes from elsewhere. The parts are taken apart without a rest, so that a field that comes
//! later has to be thought of here.
//!
//! Commands are the exception: a run that is continued starts them as they were given.

use super::Secrets;
use crate::check::CheckResult;
use crate::event::{AgentEnded, ChangedPath, End, Event, Judging, Measured, RunInfo, RunStarted};
use crate::evidence::AddedTodos;
use crate::indicator::Indicators;
use crate::items::{BacklogRead, Found, ItemAfter, ParkedItem, PutAside, Settled, WaitingItem};
use crate::limit::Limit;
use crate::own_files::Touch;
use crate::report::IterationReport;
use crate::report::block::Block;
use crate::report::dialects::{Saying, Vote};

impl Secrets {
    /// The event as it may be recorded.
    #[must_use]
    pub fn hide_event(&self, mut event: Event) -> Event {
        match &mut event {
            Event::RunStarted(started) => {
                let RunStarted { run, carried: _ } = &mut **started;
                let RunInfo { goal, id: _, number: _, plan: _, version: _ } = run;
                self.hide_in(goal);
            }
            Event::TreeMeasured(measured) => self.measured(measured),
            Event::MeasureFailed { error } => self.hide_in(error),
            Event::AgentEnded(ended) => self.ended(ended),
            Event::CheckEnded(check) => self.check(check),
            Event::NoteAdded { text, id: _ } => self.hide_in(text),
            Event::OwnFilesTouched { touches } => {
                for Touch { name, lost, kept, kind: _, how: _ } in touches {
                    self.hide_in(name);
                    self.hide_maybe(lost);
                    self.hide_maybe(kept);
                }
            }
            Event::BacklogRead(read) => {
                let BacklogRead {
                    found,
                    items: _,
                    phase: _,
                    phases: _,
                    blocked: _,
                    for_people: _,
                    earlier: _,
                    parked,
                    skipped: _,
                    waiting,
                } = &mut **read;
                for ParkedItem { title, reason, id: _, patch: _ } in parked {
                    self.hide_in(title);
                    reason.words_mut().into_iter().for_each(|words| self.hide_in(words));
                }
                waiting.iter_mut().for_each(|WaitingItem { title, id: _, on: _ }| self.hide_in(title));
                match found {
                    Found::Selected(work) => {
                        // Its id, criteria and commands must stay as they are to be of use.
                        self.hide_in(&mut work.title);
                        self.hide_in(&mut work.text);
                    }
                    Found::Stuck { why, next: _ } | Found::Unreadable { why } => self.hide_in(why),
                    Found::Complete => {}
                }
            }
            Event::ItemMarked { problem } => self.hide_maybe(problem),
            Event::Settled(settled) => {
                let Settled {
                    left,
                    problems,
                    remarks,
                    uncommitted,
                    unmarked,
                    commit: _,
                    reverted: _,
                    evidence: _,
                    task_file: _,
                    undid: _,
                    in_head: _,
                    put_aside,
                } = &mut **settled;
                if let Some(PutAside { left, in_head, stays, patch: _, files: _ }) = put_aside {
                    self.hide_all(left);
                    self.hide_all(in_head);
                    self.hide_maybe(stays);
                }
                self.hide_maybe(uncommitted);
                self.hide_maybe(unmarked);
                [left, problems, remarks].into_iter().for_each(|texts| self.hide_all(texts));
            }
            Event::RunResumed(_)
            | Event::AgentStarted { .. }
            | Event::AgentNeverStarted
            | Event::AgentSilent { .. }
            | Event::UsageSeen { .. }
            | Event::Slept { .. }
            | Event::TreePutBack(_)
            | Event::DeadlinePassed
            | Event::StopAsked { .. }
            | Event::CircuitReset
            | Event::RunClosed
            | Event::Unknown => {}
        }
        event
    }

    fn measured(&self, measured: &mut Measured) {
        let Measured {
            changed,
            notes,
            todos,
            when: _,
            tree: _,
            head: _,
            changed_total: _,
            commits: _,
            committed_change: _,
            taken,
            items: _,
            task_files: _,
            item,
            judging,
            left: _,
            left_head: _,
            stood: _,
            beside,
            flags,
            untold: _,
        } = measured;
        beside.iter_mut().for_each(|one| self.hide_in(&mut one.path));
        self.hide_all(flags);
        if let Some(ItemAfter {
            ticked_others,
            tampered,
            removed,
            changed,
            let_go,
            restored,
            committed,
            ticked_in_commits,
            departed,
            ticked: _,
            in_part: _,
            criteria: _,
            unreadable: _,
            put_back: _,
            deleted: _,
        }) = item
        {
            self.hide_maybe(departed);
            [ticked_others, tampered, removed, changed, let_go, restored, committed, ticked_in_commits]
                .into_iter()
                .for_each(|texts| self.hide_all(texts));
        }
        self.hide_all(taken);
        if let Some(Judging { tests, scripts, recipes, named_recipes, standing }) = judging {
            [tests, scripts, recipes, named_recipes, standing]
                .into_iter()
                .for_each(|texts| self.hide_all(texts));
        }
        for ChangedPath { path, kind: _ } in changed {
            self.hide_in(path);
        }
        self.hide_all(notes);
        if let Some(AddedTodos { samples, total: _ }) = todos {
            self.hide_all(samples);
        }
    }

    fn ended(&self, ended: &mut AgentEnded) {
        let AgentEnded { end, report, stderr, duration_ms: _, asked: _, leftovers: _, reset_at: _ } = ended;
        self.end(end);
        self.report(report);
        self.hide_maybe(stderr);
    }

    fn end(&self, end: &mut End) {
        if let End::NotStarted { error } = end {
            self.hide_in(error);
        }
    }

    fn check(&self, check: &mut CheckResult) {
        let CheckResult {
            end,
            failing,
            output_tail,
            name: _,
            command: _,
            asked: _,
            duration_ms: _,
            hollow: _,
        } = check;
        self.end(end);
        self.hide_all(failing);
        self.hide_in(output_tail);
    }

    fn report(&self, report: &mut IterationReport) {
        let IterationReport {
            block,
            sayings,
            indicators,
            errors,
            last_words,
            denied,
            files,
            limit,
            error,
            session,
            model,
            agent_version,
            problems,
            words: _,
            tools: _,
            tool_failures: _,
            api_status: _,
            usage: _,
            cost_micro_usd: _,
            cut_short: _,
            over_budget: _,
        } = report;
        if let Some(block) = block {
            self.block(block);
        }
        for Saying { quote, problems, vote, dialect: _ } in sayings {
            self.hide_in(quote);
            self.hide_all(problems);
            if let Vote::Blocked { why } = vote {
                self.hide_in(why);
            }
        }
        let Indicators { phrases, cancelled_by, count: _ } = indicators;
        self.hide_all(phrases);
        self.hide_maybe(cancelled_by);
        errors.errors = core::mem::take(&mut errors.errors)
            .into_iter()
            .map(|error| self.hide(&error).into_owned())
            .collect();
        self.hide_in(last_words);
        self.hide_all(denied);
        self.hide_all(files);
        if let Some(Limit { text, kind: _, status: _, reset: _ }) = limit {
            self.hide_in(text);
        }
        for text in [error, session, model, agent_version] {
            self.hide_maybe(text);
        }
        self.hide_all(problems);
    }

    fn block(&self, block: &mut Block) {
        let Block {
            odd_signal,
            odd_status,
            odd_tests,
            recommendation,
            verbatim,
            problems,
            status: _,
            tasks: _,
            files: _,
            tests: _,
            work_type: _,
            exit_signal: _,
        } = block;
        for text in [odd_signal, odd_status, odd_tests, recommendation] {
            self.hide_maybe(text);
        }
        self.hide_in(verbatim);
        self.hide_all(problems);
    }
}
