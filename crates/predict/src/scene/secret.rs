//! Recognises prompts that ask for a secret.

use rove_terminal::{Cell, Position, Screen};

use super::row::{cells, characters, is_blank};

/// Words, or parts of words, in prompts that ask for a secret, in lower case. Source: the prompts of sudo, login,
/// passwd, ssh, gpg, git and web services. The list also has "password" in the languages to which systems are
/// translated, or its stem if it is inflected.
#[rustfmt::skip]
const WORDS: [&str; 72] = [
    "password", "passphrase", "pass phrase", "passcode", "secret", "verification", "one-time", "authenticator",
    "two-factor", "2fa", "private key", "security code", "access code", "login code", "authentication code",
    "wachtwoord", "wagwoord", "passwort", "kennwort", "lösenord", "passord", "adgangskode", "kodeord",
    "lykilorð", "salasana", "parool", "salasõna", "slaptažod", "parole", "mot de passe", "phrase de passe",
    "phrase secrète", "contraseña", "clave", "frase de paso", "contrasenya", "contrasinal", "palavra-passe",
    "palavra passe", "senha", "parola", "parolă", "cyfrinair", "pasfhocal", "pasahitza", "fjalëkalim",
    "jelszó", "şifre", "pasvorto", "hasło", "heslo", "lozinka", "geslo", "парол", "лозинк", "συνθηματικ",
    "κωδικ", "պարոլ", "գաղտնաբառ", "პაროლ", "סיסמ", "كلمة", "گذرواژه", "पासवर्ड", "รหัสผ่าน", "mật khẩu",
    "kata sandi", "密码", "密碼", "パスワード", "암호", "비밀번호",
];

/// Words in prompts for secrets that count only as whole words, because other words contain them.
const WHOLE_WORDS: [&str; 5] = ["pin", "puk", "otp", "token", "pass"];

/// A word that asks for a secret only before a colon. Elsewhere it is the command that prints the directory.
const BEFORE_COLON: &str = "pwd";

/// Characters that programs show in place of a secret's. Source: sudo, prompt toolkits, fish, web forms.
const MASKS: [char; 6] = ['*', '\u{b7}', '\u{2022}', '\u{25cb}', '\u{25cf}', '\u{ff0a}'];

/// Bytes of a prompt after which no further row above is searched for words about secrets. Chosen: more than the
/// question for the passphrase of a key with the longest usual path.
const PROMPT_BYTES_MAX: usize = 512;

/// Number of rows above the cursor that are searched for words about secrets. Chosen: a question, a blank row and the
/// prompt.
const MENTION_ROWS: u16 = 3;

/// Returns whether the text left of the cursor asks for a secret. Such a text ends like a question, and contains one of
/// the words. The text may begin in a row above, if that row and those after it are full.
pub fn asks_for_secret(screen: &Screen, at: Position) -> bool {
    let row = cells(screen, at.row);
    let left = &row[..usize::from(at.column).min(row.len())];
    let is_question = |c| matches!(c, ':' | '?' | '\u{ff1a}' | '\u{ff1f}');
    if !characters(left).filter(|c| *c != ' ').last().is_some_and(is_question) {
        return false;
    }
    let mut prompt = text(left);
    // If the row above is full, the prompt began there or further up.
    for above in (0..at.row).rev().map(|row| cells(screen, row)) {
        if is_blank(above, above.len() - 1) || prompt.len() > PROMPT_BYTES_MAX {
            break;
        }
        prompt.insert_str(0, &text(above));
    }
    contains_word(&prompt)
}

/// Returns whether a word about secrets is left of the cursor or in the [`MENTION_ROWS`] rows above. It need not be
/// part of a question. Rows above with the text `answered`, a question that the user has answered, do not count.
pub(crate) fn mentions_secret(screen: &Screen, answered: Option<&str>) -> bool {
    let cursor = screen.cursor();
    let rows = cursor.row.saturating_sub(MENTION_ROWS)..cursor.row;
    let here = cells(screen, cursor.row);
    let left = &here[..usize::from(cursor.column).min(here.len())];
    let above = rows.map(|row| (row, text(cells(screen, row))));
    let mut counted = above.filter(|(row, _)| answered != Some(&*screen.row_text(*row)));
    contains_word(&text(left)) || counted.any(|(_, text)| contains_word(&text))
}

/// Returns whether a character on the screen may mask the character of a secret.
pub(crate) fn is_mask(c: char) -> bool {
    MASKS.contains(&c)
}

/// Returns the text of some cells in lower case.
fn text(cells: &[Cell]) -> String {
    characters(cells).flat_map(char::to_lowercase).collect()
}

fn contains_word(prompt: &str) -> bool {
    let is_whole = |word| WHOLE_WORDS.contains(&word);
    let is_before_colon = |(before, _): (&str, &str)| {
        let before = before.trim_end().strip_suffix(BEFORE_COLON);
        before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    };
    let mut colons = prompt.match_indices([':', '\u{ff1a}']).map(|(at, _)| prompt.split_at(at));
    WORDS.iter().any(|word| prompt.contains(word))
        || prompt.split(|c: char| !c.is_alphanumeric()).any(is_whole)
        || colons.any(is_before_colon)
}
