//! The rights of clients that join a session: they get and do no more than these, whatever they offer and send.

use rove_session::{ClientConfig, ClientId, Door, JoinMode, ServerEvent, Uninvited};
use rove_ssp::{Capabilities, Config, Direction, Ecn};
use rove_terminal::Size;
use rove_units::Seed;

use crate::common::clients::*;
use crate::common::forger::{Forger, event, member, state, varint};
use crate::common::*;

#[test]
fn a_viewers_keys_and_sizes_reach_nothing() {
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(1));
    program(&mut trio, b"$ text");
    trio.run_for(secs(1));
    assert_eq!(trio.left.0[1].client.screen().row_text(0), "$ text");
    // A hostile client may ignore that it only views: its stream contains keys and sizes in any case.
    let hostile = ClientConfig {
        transport: Config { capabilities: Some(rove_session::CAPABILITIES), ..Config::client() },
        ..roves()
    };
    let config = invite_to_join(&mut trio, JoinMode::View, hostile);
    come(&mut trio, config);
    // The first keys are typed before the client knows that it only views.
    types(&mut trio, 2, b"rm -rf /\r\x03\x1b[A");
    let now = trio.now();
    trio.left.0[2].client.handle_resize(now, size(20, 5));
    trio.run_for(secs(2));
    assert_eq!(trio.left.0[2].client.pending_input(), 0, "they have arrived");
    types(&mut trio, 0, b"own");
    trio.run_for(secs(1));
    assert_eq!(trio.right.0.program.typed, b"own");
    assert_eq!(trio.right.0.server.screen().size(), Size::DEFAULT);
    assert_eq!(trio.left.0[2].client.screen().size(), size(20, 5), "clipped for its own window");
}

#[test]
fn a_joined_client_has_no_streams() {
    let offering = |config: Config| {
        let capabilities = config.capabilities.map(|it| it.union(Capabilities::STREAMS));
        Config { capabilities, ..config }
    };
    let first = || ClientConfig { transport: offering(roves().transport), ..wide(Size::DEFAULT) };
    let server = far(offering(rove(Config::server())));
    let mut trio = session_of(first(), server, &near_link(), Seed::new(3));
    trio.left.0[0].client.set_door(Door::Open);
    trio.run_for(secs(5));
    for way in [JoinMode::View, JoinMode::Share] {
        let config = invite_to_join(&mut trio, way, first());
        come(&mut trio, config);
        trio.run_for(secs(5));
    }
    let carries: Vec<_> = trio.left.0.iter().map(|end| end.client.carries_streams()).collect();
    assert_eq!(carries, [Some(true), Some(false), Some(false)]);
}

#[test]
fn the_owner_ends_joined_clients_and_nobody_else_does() {
    for way in [JoinMode::View, JoinMode::Share] {
        let ways = [JoinMode::View, JoinMode::Share];
        let mut trio = shared_session(&near_link(), &ways, Seed::new(5));
        for client in [1, 2] {
            command(&mut trio, client, b'e');
            command(&mut trio, client, b'l');
            // Only the key commands check whether the client has joined.
            trio.left.0[client].client.set_door(Door::Locked);
        }
        let config = invite_to_join(&mut trio, way, roves());
        let (now, source) = (trio.now(), "192.0.2.9:9".parse().expect("an address"));
        // Field 2 of a wish ends the joined clients.
        let dismiss = state(0, 1, 0, member(1, &event(17, &varint(2, 1))));
        for datagram in Forger::of(&config.key, Direction::ToServer).datagrams(&dismiss) {
            let server = &mut trio.right.0.server;
            assert_eq!(server.handle_datagram(now, source, Ecn::Capable, &datagram), Ok(()));
        }
        trio.run_for(secs(5));
        assert_eq!(trio.right.0.server.door(), Door::Open, "{way:?}");
        let ended = |trio: &Trio| [1, 2].map(|client| trio.left.0[client].client.outcome());
        assert_eq!(ended(&trio), [None, None], "{way:?}");
        command(&mut trio, 0, b'e');
        trio.run_for(secs(3));
        assert_eq!(ended(&trio), [Some(DISMISSED), Some(DISMISSED)]);
        types(&mut trio, 0, b"alone");
        trio.run_for(secs(1));
        assert_eq!(trio.right.0.program.typed, b"alone");
    }
}

#[test]
fn only_a_client_that_shows_joined_clients_may_join_and_only_beside_one() {
    for way in [JoinMode::View, JoinMode::Share] {
        let mut trio = shared_session(&near_link(), &[], Seed::new(6));
        let config = invite_to_join(&mut trio, way, client_config(stock(Config::client())));
        come(&mut trio, config);
        types(&mut trio, 1, b"x");
        program(&mut trio, b"text");
        trio.run_for(secs(5));
        let Reader { typed, events, .. } = &trio.right.0.program;
        let joined = |event: &ServerEvent| matches!(event, ServerEvent::Joined(_));
        assert!(typed.is_empty() && !events.iter().any(joined), "{way:?}");
        assert_eq!(trio.left.0[1].client.screen().row_text(0), "", "{way:?}");
    }
    // If a stock client takes the session over, joined clients must end.
    let mut trio = shared_session(&near_link(), &[JoinMode::View], Seed::new(6));
    let config = invite(&mut trio, client_config(stock(Config::client())));
    come(&mut trio, config);
    trio.run_for(secs(5));
    assert!(is_in_sync(&trio, 2) && trio.left.0[1].client.outcome().is_some());
    assert_eq!(refusal(&mut trio), Some(Uninvited::Unseen));
}

#[test]
fn events_of_the_past_do_not_happen_again_for_a_client_that_joins() {
    let mut trio = session(wide(Size::DEFAULT), &near_link(), Seed::new(9));
    trio.left.0[0].client.set_door(Door::Open);
    program(&mut trio, b"\x07\x07\x07\x1b]52;c;b2xk\x07\x1b]9;past\x07text");
    trio.run_for(secs(5));
    // A client that does not offer rich screens gets copies and bells as Mosh 1.4.0 sends them, in the picture.
    for capabilities in [rove_session::CAPABILITIES, Capabilities::JOINED] {
        for way in [JoinMode::View, JoinMode::Share] {
            let mut config = invite_to_join(&mut trio, way, wide(Size::DEFAULT));
            config.transport.capabilities = Some(capabilities);
            come(&mut trio, config);
        }
    }
    trio.run_for(secs(2));
    program(&mut trio, b"\x07\x1b]52;c;bmV3\x07\x1b]9;new\x07");
    trio.run_for(secs(5));
    // Text that programs copy does not go to a viewer's clipboard.
    for (client, bells, copies, told) in
        [(0, 4, 2, 2), (1, 1, 0, 1), (2, 1, 1, 1), (3, 1, 0, 0), (4, 1, 1, 0)]
    {
        let end = &trio.left.0[client];
        assert_eq!(end.terminal.screen().bells(), bells, "{client}");
        assert_eq!((end.user.copied.len(), end.user.notified.len()), (copies, told), "{client}");
    }
    let config = invite(&mut trio, wide(Size::DEFAULT));
    come(&mut trio, config);
    trio.run_for(secs(12));
    program(&mut trio, b"\x07");
    trio.run_for(secs(2));
    for (client, bells) in [(1, 2), (2, 2), (3, 2), (4, 2), (5, 1)] {
        assert_eq!(trio.left.0[client].terminal.screen().bells(), bells, "{client}");
    }
}

#[test]
fn a_client_that_may_not_join_displaces_none_that_may_be_resumed() {
    let mut trio = session(roves(), &near_link(), Seed::new(6));
    // The server remembers so many clients.
    (0..1024).for_each(|_| assert_eq!(refusal(&mut trio), Some(Uninvited::Unseen)));
    assert!(trio.right.0.server.is_own(ClientId::of(&key())));
}
