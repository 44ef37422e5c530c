//! Stacks that are one manifest and the commands that go with it.

use serde_json::Value;

use super::{Detected, Folder};
use crate::prelude::*;

pub(super) fn rust(folder: &Folder, all: &mut Detected) {
    const FILE: &str = "Cargo.toml";
    if !folder.has(FILE) {
        return;
    }
    all.written_in("Rust", FILE);
    // Where a workspace has a package at its top, cargo means only that one unless it is told.
    let has = |head: &str| folder.text(FILE).lines().any(|line| line.trim_start().starts_with(head));
    let whole = has("[workspace") && has("[package]") && !has("default-members");
    let whole = if whole { " --workspace" } else { "" };
    all.add("build", format!("cargo build{whole}"), FILE);
    all.add("test", format!("cargo test{whole}"), FILE);
    all.add("lint", format!("cargo clippy{whole}"), FILE);
    all.needs("cargo-clippy");
}

pub(super) fn go(folder: &Folder, all: &mut Detected) {
    const FILE: &str = "go.mod";
    const LINT: [&str; 4] = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];
    if !folder.has(FILE) {
        return;
    }
    all.written_in("Go", FILE);
    all.add("build", "go build ./...", FILE);
    all.add("test", "go test ./...", FILE);
    match folder.first(&LINT) {
        Some(config) => all.add("lint", "golangci-lint run", config),
        None => all.add("lint", "go vet ./...", FILE),
    }
}

/// Testing compiles, so nothing else is built.
pub(super) fn jvm(folder: &Folder, all: &mut Detected) {
    const GRADLE: [&str; 4] = ["build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle"];
    if folder.has("pom.xml") {
        all.written_in("Java", "pom.xml");
        let program = if folder.has("mvnw") { "./mvnw" } else { "mvn" };
        all.add("test", format!("{program} -B test"), "pom.xml");
    } else if let Some(file) = folder.first(&GRADLE) {
        let kotlin = folder.mentions(&GRADLE, "kotlin(") || folder.mentions(&GRADLE, "org.jetbrains.kotlin");
        all.written_in(if kotlin { "Kotlin" } else { "Java" }, file);
        let program = if folder.has("gradlew") { "./gradlew" } else { "gradle" };
        all.add("test", format!("{program} test"), file);
    }
}

/// With several solutions or projects in one folder dotnet does not know which is meant, and nor does ralph.
pub(super) fn dotnet(folder: &Folder, all: &mut Detected) {
    let solutions = [folder.ending(".sln"), folder.ending(".slnx")].concat();
    let projects = [folder.ending(".csproj"), folder.ending(".fsproj")].concat();
    let (file, tests) = match (solutions.as_slice(), projects.as_slice()) {
        ([solution], _) => (*solution, true),
        ([], [project]) => (*project, folder.text(project).contains("Microsoft.NET.Test.Sdk")),
        _ => return,
    };
    let sharp = if projects.iter().any(|name| name.ends_with(".fsproj")) { "F#" } else { "C#" };
    all.written_in(sharp, file);
    // Another kind of file in the folder may be meant as well: it is named.
    let file_shown = if file.contains(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)) {
        format!("'{}'", file.replace('\'', r"'\''"))
    } else {
        file.to_owned()
    };
    all.add("build", format!("dotnet build {file_shown}"), file);
    if tests {
        all.add("test", format!("dotnet test {file_shown}"), file);
    }
}

pub(super) fn cmake(folder: &Folder, all: &mut Detected) {
    const FILE: &str = "CMakeLists.txt";
    if !folder.has(FILE) {
        return;
    }
    let text = folder.text(FILE).to_ascii_lowercase();
    all.written_in("C++", FILE);
    all.add("build", "cmake -S . -B build && cmake --build build", FILE);
    if text.contains("enable_testing") || text.contains("include(ctest)") {
        all.add("test", "ctest --test-dir build --output-on-failure", FILE);
    }
}

pub(super) fn elixir(folder: &Folder, all: &mut Detected) {
    const FILE: &str = "mix.exs";
    if !folder.has(FILE) {
        return;
    }
    all.written_in("Elixir", FILE);
    all.add("build", "mix compile", FILE);
    all.add("test", "mix test", FILE);
    if folder.has(".credo.exs") || folder.text(FILE).contains(":credo") {
        all.add("lint", "mix credo", folder.first(&[".credo.exs"]).unwrap_or(FILE));
    }
}

pub(super) fn php(folder: &Folder, all: &mut Detected) {
    const FILE: &str = "composer.json";
    let Ok(package) = serde_json::from_str::<Value>(folder.text(FILE)) else { return };
    all.written_in("PHP", FILE);
    // A script is one command or a list of them.
    let script = |name: &str| package["scripts"].get(name).is_some();
    let phpunit = folder.first(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]);
    if script("test") {
        all.add("test", "composer run-script test", format!("{FILE}, scripts.test"));
    } else if let Some(config) = phpunit {
        all.add("test", "vendor/bin/phpunit", config);
    }
    let phpstan = folder.first(&["phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"]);
    if script("lint") {
        all.add("lint", "composer run-script lint", format!("{FILE}, scripts.lint"));
    } else if let Some(config) = phpstan {
        all.add("lint", "vendor/bin/phpstan analyse", config);
    }
}
