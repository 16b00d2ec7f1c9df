//! A handshake and keys for `quinn-proto` that hide nothing: the peer of a test needs no secrets.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

/// Bytes of a tag, as any cipher of TLS adds.
const TAG: usize = 16;

/// The configuration of ends and their keys, which seal nothing.
#[derive(Debug)]
pub(crate) struct Null;

/// The progress of the handshake. Each message is one step.
struct Handshake {
    side: Side,
    own: TransportParameters,
    peer: Option<TransportParameters>,
    step: u8,
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
        packet: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.step < if self.side.is_client() { 5 } else { 4 }
    }

    fn read_handshake(&mut self, mut message: &[u8]) -> Result<bool, TransportError> {
        let brings_parameters = if self.side.is_client() { 3 } else { 0 };
        if self.step == brings_parameters {
            self.peer =
                Some(TransportParameters::read(self.side, &mut message).expect("a whole message"));
        }
        self.step += 1;
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let upgrades = match (self.side, self.step) {
            (Side::Client, 0) => {
                self.own.write(out);
                false
            }
            (Side::Client, 2) => true,
            (Side::Client, 4) | (Side::Server, 1) => {
                out.push(1);
                true
            }
            (Side::Server, 2) => {
                self.own.write(out);
                true
            }
            _ => return None,
        };
        self.step += 1;
        upgrades.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        own: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake { side: Side::Client, own: *own, peer: None, step: 0 }))
    }
}

impl ServerConfig for Null {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake { side: Side::Server, own: *own, peer: None, step: 0 })
    }
}

impl PacketKey for Null {
    fn encrypt(&self, _: u64, packet: &mut [u8], _: usize) {
        // No packet may end as a stateless reset does.
        let tag = packet.len() - TAG;
        packet[tag..].fill(0xA5);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(payload.len() - TAG);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

impl HmacKey for Null {
    fn sign(&self, _: &[u8], out: &mut [u8]) {
        out.fill(0x5A);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Null {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
