//! Whole transcripts of all four CLIs, through the decoder and the report builder, as a run reads them.

use std::fmt::Write as _;

use ralph_core::gate::{self, Words};
use ralph_core::profile::{Gate, PROFILES, Policy};
use ralph_core::report::{Builder, IterationReport};
use ralph_core::transcript::{Decoder, Format};

use super::conversation::{CLIS, Conversation, Declared, conversations};

fn report(bytes: &str) -> IterationReport {
    let mut decoder = Decoder::new(Format::Auto);
    let mut builder = Builder::default();
    decoder.feed(bytes.as_bytes(), |item| builder.add(item));
    decoder.finish(|item| builder.add(item));
    builder.finish()
}

#[test]
fn every_conversation_comes_through_the_transcript_of_each_cli() {
    let both = ["transcripts", "transcripts_held_out"].map(conversations);
    for conversation in both.iter().flatten() {
        let Conversation { id, steps, .. } = conversation;
        for (cli, print) in CLIS {
            let report = report(&print(conversation));
            let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let said = squeeze(conversation.last_said());
            let (heard, said) =
                (squeeze(&report.last_words), &said[said.floor_char_boundary(said.len() / 2)..]);
            assert!(heard.ends_with(said), "{id}, {cli}: {heard:?} instead of {said:?}");
            let tools = steps.iter().filter(|step| step.say.is_none()).count();
            assert_eq!(report.tools as usize, tools, "{id}, {cli}: tools");
        }
    }
}

/// How one profile's gate reads the transcripts of one set.
#[derive(Default)]
struct Score {
    transcripts: u32,
    done: u32,
    false_done: u32,
    missed_done: u32,
    /// Blocked where it is not, or the reverse.
    wrong_blocked: u32,
    mistakes: String,
}

impl Score {
    fn of(policy: &Policy, conversations: &[Conversation]) -> Self {
        let mut score = Self::default();
        for conversation in conversations {
            for (cli, print) in CLIS {
                let report = report(&print(conversation));
                let words = gate::judge(context(policy), &report);
                score.add(conversation, is_done(policy, conversation), &words, cli);
            }
        }
        score
    }

    fn add(&mut self, conversation: &Conversation, done: bool, words: &Words, cli: &str) {
        self.transcripts += 1;
        self.done += u32::from(done);
        let blocked = matches!(words, Words::Blocked { .. });
        let mistake = match (matches!(words, Words::Done { .. }), done) {
            (true, false) => (&mut self.false_done, "false done"),
            (false, true) => (&mut self.missed_done, "missed done"),
            _ if blocked != (conversation.declared == Declared::Blocked) => {
                (&mut self.wrong_blocked, "blocked or not")
            }
            _ => return,
        };
        *mistake.0 += 1;
        let _ = writeln!(
            self.mistakes,
            "{} {cli}: {}: {}\n    {:?}",
            conversation.id,
            mistake.1,
            words.describe(),
            conversation.last_said()
        );
    }

    fn missed_percent(&self) -> f64 {
        100.0 * f64::from(self.missed_done) / f64::from(self.done.max(1))
    }

    fn row(&self, profile: &str, set: &str) -> String {
        format!(
            "{profile:<10} {set:<12} {:>11} {:>10} {:>7}/{:<3} {:>5.1} % {:>14}",
            self.transcripts,
            self.false_done,
            self.missed_done,
            self.done,
            self.missed_percent(),
            self.wrong_blocked,
        )
    }
}

fn context(policy: &Policy) -> gate::Context {
    gate::Context {
        gate: policy.gate,
        indicators: policy.indicators,
        review: false,
        has_test_check: true,
        believes_contradictions: policy.believe_contradictions,
    }
}

/// What this profile should read, by the label.
fn is_done(policy: &Policy, conversation: &Conversation) -> bool {
    let declared = conversation.declared == Declared::Done;
    match policy.gate {
        Gate::Dual => declared && conversation.in_words,
        _ if policy.believe_contradictions => declared || conversation.signal,
        _ => declared,
    }
}

#[test]
fn whole_transcripts_are_read_as_people_read_them() {
    let sets = [("development", "transcripts"), ("held-out", "transcripts_held_out")]
        .map(|(name, file)| (name, conversations(file)));
    let (mut scores, mut mistakes) = (vec![], String::new());
    println!("{:<10} {:<12} transcripts false-done   missed-done     wrong-blocked", "profile", "set");
    for profile in PROFILES {
        let policy = profile.policy();
        if policy.gate == Gate::Evidence {
            println!("{:<10} its gate does not ask the words", profile.name);
            continue;
        }
        for (set, conversations) in &sets {
            let score = Score::of(&policy, conversations);
            println!("{}", score.row(profile.name, set));
            if *set == "development" {
                mistakes.push_str(&format!("{}:\n{}", profile.name, score.mistakes));
            }
            scores.push((profile.name, *set, score));
        }
    }
    println!("\nmistakes on the development set:\n{mistakes}");
    for (profile, set, score) in &scores {
        assert_eq!(
            score.false_done, 0,
            "{profile}, {set}: taken for done where the agent did not declare it"
        );
        assert_eq!(score.wrong_blocked, 0, "{profile}, {set}: blocked where it is not, or the reverse");
        let missed = score.missed_percent();
        assert!(missed <= 2.0, "{profile}, {set}: {missed:.1} % of the declared dones missed");
    }
}
