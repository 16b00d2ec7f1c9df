//! Both ends of the layer over a link in virtual time. A failing test prints its seed.

mod host;
mod hostile;
mod null_crypto;
mod quic;
mod reordering;
mod whole;
