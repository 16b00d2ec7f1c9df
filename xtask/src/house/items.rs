//! Functions and structs in the lines of formatted code: where they begin and end.

/// The number of an item's first line, and the item's lines.
type Item<'a> = (usize, &'a [&'a str]);

/// Returns the items of a kind that have a body. In rustfmt's form, the body ends at the indent of its first line.
pub(super) fn items<'a>(lines: &'a [&'a str], keyword: &str) -> impl Iterator<Item = Item<'a>> {
    let is_qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe" | "extern") || word.starts_with(['p', '"'])
    };
    let is_item = move |(_, line): &(usize, &&str)| {
        line.split_once(keyword).is_some_and(|it| it.0.split_whitespace().all(is_qualifier))
    };
    let bodies = |(at, _)| Some((at + 1, body(&lines[at..])?));
    lines.iter().enumerate().filter(is_item).filter_map(bodies)
}

/// Returns the lines of the item at the start, if it has a body.
fn body<'a>(lines: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let is_last = |(at, line): (usize, &&str)| {
        let is_closed = line.trim_start().starts_with('}') || at == 0 && line.ends_with('}');
        indent(line) == indent(lines[0]) && (line.ends_with(';') || is_closed)
    };
    let last = lines.iter().enumerate().position(is_last)?;
    (!lines[last].ends_with(';')).then_some(&lines[..=last])
}

/// Returns how many named fields a struct has.
pub(super) fn fields(lines: &[&str]) -> usize {
    let inner = indent(lines[0]) + 4;
    lines.iter().filter(|line| indent(line) == inner && line.contains(": ")).count()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_lasts_until_its_own_brace() {
        let code = "\
pub(crate) const fn one() -> u8 { 1 }
trait Peer {
    fn declared(&self);
    fn wrapped(
        &self,
    ) -> u8;
    fn given(&self) {
        if true {
        }
    }
}
unsafe extern \"C\" fn outer(
    a: u8,
) -> impl Fn(u8)
where
    u8: Copy,
{
    fn inner() {
    }
}
let call: fn(u8) = one;
";
        let lines: Vec<&str> = code.lines().collect();
        let found: Vec<_> = items(&lines, "fn ").map(|(line, body)| (line, body.len())).collect();
        assert_eq!(found, [(1, 1), (7, 4), (12, 9), (18, 2)]);
    }

    #[test]
    fn fields_of_a_struct_are_counted_and_their_types_are_not() {
        let code = "\
struct Unit;
struct Tuple(u8);
pub struct Path<'a> {
    #[allow(dead_code)]
    pub(crate) rtt: Duration,
    pub loss: BTreeMap<
        a::B,
        C,
    >,
    rate: Rate,
}
";
        let lines: Vec<&str> = code.lines().collect();
        let found: Vec<_> =
            items(&lines, "struct ").map(|(line, body)| (line, fields(body))).collect();
        assert_eq!(found, [(3, 3)]);
    }
}
