use super::*;
use proptest::prelude::*;
use rove_congestion::new_reno::NewReno;
use rove_units::{Bytes, Duration};

use crate::id::Side;

const NOW: Instant = Instant::from_millis(5);

fn target() -> impl Strategy<Value = Target> {
    let tcp =
        ("[a-zé:.-]{1,127}", 1..=u16::MAX).prop_map(|(host, port)| Target::Tcp { host, port });
    let path = proptest::collection::vec(1..=u8::MAX, 0..PATH_MAX);
    let unix = path.prop_map(|path| Target::Unix { path: [b"/", &path[..]].concat() });
    let input = (0..=COMMAND_MAX, any::<bool>())
        .prop_map(|(command_len, is_subsystem)| Part::Input { command_len, is_subsystem });
    let id = || (0..1_u64 << 62).prop_map(StreamId::new);
    let part = prop_oneof![input, id().prop_map(Part::Output), id().prop_map(Part::Errors)];
    let host = proptest::option::of("[a-zé:*.-]{0,127}");
    let port = (host, any::<u16>()).prop_map(|(host, port)| ListenPlace::Port { host, port });
    let path = proptest::collection::vec(1..=u8::MAX, 0..PATH_MAX);
    let path = path.prop_map(|path| ListenPlace::Path([b"/", &path[..]].concat()));
    let listen = (any::<u64>(), prop_oneof![port, path], 0..=0o777_u32, any::<bool>())
        .prop_map(|(number, at, mask, replaces)| Listen { number, at, mask, replaces });
    let name = proptest::collection::vec(any::<u8>(), 1..=FILE_NAME_MAX);
    let put = (name, any::<u64>(), proptest::option::of("[a-z0-9.]{0,64}"))
        .prop_map(|(name, len, session)| Put { name, len, session });
    prop_oneof![
        tcp,
        unix,
        part.prop_map(Target::Program),
        listen.prop_map(Target::Listen),
        any::<u64>().prop_map(Target::Accepted),
        put.prop_map(Target::Put),
        Just(Target::Foreground),
        "[a-z-]{1,255}".prop_map(Target::Controller),
        Just(Target::Agent)
    ]
}

/// Returns a client's and a server's multiplexer, and a stream that the client has opened.
fn ends() -> (Mux, Mux, StreamId) {
    let end = |side| Mux::new(side, Box::new(NewReno::new(Bytes::new(1_176))), 1_176, NOW);
    let (mut client, server) = (end(Side::Client), end(Side::Server));
    let id = client.open(NOW).unwrap();
    (client, server, id)
}

/// Delivers all packets in both directions, for 400 ms.
fn carry(now: &mut Instant, client: &mut Mux, server: &mut Mux) {
    for _ in 0..8 {
        *now += Duration::from_millis(50);
        let now = *now;
        while let Some(packet) = client.poll_transmit(now) {
            server.handle_packet(now, packet.number, &packet.payload).unwrap();
        }
        while let Some(packet) = server.poll_transmit(now) {
            client.handle_packet(now, packet.number, &packet.payload).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn messages_read_back_and_the_bytes_after_them_stay(target in target(), chunk in 1..200_usize) {
        let (mut client, mut server, id) = ends();
        let bytes = [&target.encode()[..], b"SSH-2.0"].concat();
        let mut reader = MessageReader::default();
        let (mut fields, mut now) = (None, NOW);
        for piece in bytes.chunks(chunk + bytes.len() / 8) {
            prop_assert_eq!(client.write(id, piece), Ok(piece.len()));
            carry(&mut now, &mut client, &mut server);
            fields = fields.or(reader.read(NOW, &mut server, id).unwrap());
        }
        prop_assert_eq!(Target::decode(&fields.unwrap()), Ok(target));
        let mut rest = [0; 20];
        prop_assert_eq!(server.read(NOW, id, &mut rest), Ok(Read::Bytes(7)));
    }

    #[test]
    fn an_answer_about_a_file_reads_back(path in ".{0,200}", untyped in "[ -~]{0,80}") {
        let kept = Answer::Kept { path, untyped };
        let encoded = kept.encode();
        let mut rest = &encoded[..];
        prop_assert_eq!(varint::take(&mut rest), Some(rest.len() as u64));
        prop_assert_eq!(Answer::decode(rest), Ok(kept));
    }

    #[test]
    fn any_bytes_are_a_message_or_none(fields: Vec<u8>, text: String, code: u64) {
        if let Ok(target) = Target::decode(&fields) {
            prop_assert_eq!(target.check(), Ok(()));
        }
        let _ = Answer::decode(&fields);
        let encoded = Answer::Refused { code, text }.encode();
        let mut rest = &encoded[..];
        prop_assert_eq!(varint::take(&mut rest), Some(rest.len() as u64));
        let Ok(Answer::Refused { code: read, text }) = Answer::decode(rest) else { panic!() };
        prop_assert!(read == code && text.chars().count() <= TEXT_MAX);
        prop_assert!(text.chars().all(|it| it == ' ' || it.is_ascii_graphic()));
    }
}

#[test]
fn the_bounds_hold_at_the_limit_and_one_past_it() {
    let tcp = |len, port| Target::Tcp { host: "h".repeat(len), port }.check();
    let unix = |len| Target::Unix { path: vec![b'/'; len] }.check();
    assert_eq!((tcp(HOST_MAX, 1), unix(PATH_MAX)), (Ok(()), Ok(())));
    assert_eq!(tcp(HOST_MAX + 1, 1), Err(PrefaceError::Host));
    assert_eq!(tcp(0, 1), Err(PrefaceError::Host));
    assert_eq!(tcp(1, 0), Err(PrefaceError::Port));
    assert_eq!(unix(PATH_MAX + 1), Err(PrefaceError::Path));
    for path in [&b"relative"[..], b"", b"/a\0b"] {
        assert_eq!(Target::Unix { path: path.to_vec() }.check(), Err(PrefaceError::Path));
    }
    let put = |name: usize, session: usize| {
        let session = Some("s".repeat(session));
        Target::Put(Put { name: vec![b'n'; name], len: u64::MAX, session }).check()
    };
    assert_eq!((put(FILE_NAME_MAX, 64), put(1, 0)), (Ok(()), Ok(())));
    for (name, session) in [(0, 0), (FILE_NAME_MAX + 1, 0), (1, 65)] {
        assert_eq!(put(name, session), Err(PrefaceError::File));
    }
    let host = Target::Tcp { host: "a\x1b[2J".to_owned(), port: 1 };
    assert_eq!(host.check(), Err(PrefaceError::Host));
    let controller = |len| Target::Controller("c".repeat(len)).check();
    assert_eq!([controller(1), controller(HOST_MAX)], [Ok(()); 2]);
    assert_eq!([controller(0), controller(HOST_MAX + 1)], [Err(PrefaceError::Host); 2]);
    let listen = |at| Target::Listen(Listen { number: 1, at, mask: 0, replaces: false }).check();
    let port = |host: &str| ListenPlace::Port { host: Some(host.to_owned()), port: 0 };
    assert_eq!(listen(port(&"h".repeat(HOST_MAX))), Ok(()));
    assert_eq!(listen(port(&"h".repeat(HOST_MAX + 1))), Err(PrefaceError::Host));
    assert_eq!(listen(port("a\x1b[2J")), Err(PrefaceError::Host));
    assert_eq!(listen(ListenPlace::Path(vec![b'/'; PATH_MAX])), Ok(()));
    assert_eq!(listen(ListenPlace::Path(vec![b'/'; PATH_MAX + 1])), Err(PrefaceError::Path));
    assert_eq!(listen(ListenPlace::Path(b"~/x".to_vec())), Err(PrefaceError::Path));
    // A port of more than 16 bits, a message that is cut short, and two unknown kinds.
    assert_eq!(Target::decode(&[8, 1, 18, 1, b'h', 24, 0x80, 0x80, 4]), Err(PrefaceError::Port));
    assert_eq!(Target::decode(&[8, 1, 18, 2, b'h']), Err(PrefaceError::Malformed));
    assert_eq!(Target::decode(&[8, 11]), Err(PrefaceError::Kind(11)));
    assert_eq!(Target::decode(&[]), Err(PrefaceError::Kind(0)));
    // Fields of later versions are skipped.
    let later = [8, 2, 34, 2, b'/', b'a', 58, 1, 7, 0x45, 1, 2, 3, 4, 0x49, 1, 2, 3, 4, 5, 6, 7, 8];
    assert_eq!(Target::decode(&later), Ok(Target::Unix { path: b"/a".to_vec() }));
}

#[test]
fn a_messages_length_is_believed_up_to_its_bound_alone() {
    for (length, expected) in [
        (&[0x80, 0x20][..], Ok(None)),
        (&[0x81, 0x20][..], Err(PrefaceError::TooLong)),
        (
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1][..],
            Err(PrefaceError::TooLong),
        ),
        (&[0x80; 10][..], Err(PrefaceError::Malformed)),
        (&[0x80, 0][..], Err(PrefaceError::Malformed)),
        (&[0][..], Ok(Some(Vec::new()))),
    ] {
        let (mut client, mut server, id) = ends();
        client.write(id, length).unwrap();
        carry(&mut NOW.clone(), &mut client, &mut server);
        assert_eq!(MessageReader::default().read(NOW, &mut server, id), expected, "{length:x?}");
    }
    let (mut client, mut server, id) = ends();
    client.finish(id).unwrap();
    carry(&mut NOW.clone(), &mut client, &mut server);
    let ended = MessageReader::default().read(NOW, &mut server, id);
    assert_eq!(ended, Err(PrefaceError::Ended));
}
