//! A program on the pseudo-terminal has a real screen.

use ralph_testkit::{Color, Sandbox, Terminal};

fn shell(sandbox: &Sandbox, script: &str) -> std::process::Command {
    let mut command = sandbox.command("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn colours_stand_at_their_place_and_the_size_is_known() {
    let sandbox = Sandbox::new();
    let script = r"stty size; printf 'ab\033[31mred\033[0m\n'; printf '\033[10;5Hhere'; exit 4";
    let mut terminal = Terminal::builder(&shell(&sandbox, script)).size(50, 12).start();
    assert_eq!(terminal.wait(), 4);
    let screen = terminal.screen();
    let rows: Vec<&str> = screen.lines().collect();
    assert_eq!((rows[0], rows[1], rows[9]), ("12 50", "abred", "    here"));
    let cell = |row, column| terminal.cell(row, column).expect("a cell on the screen");
    assert_eq!((cell(1, 2).contents(), cell(1, 2).fgcolor()), ("r", Color::Idx(1)));
    assert_eq!(cell(1, 1).fgcolor(), Color::Default);
    assert_eq!(terminal.cursor(), (9, 8));
    assert!(String::from_utf8_lossy(&terminal.raw()).contains("\x1b[31mred"));
}

#[test]
fn all_three_streams_are_the_terminal_and_the_environment_is_the_sandboxs() {
    let sandbox = Sandbox::new();
    let script = "test -t 0 && test -t 1 && test -t 2 && echo \"$TERM in $PWD\"; env | cut -d= -f1 | sort | tr '\\n' ' '";
    let mut terminal = Terminal::start(&shell(&sandbox, script));
    assert_eq!(terminal.wait(), 0);
    let output = terminal.all_output();
    assert!(output.contains(&format!("xterm-256color in {}", sandbox.project().display())), "{output}");
    assert!(output.contains("GIT_CONFIG_NOSYSTEM HOME LC_ALL"), "{output}");
    assert!(!output.contains("CARGO"), "{output}");
}

#[test]
fn lines_that_left_the_screen_are_kept_and_wide_ones_are_whole() {
    let sandbox = Sandbox::new();
    let wide = "w".repeat(100);
    let script = format!("echo {wide}; i=1; while [ $i -le 100 ]; do echo line $i; i=$((i + 1)); done");
    let mut terminal = Terminal::start(&shell(&sandbox, &script));
    assert_eq!(terminal.wait(), 0);
    let all: Vec<String> = terminal.all_output().lines().map(str::to_owned).collect();
    assert_eq!((all.len(), all[0].as_str(), all[1].as_str()), (101, wide.as_str(), "line 1"));
    assert!(!terminal.screen().contains("line 77\n"));
    assert!(terminal.screen().starts_with("line 78\n"), "{}", terminal.screen());
}

#[test]
fn what_is_typed_arrives() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&shell(&sandbox, "printf 'name? '; read name; echo hello $name"));
    terminal.wait_for("name?");
    terminal.type_text("you\r");
    terminal.wait_for("hello you");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn control_c_reaches_the_program_through_its_controlling_terminal() {
    let sandbox = Sandbox::new();
    let script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.01; done";
    let mut terminal = Terminal::start(&shell(&sandbox, script));
    terminal.wait_for("ready");
    terminal.type_text("\x03");
    assert_eq!(terminal.wait(), 9);
    assert!(terminal.screen().contains("caught"));
    sandbox.assert_no_processes();
}

#[test]
fn a_new_size_is_told_to_the_program() {
    let sandbox = Sandbox::new();
    let script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done";
    let mut terminal = Terminal::start(&shell(&sandbox, script));
    terminal.wait_for("ready");
    terminal.resize(40, 10);
    assert_eq!(terminal.wait(), 0);
    assert!(terminal.screen().contains("10 40"), "{}", terminal.screen());
}
