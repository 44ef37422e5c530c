use std::vec;

use super::*;

/// Files and their texts; a name that ends in a slash is a folder.
fn folder(files: &[(&str, &str)]) -> Folder {
    let names = files.iter().map(|(name, _)| name.trim_end_matches('/').into()).collect();
    let read = files.iter().filter(|(name, _)| is_read(name));
    Folder { names, texts: read.map(|(name, text)| ((*name).into(), (*text).into())).collect() }
}

fn found(files: &[(&str, &str)]) -> Detected {
    detect(&folder(files), &BTreeMap::new())
}

/// `test: cargo test (Cargo.toml)`, one for each check.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    joined(&found(files).checks).iter().map(CheckSpec::described).collect()
}

fn stacks(found: &Detected) -> Vec<String> {
    found.stacks.iter().map(Stack::described).collect()
}

fn language(files: &[(&str, &str)]) -> (String, String) {
    let first = found(files).stacks.into_iter().next();
    first.map(|stack| (stack.language, stack.detected_from)).unwrap_or_default()
}

#[test]
fn the_four_stacks_of_seed_004_have_their_commands() {
    let node = r#"{"scripts": {"build": "tsc", "test": "vitest run", "lint": "eslint ."}}"#;
    for (files, language_and_file, checks) in [
        (
            &[("package.json", node), ("tsconfig.json", "{}")][..],
            ("TypeScript", "package.json"),
            &[
                "build: npm run build (package.json, scripts.build)",
                "test: npm test (package.json, scripts.test)",
                "lint: npm run lint (package.json, scripts.lint)",
            ][..],
        ),
        (
            &[("Cargo.toml", "[package]\nname = 'a'\n")],
            ("Rust", "Cargo.toml"),
            &[
                "build: cargo build (Cargo.toml)",
                "test: cargo test (Cargo.toml)",
                "lint: cargo clippy (Cargo.toml)",
            ],
        ),
        (
            &[("pyproject.toml", "[dependency-groups]\ndev = ['pytest', 'ruff']\n")],
            ("Python", "pyproject.toml"),
            &["test: pytest (pyproject.toml)", "lint: ruff check (pyproject.toml)"],
        ),
        (
            &[("go.mod", ""), (".golangci.yml", "")],
            ("Go", "go.mod"),
            &[
                "build: go build ./... (go.mod)",
                "test: go test ./... (go.mod)",
                "lint: golangci-lint run (.golangci.yml)",
            ],
        ),
    ] {
        assert_eq!(told(files), checks);
        assert_eq!(language(files), (language_and_file.0.into(), language_and_file.1.into()));
    }
}

#[test]
fn only_scripts_that_exist_and_end_are_named() {
    for script in [
        r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        r#"{"scripts": {"test": "jest --watch"}}"#,
        r#"{"scripts": {"test": " "}}"#,
        r#"{"scripts": {"tests": "jest"}}"#,
        r#"{"name": "a"}"#,
        "not json",
    ] {
        assert_eq!(told(&[("package.json", script)]), Vec::<String>::new(), "{script}");
    }
    let watches = r#"{"scripts": {"test": "react-scripts test"}}"#;
    assert_eq!(told(&[("package.json", watches)]), ["test: CI=true npm test (package.json, scripts.test)"]);
    assert_eq!(found(&[("package.json", watches)]).checks[0].program, "npm");
}

#[test]
fn scripts_are_run_by_the_package_manager_of_the_project() {
    let package = r#"{"scripts": {"test": "jest", "build": "x"}, "devDependencies": {"eslint": "9"}}"#;
    for (lock, commands) in [
        ("package-lock.json", ["npm run build", "npm test", "npx --no-install eslint ."]),
        ("pnpm-lock.yaml", ["pnpm run build", "pnpm test", "pnpm exec eslint ."]),
        ("yarn.lock", ["yarn run build", "yarn test", "yarn run eslint ."]),
        ("bun.lock", ["bun run build", "bun run test", "bun run eslint ."]),
    ] {
        let files = [("package.json", package), (lock, ""), ("eslint.config.js", "")];
        let checks = joined(&found(&files).checks);
        assert_eq!(checks.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(), commands);
    }
    let said = r#"{"scripts": {"test": "jest"}, "packageManager": "pnpm@9.1.0"}"#;
    let files = [("package.json", said), ("yarn.lock", "")];
    assert_eq!(told(&files), ["test: pnpm test (package.json, scripts.test)"]);
}

#[test]
fn python_tools_are_run_in_the_project_s_environment() {
    for (files, test) in [
        (&[("pyproject.toml", "pytest"), ("uv.lock", "")][..], "uv run pytest"),
        (&[("pyproject.toml", "[tool.uv]\ndev-dependencies = ['pytest']\n")], "uv run pytest"),
        (&[("pyproject.toml", "[tool.poetry]\npytest = '8'")], "poetry run pytest"),
        (&[("pyproject.toml", "[project]\n"), ("poetry.lock", ""), ("tests/", "")], "poetry run pytest"),
        (&[("pyproject.toml", "[tool.pdm]\n"), ("tests/", "")], "pdm run pytest"),
        (&[("Pipfile", ""), ("pytest.ini", "")], "pipenv run pytest"),
        (&[("setup.cfg", "[tool:pytest]\n"), (".venv/", "")], ".venv/bin/pytest"),
        (&[("setup.py", ""), ("conftest.py", "")], "pytest"),
        (&[("tox.ini", "[pytest]\n")], "pytest"),
        (&[("tox.ini", "[testenv]\ncommands = python -m unittest\n")], "tox"),
        (&[("requirements.txt", "pytest==8\n")], "pytest"),
    ] {
        let checks = joined(&found(files).checks);
        assert_eq!(checks.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(), [test]);
        assert_eq!(language(files).0, "Python");
    }
    // Nothing says that there are tests.
    assert_eq!(told(&[("pyproject.toml", "[project]\nname = 'a'\n")]), Vec::<String>::new());
}

#[test]
fn the_other_stacks_have_theirs() {
    for (files, name, checks) in [
        (&[("pom.xml", "")][..], "Java", &["test: mvn -B test (pom.xml)"][..]),
        (&[("pom.xml", ""), ("mvnw", "")], "Java", &["test: ./mvnw -B test (pom.xml)"]),
        (
            &[("build.gradle.kts", "plugins { kotlin(\"jvm\") }"), ("gradlew", "")],
            "Kotlin",
            &["test: ./gradlew test (build.gradle.kts)"],
        ),
        (&[("settings.gradle", "")], "Java", &["test: gradle test (settings.gradle)"]),
        (
            &[("App.sln", "")],
            "C#",
            &["build: dotnet build App.sln (App.sln)", "test: dotnet test App.sln (App.sln)"],
        ),
        (&[("App.fsproj", "")], "F#", &["build: dotnet build App.fsproj (App.fsproj)"]),
        (&[("A.sln", ""), ("B.sln", "")], "", &[]),
        (
            &[("CMakeLists.txt", "project(a)\nenable_testing()\n")],
            "C++",
            &[
                "build: cmake -S . -B build && cmake --build build (CMakeLists.txt)",
                "test: ctest --test-dir build --output-on-failure (CMakeLists.txt)",
            ],
        ),
        (
            &[("mix.exs", "{:credo, \"~> 1.7\"}")],
            "Elixir",
            &["build: mix compile (mix.exs)", "test: mix test (mix.exs)", "lint: mix credo (mix.exs)"],
        ),
        (
            &[("Gemfile", ""), ("Rakefile", "task :test_all\nRake::TestTask.new do |t|\nend\n")],
            "Ruby",
            &["test: bundle exec rake test (Rakefile, test)"],
        ),
        (&[("Rakefile", "task \"test:unit\"\ntask :test_all\n")], "Ruby", &[]),
        (&[("Rakefile", "task spec: :compile do\n")], "Ruby", &["test: rake spec (Rakefile, spec)"]),
        (
            &[("Gemfile", ""), (".rspec", ""), (".rubocop.yml", "")],
            "Ruby",
            &["test: bundle exec rspec (.rspec)", "lint: bundle exec rubocop (.rubocop.yml)"],
        ),
        (
            &[("Gemfile", ""), ("Rakefile", "Rails.application.load_tasks"), ("bin/", "")],
            "Ruby",
            &["test: bin/rails test (Rakefile)"],
        ),
        (
            &[("composer.json", r#"{"scripts": {"test": ["phpunit"]}}"#), ("phpstan.neon", "")],
            "PHP",
            &[
                "test: composer run-script test (composer.json, scripts.test)",
                "lint: vendor/bin/phpstan analyse (phpstan.neon)",
            ],
        ),
        (&[("composer.json", "{}"), ("phpunit.xml", "")], "PHP", &["test: vendor/bin/phpunit (phpunit.xml)"]),
    ] {
        assert_eq!(told(files), checks);
        assert_eq!(language(files).0, name);
    }
}

#[test]
fn what_people_wrote_down_wins_over_what_a_language_does() {
    let cargo = ("Cargo.toml", "[package]\n");
    let makefile = ("Makefile", ".PHONY: lint\ntest unit: build\n\tcargo test\nlint := clippy\nbuild ?= x\n");
    assert_eq!(
        told(&[cargo, makefile]),
        [
            "build: cargo build (Cargo.toml)",
            "test: make test (Makefile, test)",
            "lint: cargo clippy (Cargo.toml)"
        ]
    );
    assert_eq!(language(&[cargo, makefile]).0, "Rust");
    assert_eq!(told(&[("GNUmakefile", "check:\n"), makefile]), ["test: make check (GNUmakefile, check)"]);
    let justfile =
        ("justfile", "build target:\n  x\n@test *args: build\n  x\nlint level='2':\n  x\ncheck := 'x'\n");
    assert_eq!(
        told(&[justfile, makefile]),
        ["test: just test (justfile, test)", "lint: just lint (justfile, lint)"]
    );
}

#[test]
fn a_workspace_with_a_package_at_its_top_is_tested_whole() {
    let test = |text: &str| told(&[("Cargo.toml", text)])[1].clone();
    assert_eq!(test("[workspace]\nmembers = ['a']\n"), "test: cargo test (Cargo.toml)");
    assert_eq!(test("[package]\n[workspace]\n"), "test: cargo test --workspace (Cargo.toml)");
    assert_eq!(test("[package]\n[workspace]\ndefault-members = ['a']\n"), "test: cargo test (Cargo.toml)");
}

#[test]
fn several_languages_at_the_top_must_all_succeed() {
    let files =
        [("Cargo.toml", "[package]\n"), ("pyproject.toml", "[build-system]\n[tool.pytest.ini_options]\n")];
    assert_eq!(told(&files)[1], "test: cargo test && pytest (Cargo.toml; pyproject.toml)");
    assert_eq!(stacks(&found(&files)), ["Rust (Cargo.toml)", "Python (pyproject.toml)"]);
}

#[test]
fn folders_are_looked_into_only_where_the_top_has_nothing() {
    let go = || folder(&[("go.mod", "")]);
    let node = || folder(&[("package.json", r#"{"scripts": {"test": "jest"}}"#)]);
    let below = |names: &[&str]| -> BTreeMap<String, Folder> {
        names.iter().map(|name| ((*name).into(), if name.contains("web") { node() } else { go() })).collect()
    };
    let parts = below(&["api", "my web's", "node_modules", ".cache", "vendor"]);
    let found = detect(&folder(&[("README.md", "")]), &parts);
    let checks = joined(&found.checks);
    assert_eq!(checks[1].command, r"(cd api && go test ./...) && (cd './my web'\''s' && npm test)");
    assert_eq!(checks[1].source.as_deref(), Some("api/go.mod; my web's/package.json, scripts.test"));
    assert_eq!(stacks(&found), ["Go (api/go.mod)", "JavaScript (my web's/package.json)"]);
    let top = detect(&folder(&[("Makefile", "test:\n")]), &parts);
    assert_eq!(
        joined(&top.checks),
        vec![CheckSpec { source: Some("Makefile, test".into()), ..CheckSpec::named("test", "make test") }]
    );
    assert_eq!(stacks(&top), stacks(&found), "what the project is written in stands below its Makefile");
    let told = detect(&folder(&[("Cargo.toml", "")]), &parts);
    assert_eq!(stacks(&told), ["Rust (Cargo.toml)"]);
}

#[test]
fn what_is_missing_says_what_is_left_out() {
    let says = |files: &[(&str, &str)]| found(files).checks.iter().map(Found::missing).collect::<Vec<_>>();
    assert_eq!(
        says(&[("pyproject.toml", "pytest"), ("uv.lock", "")]),
        ["uv is not on the PATH: the check `uv run pytest` (pyproject.toml) is left out"]
    );
    assert_eq!(
        says(&[("composer.json", "{}"), ("phpunit.xml", "")]),
        ["vendor/bin/phpunit is not there: the check `vendor/bin/phpunit` (phpunit.xml) is left out"]
    );
    assert!(says(&[("Cargo.toml", "")])[2].starts_with("cargo-clippy is not on the PATH"));
}

#[test]
fn an_empty_folder_has_nothing() {
    assert_eq!(found(&[("README.md", ""), ("src/", "")]), Detected::default());
}

fn parts(folders: &[(&str, &[(&str, &str)])]) -> BTreeMap<String, Folder> {
    folders.iter().map(|(name, files)| ((*name).into(), folder(files))).collect()
}

const JEST: (&str, &str) = ("package.json", r#"{"scripts": {"test": "jest"}}"#);

#[test]
fn members_of_a_workspace_are_run_where_its_top_runs_nothing_of_the_kind() {
    let below = parts(&[
        ("packages", &[]),
        ("packages/a", &[JEST]),
        ("packages/b", &[("package.json", "{}")]),
        ("packages/old", &[JEST]),
        ("site", &[JEST]),
    ]);
    let members =
        r#"{"private": true, "workspaces": ["packages/*", "!packages/old"], "scripts": {"build": "tsc -b"}}"#;
    for (top, run) in [
        (&[("package.json", members)][..], "npm test"),
        (&[("package.json", members), ("yarn.lock", "")], "yarn test"),
        (&[("package.json", members), ("bun.lock", "")], "bun run test"),
        (
            &[
                ("package.json", r#"{"scripts": {"build": "tsc -b"}}"#),
                ("pnpm-workspace.yaml", "packages:\n  - 'packages/*' # all\n  - \"!packages/old\"\n"),
                ("pnpm-lock.yaml", ""),
            ],
            "pnpm test",
        ),
    ] {
        let found = detect(&folder(top), &below);
        let tests = joined(&found.checks).into_iter().find(|check| check.name == "test").expect("tests");
        assert_eq!(tests.command, format!("(cd packages/a && {run})"));
        assert_eq!(tests.source.as_deref(), Some("packages/a/package.json, scripts.test"));
        assert_eq!(found.left, Vec::<String>::new());
    }
    let own = members.replace("\"build\"", "\"test\"");
    let found = detect(&folder(&[("package.json", &own)]), &below);
    assert_eq!(joined(&found.checks)[0].command, "npm test", "its own script stands for all");
}

#[test]
fn parts_stand_two_levels_down_where_the_top_has_nothing() {
    let top = folder(&[("README.md", "")]);
    let below = parts(&[
        ("apps", &[]),
        ("apps/api", &[("go.mod", "")]),
        ("apps/node_modules", &[JEST]),
        ("apps/web", &[JEST]),
        ("libs", &[("Cargo.toml", "")]),
        ("libs/one", &[("Cargo.toml", "")]),
    ]);
    let tests = joined(&detect(&top, &below).checks).into_iter().find(|check| check.name == "test");
    let meant = "(cd apps/api && go test ./...) && (cd apps/web && npm test) && (cd libs && cargo test)";
    assert_eq!(tests.expect("tests").command, meant);
    for (name, holds) in
        [("apps", true), ("packages", true), ("services", true), ("src", false), (".git", false)]
    {
        assert_eq!(holds_parts(&top, name), holds, "{name}");
    }
    let declared = folder(&[("package.json", r#"{"workspaces": {"packages": ["./tools/*/"]}}"#)]);
    assert!(holds_parts(&declared, "tools") && !holds_parts(&declared, "src"));
}

#[test]
fn what_is_left_out_is_said_with_its_reason() {
    let below = parts(&[("crates", &[("Cargo.toml", "")]), ("frontend", &[JEST])]);
    let rust = detect(&folder(&[("Cargo.toml", "")]), &below);
    let meant = "tests below the top are left out, since the top has checks of its own: `npm test` \
                 (frontend/package.json, scripts.test)";
    assert_eq!(rust.left, [meant]);
    let made = detect(&folder(&[("Makefile", "test:\n")]), &below);
    assert_eq!(made.left, Vec::<String>::new(), "somebody wrote down what testing all of it means");
    let left = |text: &str| found(&[("package.json", text)]).left;
    assert_eq!(left("{"), ["package.json is no JSON, so its scripts are left out"]);
    assert_eq!(
        left(r#"{"scripts": {"test": "jest --watch"}}"#),
        ["package.json, scripts.test is left out: `jest --watch` waits for changes and never ends"]
    );
}

#[test]
fn members_of_a_large_workspace_are_all_looked_into_and_what_is_not_is_said() {
    let names =
        |dir: &str, count: usize| (0..count).map(|nth| format!("{dir}/p{nth:04}")).collect::<Vec<_>>();
    let top = folder(&[("package.json", "{\"workspaces\": [\"packages/*\"]}")]);
    let many = [names("packages", 120), names("tools", 5)].concat();
    assert_eq!((chosen(&top, many.clone()).names.len(), chosen(&top, many).more), (125, None));
    let more = chosen(&top, names("packages", 503));
    assert_eq!(more.names.len(), 500);
    assert!(
        more.more.is_some_and(|said| said.starts_with("3 members of the workspace were not looked into"))
    );
    let bare = chosen(&folder(&[("README.md", "")]), names("services", 61));
    assert_eq!((bare.names.len(), bare.names[0].as_str()), (50, "services/p0000"));
    assert_eq!(bare.more.as_deref(), Some("11 folders were not looked into for checks, beyond the first 50"));
    let tested = chosen(&folder(&[("Cargo.toml", "")]), names("services", 61));
    assert_eq!((tested.names.len(), tested.more), (50, None), "the top's own checks stand for all");
}
