//! Output as other loop tools test for it, kind by kind: `loop_tools/*.txt` holds inputs with what `ralph analyze` must say
//! about them. Each is also read with other line ends, with a byte order mark and in small pieces.
//!
//! A case is a line `=== name`, lines `? path = JSON`, `? path ~ words in it` or `? path empty`, and the input.

#[path = "loop_tools/case.rs"]
mod case;

use std::path::Path;

use case::{cases, differences};
use ralph_core::analysis::{Question, analyse};
use ralph_core::report::Builder;
use ralph_core::time::Time;
use ralph_core::transcript::{Decoder, Format};
use serde_json::Value;

fn read(input: &[u8], piece: usize) -> Value {
    let (mut decoder, mut builder) = (Decoder::new(Format::Auto), Builder::default());
    input.chunks(piece).for_each(|piece| decoder.feed(piece, |item| builder.add(item)));
    decoder.finish(|item| builder.add(item));
    let format = if decoder.format() == Format::Auto { Format::Text } else { decoder.format() };
    let policy = ralph_core::profile::profile("default").expect("a profile").policy();
    let question = Question { policy: &policy, format, iteration: 1, at: Time::from_millis(0) };
    analyse(&builder.finish(), &[], question)
}

#[test]
fn every_input_is_read_as_it_says_however_it_comes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loop_tools");
    let (mut count, mut wrong) = (0, Vec::new());
    for (file, case) in cases(&folder) {
        count += 1;
        let windows = case.input.replace('\n', "\r\n");
        let ways = [
            ("", case.input.clone(), usize::MAX),
            (" with CRLF", windows, usize::MAX),
            (" with a mark", format!("\u{feff}{}", case.input), usize::MAX),
            (" in pieces", case.input.clone(), 7),
            (" without a last line end", case.input.trim_end().to_owned(), usize::MAX),
        ];
        for (way, input, piece) in ways {
            let found = differences(&case, &read(input.as_bytes(), piece.min(input.len().max(1))));
            wrong.extend(found.into_iter().map(|found| format!("{file}: {}{way}: {found}", case.name)));
        }
    }
    assert!(count >= 150, "{count} inputs");
    assert!(wrong.is_empty(), "{} of {count} inputs are misread:\n{}", wrong.len(), wrong.join("\n"));
}
