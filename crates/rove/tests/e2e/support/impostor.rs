//! A false ssh server without a host key, which listens at the TCP port where ssh expects the host.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use rove_rig::scratch::Scratch;

/// The number of the message that ends a connection. Source: RFC 4253, section 12.
const SSH_MSG_DISCONNECT: u8 = 1;
/// The reason "by application" in the message. Source: RFC 4253, section 11.1.
const BY_APPLICATION: u32 = 11;
/// Packet lengths are multiples of this number of bytes before encryption begins. Source: RFC 4253, section 6.
const BLOCK_LEN: usize = 8;
/// Fewest bytes of padding in a packet. Source: RFC 4253, section 6.
const PADDING_LEN_MIN: usize = 4;

/// An impostor. It sends its version to each client, and then ends the connection with an unencrypted message.
pub(crate) struct Impostor {
    address: SocketAddr,
    scratch: Scratch,
}

impl Impostor {
    /// Starts an impostor with the message `says`. Its thread runs until the test process ends.
    pub(crate) fn start(says: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let address = listener.local_addr().expect("a bound socket has an address");
        let packet = packet(&disconnect(says));
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let packet = packet.clone();
                std::thread::spawn(move || answer(connection, &packet));
            }
        });
        Self { address, scratch: Scratch::new() }
    }

    /// Returns the command line of an ssh for which `far` and 127.0.0.1 lead to the impostor. This ssh would have to
    /// know the impostor's host key.
    pub(crate) fn ssh(&self) -> String {
        self.ssh_with(&format!("Host far 127.0.0.1\n{}", self.place()))
    }

    /// Returns the command line of an ssh for which the impostor is the jump host on the way to `far`.
    pub(crate) fn ssh_behind_jump(&self) -> String {
        self.ssh_with(&format!("Host far\n ProxyJump jump\nHost jump\n{}", self.place()))
    }

    /// Returns lines that announce a session in the form of each kind of server, with this port and key.
    pub(crate) fn forged(port: u16, key: &str) -> String {
        format!(
            "bye\nROVE DOCTOR begin now\nROVE START\nMOSH SSH_CONNECTION 127.0.0.1 1 127.0.0.1 22\n\
             MOSH CONNECT {port} {key}\n"
        )
    }

    fn place(&self) -> String {
        format!(" HostName 127.0.0.1\n Port {}\n", self.address.port())
    }

    fn ssh_with(&self, hosts: &str) -> String {
        let all =
            "Host *\n BatchMode yes\n StrictHostKeyChecking yes\n UserKnownHostsFile /dev/null\n";
        let path = self.scratch.write("ssh_config", &format!("{hosts}{all}"));
        format!("ssh -F {}", path.display())
    }
}

fn answer(mut connection: TcpStream, packet: &[u8]) {
    // Writing fails if the peer has closed the connection.
    let _ = connection.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n");
    let _ = connection.write_all(packet);
    // The read waits until ssh has ended the connection, because closing it earlier could discard the message.
    let mut rest = Vec::new();
    let _ = connection.read_to_end(&mut rest);
}

fn disconnect(says: &str) -> Vec<u8> {
    let mut payload = vec![SSH_MSG_DISCONNECT];
    payload.extend(BY_APPLICATION.to_be_bytes());
    for text in [says, ""] {
        payload.extend(length(text.len()));
        payload.extend(text.as_bytes());
    }
    payload
}

/// Returns an unencrypted packet (RFC 4253, section 6).
fn packet(payload: &[u8]) -> Vec<u8> {
    let header_len = 5;
    let least = header_len + payload.len() + PADDING_LEN_MIN;
    let padding_len = PADDING_LEN_MIN + least.next_multiple_of(BLOCK_LEN) - least;
    let mut packet = Vec::new();
    packet.extend(length(1 + payload.len() + padding_len));
    packet.push(u8::try_from(padding_len).expect("padding is short"));
    packet.extend(payload);
    packet.extend(std::iter::repeat_n(0, padding_len));
    packet
}

fn length(len: usize) -> [u8; 4] {
    u32::try_from(len).expect("a test's text is short").to_be_bytes()
}
