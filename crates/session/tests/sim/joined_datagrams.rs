//! The datagrams of joined clients: how much work each causes, and how large the server's datagrams to them are.

use core::net::SocketAddr;

use rove_link::LinkConfig;
use rove_link::net::LEFT_ADDRESS;
use rove_session::JoinMode;
use rove_ssp::{Direction, Ecn, ReceiveError};
use rove_units::Seed;

use crate::common::clients::*;
use crate::common::forger::{Forger, state};
use crate::common::*;

/// Returns the address of a client.
fn address(client: u16) -> SocketAddr {
    SocketAddr::new(LEFT_ADDRESS.ip(), client + 1)
}

#[test]
fn a_datagram_of_a_joined_client_is_bounded_work_however_much_it_inflates_to() {
    for way in [JoinMode::View, JoinMode::Share] {
        let mut trio = shared_session(&LinkConfig::lossless(ms(50)), &[], Seed::new(11));
        let joining = invite_to_join(&mut trio, way, roves());
        let (now, source) = (trio.now(), "192.0.2.9:9".parse().unwrap());
        let mut forger = Forger::of(&joining.key, Direction::ToServer);
        let mut offer = |old, members| {
            // Each empty instruction takes two bytes.
            let instruction = state(old, old + 1, old, b"\x0a\x00".repeat(members));
            let datagrams = forger.datagrams(&instruction);
            assert!(datagrams.len() <= 8, "{} datagrams", datagrams.len());
            let server = &mut trio.right.0.server;
            let offered = datagrams.iter();
            let results = offered.map(|it| server.handle_datagram(now, source, Ecn::Capable, it));
            results.last().expect("a datagram")
        };
        let too_large = Err(ReceiveError::InstructionTooLarge { max: 65_536 });
        assert_eq!(offer(0, 950_000), too_large, "{way:?}");
        // The longest diff that a rove client sends is half of the bound.
        assert_eq!(offer(0, 16_384), Ok(()), "{way:?}");
        assert_eq!(offer(1, 950_000), too_large, "{way:?}");
    }
}

#[test]
fn a_datagram_that_the_system_refuses_for_its_size_shrinks_those_of_its_client_alone() {
    for refused in [0, 1, 2] {
        let ways = [JoinMode::View, JoinMode::Share];
        let mut trio = shared_session(&LinkConfig::lossless(ms(50)), &ways, Seed::new(19));
        let screen = |number: u64| {
            let draws = Seed::new(number).stream("screen");
            let letter =
                |at| char::from_u32(0x4e00 + u32::from(draws.at(at).bits().to_le_bytes()[0]));
            (0..900).filter_map(letter).collect::<String>()
        };
        // Screens of several datagrams make the server probe larger ones.
        for number in 0..100 {
            program(&mut trio, screen(number).as_bytes());
            trio.run_for(ms(500));
        }
        let now = trio.now();
        let server = &mut trio.right.0.server;
        server.handle_message_too_long(now, address(refused), 1_472);
        server.handle_host_output(now, screen(100).as_bytes());
        assert!(server.poll_transmit(now).is_none(), "the screen is collected");
        let mut largest = [0; 3];
        while let Some(transmit) = server.poll_transmit(now + secs(1)) {
            let client = usize::from(transmit.destination.port() - 1);
            largest[client] = transmit.payload.len().max(largest[client]);
        }
        let full = [0, 1, 2].map(|client| client != refused);
        assert_eq!(largest.map(|len| len == 1_472), full, "{largest:?}");
    }
}

#[test]
fn a_long_paste_of_a_joined_client_arrives_whole_also_over_a_lossy_path() {
    for loss in [0.0, 0.1] {
        let link = LinkConfig { loss, ..LinkConfig::lossless(ms(50)) };
        let mut trio = shared_session(&link, &[JoinMode::Share], Seed::new(18));
        let draws = Seed::new(18).stream("paste");
        let text: Vec<u8> =
            (0..300_000).map(|at| draws.at(at).bits().to_le_bytes()[0] | 0x80).collect();
        types(&mut trio, 1, &text);
        trio.run_for(secs(120));
        assert!(trio.right.0.program.typed == text, "{loss}");
    }
}
