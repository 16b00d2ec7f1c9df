//! Tests that the process at the other end of a socket is found.

use super::*;

#[test]
fn the_peer_of_an_own_socket_is_this_process() {
    let (one, other) = UnixStream::pair().unwrap();
    for stream in [one, other] {
        assert_eq!(process_of(&stream), Some(std::process::id()));
    }
}
