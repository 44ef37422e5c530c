//! Ruby: rspec, rails or rake, by bundler where there is a Gemfile.

use super::{Detected, Folder};
use crate::prelude::*;

pub(super) fn tasks(folder: &Folder, all: &mut Detected) {
    let Some(mark) = folder.first(&["Gemfile", "Rakefile", ".rspec"]) else { return };
    all.written_in("Ruby", mark);
    let bundle = if folder.has("Gemfile") { "bundle exec " } else { "" };
    let rakefile = folder.text("Rakefile");
    if folder.has(".rspec") || (folder.has("spec") && folder.text("Gemfile").contains("rspec")) {
        let source = folder.first(&[".rspec", "Gemfile"]).unwrap_or(mark);
        all.add("test", format!("{bundle}rspec"), source);
    } else if rakefile.contains("Rails.application.load_tasks") && folder.has("bin") {
        all.add("test", "bin/rails test", "Rakefile");
    } else if has_task(rakefile, "test") {
        all.add("test", format!("{bundle}rake test"), "Rakefile, test");
    } else if has_task(rakefile, "spec") {
        all.add("test", format!("{bundle}rake spec"), "Rakefile, spec");
    }
    if folder.has(".rubocop.yml") {
        all.add("lint", format!("{bundle}rubocop"), ".rubocop.yml");
    }
}

/// `task :test`, `task test: …`, or what rake's and minitest's own classes define under that name.
fn has_task(rakefile: &str, name: &str) -> bool {
    let defines = |line: &str| {
        let line = line.trim_start();
        let task = line.strip_prefix("task").map(|rest| rest.trim_start_matches([' ', '(', ':', '"', '\'']));
        let after = task.and_then(|rest| rest.strip_prefix(name));
        // Not `task :test_all`, nor `task "test:unit"`.
        let ends = after.is_some_and(|after| {
            after.is_empty() || after.starts_with([' ', ',', '"', '\'', ')', '=']) || after.starts_with(": ")
        });
        let class = match name {
            "test" => line.contains("Rake::TestTask.new") || line.contains("Minitest::TestTask.create"),
            _ => line.contains("RSpec::Core::RakeTask.new"),
        };
        ends || class
    };
    rakefile.lines().any(defines)
}
