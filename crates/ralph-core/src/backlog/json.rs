//! JSON where it stands: values are places in the text, checked once and read only where somebody looks. So a list of
//! a hundred thousand items is walked once, and an edit knows its bytes.

use alloc::borrow::Cow;
use core::ops::Range;

use crate::prelude::*;

/// Deeper than any task file; the walk is recursive.
const DEPTH: usize = 128;

/// Why the text is no JSON, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) why: &'static str,
}

/// A value that was checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    doc: &'a str,
    start: usize,
    end: usize,
}

/// Where a name stands, quotes included.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    place: Range<usize>,
    escaped: bool,
}

/// One name and value of an object.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) key: Range<usize>,
    pub(crate) value: Value<'a>,
}

impl<'a> Value<'a> {
    /// What was found there before.
    pub(crate) fn at(doc: &'a str, span: Range<usize>) -> Self {
        Self { doc, start: span.start, end: span.end }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    pub(crate) fn raw(&self) -> &'a str {
        self.doc.get(self.start..self.end).unwrap_or_default()
    }

    pub(crate) fn first(&self) -> u8 {
        self.raw().bytes().next().unwrap_or(0)
    }

    pub(crate) fn str(&self) -> Option<Cow<'a, str>> {
        let raw = self.raw();
        (self.first() == b'"').then(|| text_of(raw, raw.as_bytes().contains(&b'\\')))
    }

    /// Its fields, in their order; none of what is no object.
    pub(crate) fn fields(&self) -> Vec<Field<'a>> {
        let mut fields = Vec::new();
        if self.first() == b'{' {
            let mut walk = Walk { doc: self.doc, at: self.start };
            // It was checked before: a fault cannot come, and would leave what was found.
            let _ = walk.object(&mut fields, DEPTH);
        }
        fields
    }

    /// Hands out its fields, in their order; none of what is no object.
    pub(crate) fn each_field(&self, each: impl FnMut(Cow<'a, str>, Value<'a>)) {
        self.each_field_over(&(0..0), each);
    }

    /// The same where it is known from where to where one of the values goes: that one is not walked over again.
    pub(crate) fn each_field_over(
        &self,
        known: &Range<usize>,
        mut each: impl FnMut(Cow<'a, str>, Value<'a>),
    ) {
        if self.first() == b'{' {
            let mut walk = Walk { doc: self.doc, at: self.start };
            let _ = walk.fields_with(|walk, key| {
                walk.peek();
                let value = if walk.at == known.start && !known.is_empty() {
                    walk.at = known.end;
                    Value::at(walk.doc, known.clone())
                } else {
                    walk.value(DEPTH)?
                };
                each(walk.name(&key), value);
                Ok(())
            });
        }
    }

    /// The field of this name; of two the last, as every reader has it.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut found = None;
        self.each_field(|known, value| {
            if known == name {
                found = Some(value);
            }
        });
        found
    }

    /// Hands out its elements; none of what is no list.
    pub(crate) fn each_element(&self, mut each: impl FnMut(Value<'a>)) {
        self.each_walked(|walk| {
            each(walk.value(DEPTH)?);
            Ok(())
        });
    }

    /// The same for who walks over each of them.
    pub(crate) fn each_walked(&self, each: impl FnMut(&mut Walk<'a>) -> Walked<()>) {
        if self.first() == b'[' {
            let _ = Walk { doc: self.doc, at: self.start }.array(each);
        }
    }

    pub(crate) fn elements(&self) -> Vec<Value<'a>> {
        let mut elements = Vec::new();
        self.each_element(|element| elements.push(element));
        elements
    }
}

/// The text of a string with its quotes.
fn text_of(raw: &str, escaped: bool) -> Cow<'_, str> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    if !escaped {
        return Cow::Borrowed(inner);
    }
    // Half a surrogate pair is no character: such a text is read as it is written.
    serde_json::from_str::<String>(raw).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// Walks a text from its start to its end.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    doc: &'a str,
    pub(crate) at: usize,
}

type Walked<T> = Result<T, Fault>;

impl<'a> Walk<'a> {
    pub(crate) fn new(doc: &'a str) -> Self {
        Self { doc, at: if doc.starts_with('\u{feff}') { 3 } else { 0 } }
    }

    fn bytes(&self) -> &'a [u8] {
        self.doc.as_bytes()
    }

    #[cold]
    fn fault<T>(&self, why: &'static str) -> Walked<T> {
        Err(Fault { at: self.at, why })
    }

    /// The next byte that is no white space; 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        const SPACES: u64 = 0x2020_2020_2020_2020;
        let bytes = self.bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return *byte,
                None => return 0,
            }
            // Indentation is half of a file that is meant for people: eight spaces at once, and all that are left.
            while let Some(chunk) = bytes.get(self.at..self.at + 8) {
                let others = u64::from_le_bytes(chunk.try_into().unwrap_or_default()) ^ SPACES;
                self.at += (others.trailing_zeros() / 8) as usize;
                if others != 0 {
                    break;
                }
            }
        }
    }

    /// Nothing may come after the document.
    pub(crate) fn end(&mut self) -> Walked<()> {
        self.peek();
        if self.at == self.doc.len() { Ok(()) } else { self.fault("something stands after the end") }
    }

    /// A value of any kind.
    pub(crate) fn value(&mut self, depth: usize) -> Walked<Value<'a>> {
        let first = self.peek();
        let start = self.at;
        self.pass(first, depth)?;
        Ok(Value { doc: self.doc, start, end: self.at })
    }

    /// Over a value that begins here, checking it.
    fn pass(&mut self, first: u8, depth: usize) -> Walked<()> {
        match first {
            b'"' => self.string().map(drop),
            b'{' | b'[' if depth == 0 => self.fault("nested too deeply"),
            b'{' => self.fields_with(|walk, _| {
                let first = walk.peek();
                walk.pass(first, depth - 1)
            }),
            b'[' => self.array(|walk| {
                let first = walk.peek();
                walk.pass(first, depth - 1)
            }),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ if self.at >= self.doc.len() => self.fault("it ends in the middle"),
            _ => self.fault("a value was expected"),
        }
    }

    fn word(&mut self, word: &str) -> Walked<()> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.fault("a value was expected");
        }
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> Walked<()> {
        let begun = self.at;
        while self.bytes().get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == begun { self.fault("a digit was expected") } else { Ok(()) }
    }

    fn number(&mut self) -> Walked<()> {
        let is = |walk: &Self, wanted: &[u8]| walk.bytes().get(walk.at).is_some_and(|b| wanted.contains(b));
        if is(self, b"-") {
            self.at += 1;
        }
        if is(self, b"0") {
            self.at += 1;
            if is(self, b"0123456789") {
                return self.fault("a number does not begin with 0");
            }
        } else {
            self.digits()?;
        }
        if is(self, b".") {
            self.at += 1;
            self.digits()?;
        }
        if is(self, b"eE") {
            self.at += 1;
            if is(self, b"+-") {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Over a string, quotes included; tells whether there are escapes in it.
    #[inline]
    fn string(&mut self) -> Walked<bool> {
        let bytes = self.bytes();
        let mut escaped = false;
        self.at += 1;
        loop {
            // Eight bytes at once, as long as none of them is a quote, a backslash or a control character.
            while let Some(chunk) = bytes.get(self.at..self.at + 8) {
                let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
                let special = special(word);
                if special != 0 {
                    self.at += (special.trailing_zeros() / 8) as usize;
                    break;
                }
                self.at += 8;
            }
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                Some(0..0x20) => return self.fault("a line end or control character stands in a string"),
                Some(_) => self.at += 1,
                None => return self.fault("a string is not closed"),
            }
        }
    }

    fn escape(&mut self) -> Walked<()> {
        let rest = &self.bytes()[self.at + 1..];
        let length = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if rest.len() > 4 && rest[1..5].iter().all(u8::is_ascii_hexdigit) => 6,
            _ => return self.fault("an escape that JSON does not have"),
        };
        self.at += length;
        Ok(())
    }

    /// Over an array that begins here; `each` walks over one element.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Walked<()>) -> Walked<()> {
        let mut more = self.enter();
        while more {
            each(self)?;
            more = self.another()?;
        }
        Ok(())
    }

    /// Into an array that begins here, up to its first element; over it, if there is none.
    pub(crate) fn enter(&mut self) -> bool {
        self.at += 1;
        let empty = self.peek() == b']';
        self.at += usize::from(empty);
        !empty
    }

    /// From behind an element to the next one; out of the array, if there is none.
    #[inline]
    pub(crate) fn another(&mut self) -> Walked<bool> {
        let byte = self.peek();
        if byte != b',' && byte != b']' {
            return self.fault("a comma or ] was expected");
        }
        self.at += 1;
        if byte == b',' {
            self.peek();
        }
        Ok(byte == b',')
    }

    /// Over an object that begins here; `each` gets the place of a name and walks over its value.
    pub(crate) fn fields_with(&mut self, mut each: impl FnMut(&mut Self, Key) -> Walked<()>) -> Walked<()> {
        self.at += 1;
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != b'"' {
                return self.fault("a name in quotes was expected");
            }
            let start = self.at;
            let escaped = self.string()?;
            let key = Key { place: start..self.at, escaped };
            if self.peek() != b':' {
                return self.fault("a colon was expected");
            }
            self.at += 1;
            each(self, key)?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.fault("a comma or } was expected"),
            }
        }
    }

    /// Over an object that begins here, with its fields.
    pub(crate) fn object(&mut self, fields: &mut Vec<Field<'a>>, depth: usize) -> Walked<()> {
        self.fields_with(|walk, key| {
            let value = walk.value(depth)?;
            fields.push(Field { name: walk.name(&key), key: key.place, value });
            Ok(())
        })
    }

    /// Over an object that begins here, as one value with its fields.
    pub(crate) fn item(&mut self, fields: &mut Vec<Field<'a>>) -> Walked<Value<'a>> {
        let start = self.at;
        self.object(fields, DEPTH)?;
        Ok(Value { doc: self.doc, start, end: self.at })
    }

    /// Over any value, from here, as deep as is allowed.
    pub(crate) fn any(&mut self) -> Walked<Value<'a>> {
        self.value(DEPTH)
    }

    /// The text of a name at this place.
    pub(crate) fn name(&self, key: &Key) -> Cow<'a, str> {
        text_of(self.doc.get(key.place.clone()).unwrap_or_default(), key.escaped)
    }
}

/// A set high bit for each byte of a word that is `"`, `\` or below a space; right up to the first of them.
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c)) | control
}

#[cfg(test)]
mod tests;
