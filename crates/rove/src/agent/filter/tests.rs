use proptest::prelude::*;

use super::*;

/// The filter of a connection, and the bytes that it has passed on.
struct Line {
    filter: Filter,
    to_agent: Vec<u8>,
    to_host: Vec<u8>,
}

impl Line {
    fn new(asks: bool) -> Self {
        Self { filter: Filter::new(asks, true), to_agent: Vec::new(), to_host: Vec::new() }
    }

    fn ask(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.filter.handle_request(bytes, &mut self.to_agent, &mut self.to_host)
    }

    fn answer(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.filter.handle_answer(bytes, &mut self.to_agent, &mut self.to_host)
    }

    fn decide(&mut self, is_allowed: bool) {
        self.filter.decide(is_allowed, &mut self.to_agent, &mut self.to_host);
    }

    /// Removes and returns the bytes for the agent and for the host.
    fn sent(&mut self) -> (Vec<u8>, Vec<u8>) {
        (std::mem::take(&mut self.to_agent), std::mem::take(&mut self.to_host))
    }
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn message(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    text(&[&[kind], &parts.concat()[..]].concat())
}

/// Returns a request to sign `data` with the key named `blob`.
fn sign(data: &[u8]) -> Vec<u8> {
    message(SIGN, &[&text(b"blob"), &text(data), &[0; 4]])
}

fn login(user: &[u8]) -> Vec<u8> {
    let rest = [text(b"ssh-connection"), text(b"publickey-hostbound-v00@openssh.com")].concat();
    [text(&[7; 32]), vec![LOGIN], text(user), rest].concat()
}

fn file(space: &[u8]) -> Vec<u8> {
    [SIGNATURE_FILE, &text(space), &text(b""), &text(b"sha512")].concat()
}

#[test]
fn the_agent_learns_of_lists_signatures_and_two_extensions_and_of_nothing_else() {
    for kind in 0..=u8::MAX {
        let mut line = Line::new(false);
        let asked = message(kind, &[&text(b"lock@example.org")]);
        line.ask(&asked).unwrap();
        let passes = matches!(kind, LIST | SIGN);
        let expected = if passes { (asked, vec![]) } else { (vec![], REFUSAL.to_vec()) };
        assert_eq!(line.sent(), expected, "{kind}");
    }
    for (name, passes) in [
        (&b"session-bind@openssh.com"[..], true),
        (b"query", true),
        (b"quer", false),
        (b"restrict-destination-v00@openssh.com", false),
    ] {
        let mut line = Line::new(false);
        line.ask(&message(EXTENSION, &[&text(name), b"more"])).unwrap();
        assert_eq!(line.to_host.is_empty(), passes, "{}", String::from_utf8_lossy(name));
        assert_eq!(line.to_agent.is_empty(), !passes);
    }
    let mut line = Line::new(false);
    line.ask(&message(EXTENSION, &[b"\0\0\0\xffquery"])).unwrap();
    assert_eq!(line.sent(), (vec![], REFUSAL.to_vec()));
}

#[test]
fn no_program_binds_a_connection_that_ssh_does_not() {
    for (kind, passes) in [(LIST, true), (SIGN, true), (EXTENSION, false), (1, false)] {
        let mut line = Line { filter: Filter::new(false, false), ..Line::new(false) };
        let asked = message(kind, &[&text(b"session-bind@openssh.com"), &text(b"data")]);
        line.ask(&asked).unwrap();
        let expected = if passes { (asked, vec![]) } else { (vec![], REFUSAL.to_vec()) };
        assert_eq!(line.sent(), expected, "{kind}");
    }
}

#[test]
fn lengths_out_of_bounds_close_the_connection_before_anything_is_kept() {
    for len in [0, 262_145, u32::MAX] {
        let mut line = Line::new(false);
        let fault = Fault::Length(usize::try_from(len).unwrap());
        assert_eq!(line.ask(&len.to_be_bytes()), Err(fault));
        let mut line = Line::new(false);
        line.ask(&message(LIST, &[])).unwrap();
        assert_eq!(line.answer(&[&len.to_be_bytes()[..], &[KEYS]].concat()), Err(fault));
    }
    let mut line = Line::new(false);
    let longest = message(SIGN, &[&vec![0; MESSAGE_MAX - 1]]);
    line.ask(&longest).unwrap();
    assert_eq!(line.sent().0, longest);
    let mut line = Line::new(false);
    line.ask(&message(1, &[])).unwrap();
    line.ask(&[0, 0, 1]).unwrap();
    assert!(line.filter.is_cut() && line.to_agent.is_empty());
}

#[test]
fn an_answer_must_be_one_to_the_request() {
    for (request, answer, is_right) in [
        (message(LIST, &[]), message(KEYS, &[&[0; 4]]), true),
        (message(LIST, &[]), message(FAILURE, &[]), true),
        (message(LIST, &[]), message(SUCCESS, &[]), false),
        (sign(b"x"), message(SIGNATURE, &[&text(b"s")]), true),
        (sign(b"x"), message(SUCCESS, &[]), false),
        (message(EXTENSION, &[&text(b"query")]), message(EXTENSION_ANSWER, &[]), true),
        (message(EXTENSION, &[&text(b"query")]), message(KEYS, &[]), false),
    ] {
        let mut line = Line::new(false);
        line.ask(&request).unwrap();
        let answered = line.answer(&answer);
        assert_eq!(answered.is_ok(), is_right, "{request:?} {answer:?}");
        assert_eq!(line.to_host.is_empty(), !is_right);
    }
    let mut line = Line::new(false);
    assert_eq!(line.answer(&message(SUCCESS, &[])), Err(Fault::Unasked));
    line.ask(&message(LIST, &[])).unwrap();
    let two = [message(FAILURE, &[]), message(FAILURE, &[])].concat();
    assert_eq!(line.answer(&two), Err(Fault::Unasked));
}

#[test]
fn requests_are_answered_in_their_order() {
    let mut line = Line::new(false);
    let (list, lock) = (message(LIST, &[]), message(22, &[]));
    line.ask(&[&list[..], &lock, &list].concat()).unwrap();
    assert!(!line.filter.takes_requests());
    assert_eq!(line.sent(), (list.clone(), vec![]));
    let keys = message(KEYS, &[&[0; 4]]);
    line.answer(&keys[..3]).unwrap();
    line.answer(&keys[3..]).unwrap();
    assert_eq!(line.sent(), (list, [&keys[..], &REFUSAL].concat()));
}

#[test]
fn a_use_names_the_purpose_and_the_key() {
    for (data, said) in [
        (login(b"me"), "a key of your agent for a login as me"),
        (file(b"git"), "a key of your agent for a signature (git)"),
        (b"nonsense".to_vec(), "a key of your agent for something that is no login of ssh"),
        (login(b"\x1b[2Jm\xe2\x80\xaee"), "a key of your agent for a login as [2Jme"),
        (vec![255; 40], "a key of your agent for something that is no login of ssh"),
    ] {
        let mut line = Line::new(false);
        line.ask(&sign(&data)).unwrap();
        assert_eq!(line.filter.poll_use().unwrap().to_string(), said);
        assert_eq!(line.filter.poll_use(), None);
    }
    let mut line = Line::new(false);
    line.ask(&message(LIST, &[])).unwrap();
    assert_eq!(line.filter.poll_use(), None, "a list is no use");
    // Wide and combining characters count as columns, so that no name pushes others out of a question.
    let long = [&[b'x'; NAME_COLUMNS_MAX][..], "広\u{301}".repeat(40).as_bytes()].concat();
    let keys = [&2_u32.to_be_bytes()[..], &text(b"other"), &text(&long), &text(b"blob")].concat();
    line.answer(&message(KEYS, &[&keys, &text(b"work laptop")])).unwrap();
    line.ask(&sign(&login(b"me"))).unwrap();
    let said = line.filter.poll_use().unwrap().to_string();
    assert_eq!(said, "the key work laptop for a login as me");
    assert_eq!(line.filter.names[0].1, "x".repeat(16) + "...\u{301}" + &"広\u{301}".repeat(5));
}

#[test]
fn a_login_that_is_good_for_one_host_alone_has_its_key_and_is_told_with_its_name() {
    let bound = |method: &[u8], rest: &[u8]| {
        let user = [text(&[7; 32]), vec![LOGIN], text(b"me"), text(b"ssh-connection")].concat();
        let key = [text(b"ssh-ed25519"), text(b"blob")].concat();
        [&user, &text(method), &[1][..], &key, rest].concat()
    };
    let host = text(b"host's key");
    for (data, key) in [
        (bound(HOST_BOUND, &host), Some(&b"host's key"[..])),
        (bound(b"publickey", &host), None),
        (bound(HOST_BOUND, &[]), None),
        (bound(HOST_BOUND, &host[..9]), None),
        (bound(HOST_BOUND, &[&host[..], b"x"].concat()), None),
        (login(b"me"), None),
        (file(b"git"), None),
    ] {
        let mut line = Line::new(false);
        line.ask(&sign(&data)).unwrap();
        let used = line.filter.poll_use().unwrap();
        assert_eq!(used.host_key(), key, "{}", data.escape_ascii());
        let said = used.to_string();
        assert_eq!(used.at(&"far").to_string(), format!("{said} at far"));
    }
}

#[test]
fn a_security_key_is_named_and_its_answer_may_come_late_and_be_longer() {
    // The parts of a security key's blob and signature. Source: OpenSSH 9.2, PROTOCOL.u2f.
    let name = b"sk-ssh-ed25519@openssh.com";
    let blob = [text(name), text(&[9; 32]), text(b"ssh:")].concat();
    let mut line = Line::new(false);
    line.ask(&message(LIST, &[])).unwrap();
    let keys = [&1_u32.to_be_bytes()[..], &text(&blob), &text(b"token")].concat();
    line.answer(&message(KEYS, &[&keys])).unwrap();
    line.sent();
    let request = message(SIGN, &[&text(&blob), &text(&login(b"me")), &[0; 4]]);
    line.ask(&request).unwrap();
    assert_eq!(line.filter.poll_use().unwrap().to_string(), "the key token for a login as me");
    assert_eq!(line.sent(), (request, vec![]));
    // While the user has not touched the token, no other request passes, and none is lost.
    line.ask(&message(LIST, &[])).unwrap();
    assert_eq!(line.sent(), (vec![], vec![]));
    let signature = [text(name), text(&[8; 64]), vec![1, 0, 0, 0, 5]].concat();
    let answer = message(SIGNATURE, &[&text(&signature)]);
    line.answer(&answer[..7]).unwrap();
    line.answer(&answer[7..]).unwrap();
    assert_eq!(line.sent(), (message(LIST, &[]), answer));
}

#[test]
fn a_signature_that_is_to_be_confirmed_waits_for_the_user() {
    for is_allowed in [true, false] {
        let mut line = Line::new(true);
        let request = sign(&login(b"me"));
        line.ask(&[&request[..], &message(LIST, &[])].concat()).unwrap();
        assert_eq!(line.sent(), (vec![], vec![]));
        assert!(line.filter.poll_use().is_some() && line.filter.state == State::Asking);
        line.decide(is_allowed);
        let sent = line.sent();
        line.ask(&[]).unwrap();
        match is_allowed {
            true => assert_eq!(sent, (request, vec![])),
            false => {
                assert_eq!((sent, line.sent().0), ((vec![], REFUSAL.to_vec()), message(LIST, &[])))
            }
        }
        line.decide(true);
        assert_eq!(line.sent(), (vec![], vec![]), "one decision is for one use");
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_reach_the_agent_only_as_messages_that_may_pass(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        kind in any::<u8>(),
        cut in 0_usize..300,
    ) {
        let bytes = [message(kind, &[&bytes]), bytes].concat();
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        let mut line = Line::new(false);
        let _ = line.ask(head).and_then(|()| line.ask(tail));
        if let Some(kind) = line.to_agent.get(4) {
            prop_assert!(matches!(*kind, LIST | SIGN | EXTENSION));
        }
        let _ = line.answer(&bytes);
        let _ = line.filter.poll_use().map(|it| it.to_string());
    }
}
