//! JSON laid out for people: a line for each field, row and run, and no more lines than that.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Deepest JSON containers that are broken into lines: the runs of a row, at the fourth level.
const BROKEN_DEPTH_MAX: usize = 4;

/// Breaks the outermost object and the lists in it into lines, and leaves the rest on the line.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The number of JSON containers that are open.
    depth: usize,
    /// Whether the innermost container holds anything yet.
    has_value: bool,
}

impl Layout {
    fn begin(&mut self, writer: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn separate(
        &self,
        writer: &mut (impl Write + ?Sized),
        first: bool,
        is_broken: bool,
    ) -> io::Result<()> {
        match (first, is_broken) {
            (true, false) => Ok(()),
            (false, false) => writer.write_all(b", "),
            (_, true) => {
                writer.write_all(if first { b"\n" } else { b",\n" })?;
                self.indent(writer, 1)
            }
        }
    }

    fn end(
        &mut self,
        writer: &mut (impl Write + ?Sized),
        bracket: &[u8],
        is_broken: bool,
    ) -> io::Result<()> {
        if is_broken && self.has_value {
            writer.write_all(b"\n")?;
            self.indent(writer, 0)?;
        }
        self.depth -= 1;
        writer.write_all(bracket)
    }

    /// Writes the indentation of a value `deeper` than the innermost broken container. Containers alternate between objects and
    /// lists, and only the lists add to the indentation: hence half the depth.
    fn indent(&self, writer: &mut (impl Write + ?Sized), deeper: usize) -> io::Result<()> {
        (0..self.depth / 2 + deeper).try_for_each(|_| writer.write_all(b"  "))
    }

    const fn breaks_object(&self) -> bool {
        self.depth == 1
    }

    const fn breaks_list(&self) -> bool {
        self.depth <= BROKEN_DEPTH_MAX
    }
}

impl Formatter for Layout {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first, self.breaks_list())
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]", self.breaks_list())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first, self.breaks_object())
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}", self.breaks_object())
    }
}
