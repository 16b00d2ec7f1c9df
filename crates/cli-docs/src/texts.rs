//! The texts of a manual, as its TOML file has them. Reading by hand adds a quarter of the code that serde derives.

use toml::de::{DeString, DeTable, DeValue, Error};

/// A list of terms, each with its meaning.
pub type Entries = Vec<(String, String)>;

/// The texts of a manual besides the purpose, the usage and the options, which the clap definition has.
#[derive(Debug, Default)]
pub struct Texts {
    /// Paragraphs that the help shows after the examples, and the manual page in its description.
    pub notes: Vec<String>,
    /// Further lists of terms.
    pub lists: Vec<List>,
    /// Example command lines, each with its effect.
    pub examples: Entries,
    /// Environment variables, each with its effect.
    pub environment: Entries,
    /// Files that the command uses, each with its contents.
    pub files: Entries,
    /// Exit codes, each with its meaning.
    pub exit_status: Entries,
}

/// A list of terms under a heading.
#[derive(Debug, Default)]
pub struct List {
    /// The heading of the list.
    pub heading: String,
    /// The terms.
    pub entries: Entries,
}

/// The fault of a manual's file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TextsError {
    #[error(transparent)]
    Toml(#[from] Error),
    #[error("{0} cannot be read")]
    Field(String),
}

impl Texts {
    /// Reads the content of a manual's file.
    ///
    /// # Errors
    ///
    /// Returns the first fault of the file.
    pub(crate) fn read(file: &str) -> Result<Self, TextsError> {
        let table = DeTable::parse(file)?;
        let mut texts = Self::default();
        read_fields(table.into_inner(), |name, value| {
            match name {
                "notes" => texts.notes = items(value, text)?,
                "lists" => texts.lists = items(value, list)?,
                "examples" => texts.examples = items(value, entry)?,
                "environment" => texts.environment = items(value, entry)?,
                "files" => texts.files = items(value, entry)?,
                "exit-status" => texts.exit_status = items(value, entry)?,
                _ => return None,
            }
            Some(())
        })?;
        Ok(texts)
    }
}

/// Calls `read` with each field of a table. `read` returns `None` for an unknown name or a value of another type.
fn read_fields<'a>(
    table: DeTable<'a>,
    mut read: impl FnMut(&str, DeValue<'a>) -> Option<()>,
) -> Result<(), TextsError> {
    for (name, value) in table {
        let name: DeString<'_> = name.into_inner();
        read(&name, value.into_inner()).ok_or_else(|| TextsError::Field(name.into()))?;
    }
    Ok(())
}

fn list(value: DeValue<'_>) -> Option<List> {
    let DeValue::Table(table) = value else { return None };
    let mut list = List::default();
    let read = read_fields(table, |name, value| {
        match name {
            "heading" => list.heading = text(value)?,
            "entries" => list.entries = items(value, entry)?,
            _ => return None,
        }
        Some(())
    });
    read.ok().map(|()| list)
}

fn entry(value: DeValue<'_>) -> Option<(String, String)> {
    let [left, right] = items(value, text)?.try_into().ok()?;
    Some((left, right))
}

fn items<T>(value: DeValue<'_>, read: fn(DeValue<'_>) -> Option<T>) -> Option<Vec<T>> {
    let DeValue::Array(items) = value else { return None };
    items.into_iter().map(|item| read(item.into_inner())).collect()
}

fn text(value: DeValue<'_>) -> Option<String> {
    let DeValue::String(text) = value else { return None };
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_a_wrong_field_is_refused() {
        for (file, fault) in [
            ("notes = ['a']", None),
            ("[[lists]]\nheading = 'a'\nentries = [['b', 'c']]", None),
            ("note = ['a']", Some("note cannot be read")),
            ("notes = 'a'", Some("notes cannot be read")),
            ("notes = [1]", Some("notes cannot be read")),
            ("files = [['a']]", Some("files cannot be read")),
            ("files = [['a', 'b', 'c']]", Some("files cannot be read")),
            ("[[lists]]\nheadings = 'a'", Some("lists cannot be read")),
        ] {
            let error = Texts::read(file).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), fault, "{file}");
        }
        assert!(Texts::read("notes").is_err());
    }
}
