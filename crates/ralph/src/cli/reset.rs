//! `ralph reset`: closes the last run and the circuit. History stays.

use std::process::ExitCode;

use ralph_core::decision::Stop;
use ralph_core::event::Event;
use ralph_core::text;

use super::circuit;
use crate::error::Result;
use crate::project::Project;
use crate::runner::Still;
use crate::ui::Ui;

pub(super) fn main(ui: &mut Ui) -> Result<ExitCode> {
    let project = Project::look()?;
    let Some(mut still) = Still::open(&project)? else {
        ui.say("nothing has been run here yet; there is nothing to close");
        return super::fine();
    };
    let mut closed: Vec<String> = circuit::close(&mut still)?.into_iter().collect();
    if !matches!(still.state.stop(), Some(Stop::Complete { .. } | Stop::Closed)) {
        still.take(Event::RunClosed)?;
        if let Some(run) = &still.state.run {
            closed.push(format!("run {} is closed: {}", run.number, text::one_line(&run.goal, 200)));
        }
    }
    if closed.is_empty() {
        ui.say("the last run is over and the circuit is closed; there is nothing to close");
        return super::fine();
    }
    still.publish(&project, ui);
    for line in closed {
        ui.say(&line);
    }
    ui.say("nothing was deleted: ralph history");
    super::fine()
}
