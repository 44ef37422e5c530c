//! The service's answer in JSON, as CLIs show it: `API Error: 400 {"type":"error","error":{…}}`.
//!
//! Its message may repeat what the agent wrote, so of the answer only the names of the error count, and the message
//! where that is worded as a notice.

use serde_json::Value;

use super::shape;
use crate::prelude::*;

/// The words of a line that tell what is wrong; none if there is no answer in it.
pub(super) fn words(line: &str) -> Option<String> {
    let at = line.find('{')?;
    let mut values = serde_json::Deserializer::from_str(&line[at..]).into_iter::<Value>();
    let answer = values.next()?.ok()?;
    let behind = &line[at + values.byte_offset()..];
    let error = answer.get("error").filter(|error| error.is_object());
    let error = error.or_else(|| (answer["type"] == "error").then_some(&answer))?;
    let mut words = line[..at].to_owned();
    for name in ["type", "code", "status"].into_iter().filter_map(|key| error[key].as_str()) {
        words.push_str(&format!("\"{name}\" "));
    }
    words.push_str(error["message"].as_str().filter(|message| shape::is_notice(message)).unwrap_or(""));
    words.push_str(behind);
    Some(words)
}
