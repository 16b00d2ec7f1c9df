//! Protected characters (DECSCA, SPA, EPA), and erasing that spares them. The rows and cursors are those of xterm 379,
//! which reported each of its cells (DECRQCRA).

use rove_terminal::{Size, Terminal};

use super::sides::{check_behind, filled};
use super::{host, rows};

/// Text whose capitals DECSCA protects.
const DEC: &str = "ab\x1b[1\"qCD\x1b[0\"qef";
/// Text whose capitals SPA and EPA guard.
const ISO: &str = "ab\x1bVCD\x1bWef";

#[test]
fn selective_erasing_spares_what_decsca_protects() {
    check_behind(
        DEC,
        &[
            ("\x1b[?2K", "  CD", (1, 7)),
            ("\x1b[4G\x1b[?0K", "abCD", (1, 4)),
            ("\x1b[4G\x1b[?1K", "  CDef", (1, 4)),
            ("\x1b[?3K", "abCDef", (1, 7)),
            ("\x1b[2K", "", (1, 7)),
            ("\x1b[2J", "", (1, 7)),
            ("\x1b[?2J", "  CD", (1, 7)),
            ("\x1b[1;4H\x1b[?J", "abCD", (1, 4)),
            ("\x1b[1;4H\x1b[?1J", "  CDef", (1, 4)),
            ("\r\nxy\x1b[?1J", "  CD", (2, 3)),
            ("\r\x1b[6X", "", (1, 1)),
            ("\x1b[?3J", "abCDef", (1, 7)),
            ("\x1bV\x1bW\x1b[2K", "  CD", (1, 7)),
            ("\x1bW\x1b[2K", "", (1, 7)),
            ("\x1bV\x1bW\x1b[?2K", "  CD", (1, 7)),
            ("\x1b[3Gx\x1b[?2K", "   D", (1, 4)),
            ("\r\x1b[2@\x1b[?2K", "    CD", (1, 1)),
            ("\r\x1b[P\x1b[?2K", " CD", (1, 1)),
            ("\r\x1b[L\x1b[2;1H\x1b[?2K", "|  CD", (2, 1)),
            ("\r\x1b[6P", "", (1, 1)),
            ("\x1b[M", "", (1, 1)),
            ("\x1b#8\x1b[?2J", "", (1, 1)),
            ("\x1b[1;1H\x1b6\x1b[?2K", "   CD", (1, 1)),
        ],
    );
}

#[test]
fn erasing_spares_what_iso_guards() {
    check_behind(
        ISO,
        &[
            ("\x1b[2K", "  CD", (1, 7)),
            ("\x1b[2J", "  CD", (1, 7)),
            ("\r\x1b[6X", "  CD", (1, 1)),
            ("\x1b[?2K", "  CD", (1, 7)),
            ("\x1b[?2J", "  CD", (1, 7)),
            ("\x1b[3G\x1b[K", "abCD", (1, 3)),
            ("\x1b[3G\x1b[1K", "  CDef", (1, 3)),
            ("\x1b[3G\x1b[J", "abCD", (1, 3)),
            ("\x1b[3G\x1b[1J", "  CDef", (1, 3)),
            ("\x1b[0\"q\x1b[2K", "", (1, 7)),
            ("\x1b[0\"q\x1b[?2K", "  CD", (1, 7)),
            ("\r\x1b[6P", "", (1, 1)),
            ("\x1b[M", "", (1, 1)),
            ("\x1b[S", "", (1, 7)),
        ],
    );
}

#[test]
fn protection_is_of_the_pen_until_it_is_taken_back_or_reset() {
    check_behind(
        "",
        &[
            ("ab\x1bVCD\x1b[0\"qef\x1b[2K", "", (1, 7)),
            ("ab\x1b[1\"qCD\x1bWef\x1b[?2K", "  CD", (1, 7)),
            ("\x1b[1\"q\x1b[1mab\x1b[mCD\x1b[0\"qef\x1b[?2K", "abCD", (1, 7)),
            ("\x1b[1\"qab\x1b[2\"qcd\x1b[?2K", "ab", (1, 5)),
            ("\x1b[1\"qab\x1b[3\"qcd\x1b[?2K", "abcd", (1, 5)),
            ("\x1b[1\"qab\x1b[\"qcd\x1b[?2K", "ab", (1, 5)),
            ("\x1b[1\"q\x1b7\x1b[0\"qab\x1b8\x1b[3Gcd\x1b[0\"qef\x1b[?2K", "  cd", (1, 7)),
            ("\x1b7\x1b[1\"qab\x1b8\x1b[3Gcd\x1b[?2K", "ab", (1, 5)),
            (
                "\x1b[1\"q\x1b[?1048h\x1b[0\"qab\x1b[?1048l\x1b[3Gcd\x1b[0\"qef\x1b[?2K",
                "  cd",
                (1, 7),
            ),
            ("\x1b[1\"qab\x1b[!pcd\x1b[?2K", "", (1, 5)),
            ("\x1bVab\x1b[!pcd\x1b[2K", "", (1, 5)),
            ("\x1bVab\x1b[!pcd\x1b[?2K", "", (1, 5)),
            ("\x1bVab\x1bccd\x1b[2K", "", (1, 3)),
            ("\x1b[4hab\x1b[1\"qCD\x1b[0\"qef\rxx\x1b[?2K", "    CD", (1, 3)),
            ("\x1b[1\"q\x1b#8\x1b[?2J", "", (1, 1)),
            ("\x1bV\x1b#8\x1b[2J", "", (1, 1)),
            ("ab\x1bVCD\x1bW\x1b#8\x1b[2J", "", (1, 1)),
            ("ab\x1bVCD\x1bW\x1b[?1049h", "", (1, 5)),
            ("\x1b[?1049hab\x1bVCD\x1bW\x1b[?1049l\x1b[?1049h", "", (1, 1)),
            ("\x1b[?1049hab\x1bVCD\x1bW\x1b[?1049h", "", (1, 5)),
            ("\x1b[?47hab\x1bVCD\x1bW\x1b[?1047l\x1b[?47h", "", (1, 5)),
            ("\x1bVab\x1b[2K\x1b[1\"q\x1b[0\"q\x1b[2Kcd\x1b[?2K", "", (1, 5)),
        ],
    );
}

#[test]
fn rectangles_spare_what_decsca_protects_and_nothing_that_iso_guards() {
    check_behind(
        &filled("\x1b[2;3H\x1b[1\"qPQR\x1b[0\"q"),
        &[
            ("\x1b[1;1;3;6${", "      6789ABCDEF|  PQR mnopqrstuv|      6789ABCDEF|=|=|=", (2, 6)),
            ("\x1b[${", "|  PQR", (2, 6)),
            ("\x1b[2;4;2;4${", "=|ghPQRlmnopqrstuv|=|=|=|=", (2, 6)),
            ("\x1b[1;1;3;6$z", "      6789ABCDEF|      mnopqrstuv|      6789ABCDEF|=|=|=", (2, 6)),
            (
                "\x1b[88;1;1;3;6$x",
                "XXXXXX6789ABCDEF|XXXXXXmnopqrstuv|XXXXXX6789ABCDEF|=|=|=",
                (2, 6),
            ),
            ("\x1b[88;1;1;3;6$x\x1b[?2J", "", (2, 6)),
            ("\x1b[2;1;2;5;1;4;1$v\x1b[?2J", "|  PQR||  PQR", (2, 6)),
            ("\x1b[?69h\x1b[4;8s\x1b[2;4H\x1b[?2K", "=|  PQR|=|=|=|=", (2, 4)),
            ("\x1b[?69h\x1b[4;8s\x1b[2;4H\x1b[?2J", "|  PQR", (2, 4)),
            ("\x1b[3;2;2;1${", "=|ghPQRlmnopqrstuv|=|=|=|=", (2, 6)),
            ("\x1b[2;3r\x1b[?6h\x1b[1;1;1;4${", "=|  PQRlmnopqrstuv|=|=|=|=", (2, 1)),
            ("\x1b[?2J", "|  PQR", (2, 6)),
            ("\x1b[1\"q\x1b[88;1;1;3;6$x\x1b[0\"q\x1b[?2J", "XXXXXX|XXXXXX|XXXXXX", (2, 6)),
            ("\x1b[3;1H\x1b[?J", "=|ghPQRlmnopqrstuv", (3, 1)),
            ("\x1b[2;4H\x1b[?J", "=|ghPQR", (2, 4)),
            ("\x1b[2;4H\x1b[?1J", "|  PQRlmnopqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[J", "=|ghPQR", (2, 6)),
            ("\x1b[?40h\x1b[?3h\x1b[?3l\x1b[?40l", "", (1, 1)),
        ],
    );
    check_behind(
        &filled("\x1b[2;3H\x1bVPQR\x1bW"),
        &[
            ("\x1b[1;1;3;6${", "      6789ABCDEF|      mnopqrstuv|      6789ABCDEF|=|=|=", (2, 6)),
            ("\x1b[1;1;3;6$z", "      6789ABCDEF|      mnopqrstuv|      6789ABCDEF|=|=|=", (2, 6)),
            (
                "\x1b[88;1;1;3;6$x",
                "XXXXXX6789ABCDEF|XXXXXXmnopqrstuv|XXXXXX6789ABCDEF|=|=|=",
                (2, 6),
            ),
            ("\x1b[2J", "|  PQR", (2, 6)),
            ("\x1b[2;4H\x1b[J", "=|ghPQR", (2, 4)),
            ("\x1b[2;4H\x1b[1J", "|  PQRlmnopqrstuv|=|=|=|=", (2, 4)),
            ("\x1b[?2J", "|  PQR", (2, 6)),
            ("\x1b[3J", "=|ghPQRlmnopqrstuv|=|=|=|=", (2, 6)),
            ("\x1b[?3J", "=|ghPQRlmnopqrstuv|=|=|=|=", (2, 6)),
            ("\x1bc", "", (1, 1)),
            (
                "\x1b[2;1H\x1b[L",
                "=||ghPQRlmnopqrstuv|0123456789ABCDEF|ghijklmnopqrstuv|0123456789ABCDEF",
                (2, 1),
            ),
            ("\x1b[2;1H\x1b[4P", "=|Rlmnopqrstuv|=|=|=|=", (2, 1)),
        ],
    );
}

#[test]
fn all_of_a_wide_character_is_spared_and_a_pending_wrap_is_cancelled() {
    check_behind(
        "",
        &[
            ("\x1bVab\x1bW\x1b[1;4Hcd\x1b[1;1;1;6${", "", (1, 6)),
            ("\x1b[1\"qabc\x1b[0\"q\x1b[1;1;1;2$z\x1b[?2J", "  c", (1, 4)),
            ("\x1b[1\"qab\x1b[2bc\x1b[0\"q\x1b[?2K", "abbbc", (1, 6)),
            ("\x1b[1\"q漢字\x1b[0\"q漢\x1b[?2K", "漢字", (1, 7)),
            ("\x1b[1\"q漢\x1b[0\"q字\x1b[1;2H\x1b[?K", "漢", (1, 2)),
            ("漢\x1b[1\"q字\x1b[0\"q\x1b[1;2H\x1b[?K", "  字", (1, 2)),
            ("0123456789ABCDEF\x1b[?KX", "0123456789ABCDEX", (1, 16)),
            ("0123456789ABCDEF\x1b[?JX", "0123456789ABCDEX", (1, 16)),
            ("0123456789ABCDEF\x1b[1;1;1;2${X", "  23456789ABCDEF|X", (2, 2)),
            ("\x1b[1\"q0123456789ABCDEF\x1b[0\"q\x1b[?KX", "0123456789ABCDEX", (1, 16)),
            ("\x1bV0123456789ABCDEF\x1bW\x1b[KX", "0123456789ABCDEX", (1, 16)),
            ("\x1bV0123456789ABCDEF\x1bW\x1b[XX", "0123456789ABCDEX", (1, 16)),
        ],
    );
}

#[test]
fn a_replica_protects_nothing() {
    for input in
        [format!("{DEC}\x1b[?2K"), format!("{ISO}\x1b[2K"), format!("{ISO}\x1b[1;1;1;6${{")]
    {
        let mut replica = Terminal::replica(Size::clamped(16, 6));
        replica.write(input.as_bytes());
        assert_eq!(rows(replica.screen()), Vec::<String>::new(), "{input:?}");
    }
}

#[test]
fn protection_is_no_part_of_the_picture() {
    let plain = host(16, 6, "abCDef");
    for input in [DEC, ISO] {
        assert!(host(16, 6, input).screen() == plain.screen(), "{input:?}");
    }
}
