//! Where a field stands in a RON text, and which field stands at a place.
//!
//! The parser says where it stopped but not in which field, and keeps no
//! places of what it understood. So this walks over the text's tokens, with as
//! little knowledge of RON as that takes, and copes with any text.

/// Line and column of a byte, both counted from 1.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        1 + before.matches('\n').count(),
        1 + before[line_start..].chars().count(),
    )
}

/// The byte at a line and column, or the text's end.
fn byte_at(text: &str, (line, column): (usize, usize)) -> usize {
    let mut line_start = 0;
    for _ in 1..line {
        match text[line_start..].find('\n') {
            Some(newline) => line_start += newline + 1,
            None => return text.len(),
        }
    }
    let mut characters = text[line_start..].char_indices();
    let byte = characters.nth(column.saturating_sub(1));
    byte.map_or(text.len(), |(byte, _)| line_start + byte)
}

/// Which field stands at a place, and the place itself, moved from blanks to
/// the next token.
pub(super) fn field_at(text: &str, place: (usize, usize)) -> ((usize, usize), String) {
    let wanted = byte_at(text, place);
    let mut walk = Walk::new(text);
    while let Some(token) = walk.next_token() {
        if token.end > wanted {
            return (line_and_column(text, token.start), walk.path());
        }
    }
    let end = text.trim_end().len();
    (line_and_column(text, end), walk.path())
}

/// Where a field's name stands, or that of the innermost part around it that
/// the text names: a field that is wrong by default is written nowhere.
pub(super) fn place_of(text: &str, field: &str) -> (usize, usize) {
    let (mut found, mut matched) = (0, 0);
    let mut walk = Walk::new(text);
    while let Some(token) = walk.next_token() {
        let path = walk.path();
        let inside = match field.strip_prefix(&path) {
            Some(rest) => rest.is_empty() || rest.starts_with(['.', '[']),
            None => false,
        };
        if inside && path.len() > matched {
            (found, matched) = (token.start, path.len());
            if matched == field.len() {
                break;
            }
        }
    }
    line_and_column(text, found)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Open { list: bool },
    Close,
    Comma,
    Colon,
    Other,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// A bracket that is open.
struct Level<'a> {
    list: bool,
    /// Commas so far.
    index: usize,
    /// The field whose value is being read.
    field: Option<&'a str>,
}

/// A walk over a text's tokens that knows in which field it is.
struct Walk<'a> {
    text: &'a str,
    next: usize,
    levels: Vec<Level<'a>>,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            next: 0,
            levels: Vec::new(),
        }
    }

    /// The field that the last token belongs to, such as `forcing.sources[1].at`.
    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            if level.list {
                path += &format!("[{}]", level.index);
            } else if let Some(field) = level.field {
                if !path.is_empty() {
                    path.push('.');
                }
                path += field;
            }
        }
        path
    }

    fn next_token(&mut self) -> Option<Token> {
        let token = token_at(self.text, self.next)?;
        self.next = token.end;
        let level = self.levels.last_mut();
        match (token.kind, level) {
            (Kind::Open { list }, _) => self.levels.push(Level {
                list,
                index: 0,
                field: None,
            }),
            (Kind::Close, Some(_)) => {
                self.levels.pop();
            }
            (Kind::Comma, Some(level)) => {
                level.index += 1;
                level.field = None;
            }
            (Kind::Word, Some(level)) if !level.list && level.field.is_none() => {
                let after = token_at(self.text, token.end);
                if after.is_some_and(|after| after.kind == Kind::Colon) {
                    level.field = Some(&self.text[token.start..token.end]);
                }
            }
            _ => {}
        }
        Some(token)
    }
}

/// The first token from `start` on.
fn token_at(text: &str, start: usize) -> Option<Token> {
    let start = skip_blanks(text, start);
    let rest = &text[start..];
    let first = rest.chars().next()?;
    let (kind, length) = match first {
        '(' | '{' => (Kind::Open { list: false }, 1),
        '[' => (Kind::Open { list: true }, 1),
        ')' | ']' | '}' => (Kind::Close, 1),
        ',' => (Kind::Comma, 1),
        ':' => (Kind::Colon, 1),
        '"' => (Kind::Other, quoted_length(rest)),
        'r' if raw_string_length(rest).is_some() => {
            (Kind::Other, raw_string_length(rest).unwrap_or(1))
        }
        _ if in_word(first) => {
            let end = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
            (Kind::Word, end)
        }
        _ => (Kind::Other, first.len_utf8()),
    };
    Some(Token {
        kind,
        start,
        end: start + length,
    })
}

/// Numbers count as words: they never stand before a colon.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-')
}

/// The next byte that is neither blank nor comment.
fn skip_blanks(text: &str, mut start: usize) -> usize {
    loop {
        let rest = &text[start..];
        let trimmed = rest.trim_start();
        start += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            start += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            start += block_comment_length(trimmed);
        } else {
            return start;
        }
    }
}

/// Block comments nest.
fn block_comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            match rest.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return at,
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (byte, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return byte + 1,
            _ => {}
        }
    }
    text.len()
}

/// `r"…"`, `r#"…"#` and so on.
fn raw_string_length(text: &str) -> Option<usize> {
    let hashes = text[1..].bytes().take_while(|&b| b == b'#').count();
    let body = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(text.len() - body.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"// a: comment (with brackets
(
    title: "not: (a field, \" ]", /* b: /* nested */ ( */
    raw: r#"x: " ("#,
    size: (4, 5),
    models: (
        pipe: Some((roughness: 1.0)),
        thermal: Thermal(
            shelter: -1e-3,
        ),
    ),
    land: Island(land: Sum(a: Fbm(seed: 1), b: Fbm(seed: 2)), seed: 3),
    points: [(at: (1, 2)), (at: (3, 4))],
)"##;

    #[test]
    fn finds_fields() {
        for (field, place) in [
            ("title", (3, 5)),
            ("raw", (4, 5)),
            ("size", (5, 5)),
            ("models.pipe.roughness", (7, 21)),
            ("models.thermal.shelter", (9, 13)),
            ("land.seed", (12, 63)),
            ("land.land.b.seed", (12, 52)),
            ("points[1].at", (13, 29)),
            // Not written: the part around it.
            ("models.thermal.mobility", (8, 9)),
            ("models.water.depth", (6, 5)),
            ("nothing", (1, 1)),
        ] {
            assert_eq!(place_of(TEXT, field), place, "{field}");
        }
    }

    #[test]
    fn names_the_field_at_a_place() {
        for (place, field) in [
            ((3, 20), "title"),
            ((5, 11), "size"),
            ((7, 32), "models.pipe.roughness"),
            ((9, 22), "models.thermal.shelter"),
            ((10, 9), "models.thermal"),
            ((12, 58), "land.land.b.seed"),
            ((13, 33), "points[1].at"),
            ((99, 1), ""),
        ] {
            assert_eq!(field_at(TEXT, place).1, field, "{place:?}");
        }
    }

    #[test]
    fn copes_with_any_text() {
        for text in [
            "", "r", "r#", "r#\"", "\"\\", "/*", "//", ")))", "a:b:c", "é: (ß",
        ] {
            for place in [(0, 0), (1, 1), (1, 3), (7, 7)] {
                field_at(text, place);
            }
            place_of(text, "a.b");
        }
        let deep = "(a:".repeat(1000);
        assert_eq!(place_of(&deep, "b"), (1, 1));
        assert!(field_at(&deep, (1, 3000)).1.starts_with("a.a.a"));
    }
}
