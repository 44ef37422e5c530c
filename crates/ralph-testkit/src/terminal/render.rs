//! The terminal's cells as text.

use vt100::Screen;

/// The rows of the screen, without blank ends.
pub(super) fn screen(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let rows: Vec<String> = screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n").trim_end().to_owned()
}

/// Lines that have left the screen and those on it, each wrapped one joined again.
pub(super) fn everything(live: &Screen) -> String {
    let (_, columns) = live.size();
    // Scrolling back moves the view: done on a copy.
    let mut view = live.clone();
    let mut text = String::new();
    for above in (1..=live.scrollback_len()).rev() {
        view.set_scrollback(above);
        text.extend(view.rows(0, columns.get()).next());
        if !view.row_wrapped(0) {
            text.push('\n');
        }
    }
    view.set_scrollback(0);
    text.push_str(&view.contents());
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
