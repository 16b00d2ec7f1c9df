//! stub
/// Returns the columns `c` takes: 0, 1 or 2.
pub fn char_width(c: char) -> u16 {
    let _ = c;
    todo!()
}
