//! Matches hosts against the patterns of the configuration's sections.

/// Returns whether a host, in the user's spelling, matches a pattern. `*` matches any text and `?` any character; case
/// is ignored. A pattern without `@` matches the host for every user.
pub(in crate::cli) fn matches(pattern: &str, host: &str) -> bool {
    let name = match host.rsplit_once('@') {
        Some((_, name)) if !pattern.contains('@') => name,
        _ => host,
    };
    let fold = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    glob(&fold(pattern), &fold(name))
}

/// Returns whether `text` matches `pattern`. After a mismatch, the search goes back to the last `*` only. The number of
/// steps thus grows at most with the product of the two lengths.
fn glob(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match &mut star {
                Some((star_at, taken)) => {
                    *taken += 1;
                    (at, read) = (*star_at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_file_names() {
        for (pattern, host, is_match) in [
            ("box", "box", true),
            ("box", "BOX", true),
            ("box", "me@box", true),
            ("box", "boxes", false),
            ("*", "", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("w?b*", "web12", true),
            ("w?b", "wb", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("me@box", "me@box", true),
            ("me@box", "box", false),
            ("me@*", "you@box", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, host), is_match, "{pattern} {host}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let (pattern, host) = ("*a".repeat(200), "a".repeat(2000) + "b");
        assert!(!matches(&pattern, &host));
    }
}
