//! `quinn-proto` over the same links: our streams move as much under the same controller.

use core::any::Any;
use core::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant as StdInstant;

use bytes::BytesMut;
use quinn_proto::congestion::{Controller as QuicController, ControllerFactory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    RttEstimator, ServerConfig, StreamId as QuicStream, TransportConfig, VarInt,
};
use rove_congestion::cubic::Cubic;
use rove_congestion::new_reno::NewReno;
use rove_congestion::{Ack, Controller, Loss};
use rove_link::LinkConfig;
use rove_link::net::{End, Net, RIGHT_ADDRESS};
use rove_streams::{Side, StreamId};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

use crate::host::{Host, PACKET, Plan};
use crate::null_crypto::Null;

/// How long a transfer runs.
const SPAN: Duration = Duration::from_secs(30);

/// The number of runs of each kind.
const SEEDS: u64 = 8;

/// The number of runs at high loss. Chosen: at high loss the shares of 8 seeds differ by a tenth from those of 40.
const SEEDS_OF_LOSS: u64 = 40;

/// The minimum share of quinn's bytes that our streams must move. Source: the decision to write our own streams.
const SHARE_MIN: f64 = 0.95;

/// The constructor of one of our congestion controllers, for packets of a given size.
type New<C> = fn(Bytes) -> C;

/// Adapts one of our controllers to the interface of quinn.
#[derive(Clone, Debug)]
struct Adapter<C> {
    controller: C,
    began: StdInstant,
    in_flight: Bytes,
}

struct Factory<C>(New<C>);

impl<C> Adapter<C> {
    fn time(&self, at: StdInstant) -> Instant {
        Instant::ZERO + at.saturating_duration_since(self.began)
    }
}

impl<C: Controller + Clone + Sync + 'static> QuicController for Adapter<C> {
    fn on_ack(
        &mut self,
        now: StdInstant,
        sent: StdInstant,
        bytes: u64,
        is_app_limited: bool,
        rtt: &RttEstimator,
    ) {
        let (now, sent, rtt) = (self.time(now), self.time(sent), rtt.get());
        let ack = Ack {
            sent,
            received: now,
            size: Bytes::new(bytes),
            rtt,
            in_flight: self.in_flight,
            is_app_limited,
        };
        self.controller.on_ack(now, &ack);
    }

    fn on_end_acks(
        &mut self,
        now: StdInstant,
        in_flight: u64,
        is_app_limited: bool,
        _: Option<u64>,
    ) {
        self.in_flight = Bytes::new(in_flight);
        self.controller.on_end_acks(self.time(now), self.in_flight, is_app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: StdInstant,
        sent: StdInstant,
        is_persistent: bool,
        bytes: u64,
    ) {
        let loss = Loss {
            sent: self.time(sent),
            size: Bytes::new(bytes),
            in_flight: self.in_flight,
            is_persistent,
        };
        self.controller.on_loss(self.time(now), &loss);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.controller.on_mtu_update(Bytes::new(mtu.into()));
    }

    fn window(&self) -> u64 {
        self.controller.window().get()
    }

    fn clone_box(&self) -> Box<dyn QuicController> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl<C: Controller + Clone + Sync + 'static> ControllerFactory for Factory<C> {
    fn build(self: Arc<Self>, now: StdInstant, mtu: u16) -> Box<dyn QuicController> {
        let controller = (self.0)(Bytes::new(mtu.into()));
        // The first call comes with the connection, at the start of the run.
        Box::new(Adapter { controller, began: now, in_flight: Bytes::ZERO })
    }
}

/// An end of a QUIC connection that writes or reads for the whole run.
struct Quic {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    began: StdInstant,
    writes: bool,
    stream: Option<QuicStream>,
    read: u64,
    due: Option<Instant>,
}

fn transport(factory: Arc<dyn ControllerFactory + Send + Sync>) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u32(8 << 20);
    config
        .max_idle_timeout(None)
        .initial_mtu(1_200)
        .mtu_discovery_config(None)
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(8 << 20)
        .congestion_controller_factory(factory);
    Arc::new(config)
}

impl Quic {
    fn new(
        side: Side,
        factory: &Arc<dyn ControllerFactory + Send + Sync>,
        began: StdInstant,
    ) -> Self {
        let mut config = EndpointConfig::new(Arc::new(Null));
        config.rng_seed(Some([7; 32]));
        let mut server = ServerConfig::new(Arc::new(Null), Arc::new(Null));
        server.transport_config(transport(Arc::clone(factory)));
        let server = (side == Side::Server).then(|| Arc::new(server));
        let mut endpoint = Endpoint::new(Arc::new(config), server, false, Some([8; 32]));
        let connection = (side == Side::Client).then(|| {
            let mut client = ClientConfig::new(Arc::new(Null));
            client.transport_config(transport(Arc::clone(factory)));
            endpoint.connect(began, client, RIGHT_ADDRESS, "peer").expect("a valid address")
        });
        let writes = side == Side::Client;
        Self { endpoint, connection, began, writes, stream: None, read: 0, due: None }
    }

    fn clock(&self, now: Instant) -> StdInstant {
        self.began + now.saturating_since(Instant::ZERO)
    }

    /// Lets the endpoint, the writer and the reader work until they can do no more.
    fn turn(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
        let opened = if self.writes {
            connection.streams().open(Dir::Uni)
        } else {
            connection.streams().accept(Dir::Uni)
        };
        self.stream = self.stream.or(opened);
        let Some(stream) = self.stream else { return };
        if self.writes {
            while connection.send_stream(stream).write(&[7; 16_384]).is_ok() {}
            return;
        }
        let mut receiver = connection.recv_stream(stream);
        let Ok(mut chunks) = receiver.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.read += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize();
    }
}

impl End for Quic {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let clock = self.clock(now);
        let mut answer = Vec::new();
        match self.endpoint.handle(clock, source, None, None, BytesMut::from(payload), &mut answer)
        {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                let (_, connection) = self.connection.as_mut().expect("the only one");
                connection.handle_event(event);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, clock, &mut answer, None);
                self.connection =
                    Some(accepted.map_err(|error| error.cause).expect("nothing speaks against it"));
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let clock = self.clock(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(clock);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.turn();
        let clock = self.clock(now);
        let (_, connection) = self.connection.as_mut()?;
        let mut datagram = Vec::new();
        let sent = connection.poll_transmit(clock, 1, &mut datagram);
        self.due =
            connection.poll_timeout().map(|at| Instant::ZERO + at.duration_since(self.began));
        sent.map(|sent| (sent.destination, datagram))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }
}

fn link(kbit: u64, rtt: u64, queue_ms: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        loss,
        delay: Duration::from_millis(rtt / 2),
        rate: BitRate::from_bits_per_second(kbit * 1_000),
        queue_max: Bytes::new(kbit * queue_ms / 8),
        overhead: Bytes::new(28),
        ..LinkConfig::default()
    }
}

/// Returns how many bytes our streams transfer in [`SPAN`].
fn ours(link: &LinkConfig, seed: Seed, controller: Box<dyn Controller>) -> u64 {
    let nothing: fn(StreamId) -> Plan = |_| Plan::default();
    let right = Host::new(Side::Server, nothing);
    let left = Host::with(Side::Client, nothing, controller);
    let mut net = Net::new(left, right, link.clone(), link.clone(), seed);
    let id = net.left.open(Instant::ZERO, Plan { writes: 1 << 40, ..Plan::default() });
    net.run_for(SPAN);
    net.right.jobs.get(&id).map_or(0, |job| job.read)
}

/// Returns how many bytes `quinn-proto` transfers in [`SPAN`], under the controller that `factory` makes.
fn theirs(
    link: &LinkConfig,
    seed: Seed,
    factory: &Arc<dyn ControllerFactory + Send + Sync>,
) -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "quinn-proto counts from a time of the system's clock"
    )]
    let began = StdInstant::now();
    let (left, right) =
        (Quic::new(Side::Client, factory, began), Quic::new(Side::Server, factory, began));
    let mut net = Net::new(left, right, link.clone(), link.clone(), seed);
    net.run_for(SPAN);
    net.right.read
}

/// Compares our streams with quinn. Returns our share of quinn's bytes if it is below `share_min`.
fn shortfall<C: Controller + Clone + Sync + 'static>(
    name: &str,
    link: &LinkConfig,
    new: New<C>,
    share_min: f64,
) -> Option<String> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = Arc::new(Factory(new));
    let packet = Bytes::from(PACKET);
    let seeds = if link.loss > 0.1 { SEEDS_OF_LOSS } else { SEEDS };
    let ours: u64 = (0..seeds).map(|seed| ours(link, Seed::new(seed), Box::new(new(packet)))).sum();
    let theirs: u64 = (0..seeds).map(|seed| theirs(link, Seed::new(seed), &factory)).sum();
    #[expect(clippy::cast_precision_loss, reason = "some megabytes")]
    let share = ours as f64 / theirs.max(1) as f64;
    println!("{name}: {share:.2} of quinn's bytes ({ours} of {theirs})");
    assert!(theirs > 100_000, "{name}: quinn moves too little");
    (share < share_min).then(|| format!("{name}: {share:.3} is below {share_min}"))
}

/// A link for the comparison: its name, the link, and the minimum shares of quinn's bytes under NewReno and CUBIC.
type Cell = (String, LinkConfig, [f64; 2]);

/// Returns the links for the comparison. With `ROVE_QUINN_CELLS`, these are the links of the decision to write our own
/// streams. Otherwise they are fewer links, with minimum shares up to 0.02 below the measured shares.
///
/// Two kinds of links miss [`SHARE_MIN`]. With 5 and 10 % of loss under CUBIC, the shares are 0.90 to 0.94. At 100
/// Mbit/s and 500 ms without loss, the streams' credit is too small.
fn cells() -> Vec<Cell> {
    if std::env::var_os("ROVE_QUINN_CELLS").is_none() {
        // quinn counts each overtaken packet as lost, and so keeps the smallest congestion window.
        let jitter = Duration::from_millis(10);
        let reordering = LinkConfig { jitter, reorder: true, ..link(10_000, 40, 100, 0.0) };
        return vec![
            ("10 Mbit/s, 40 ms".into(), link(10_000, 40, 100, 0.0), [0.99, 0.99]),
            ("1 Mbit/s, 40 ms, queue of 2 s".into(), link(1_000, 40, 2_000, 0.0), [0.98, 0.98]),
            ("10 Mbit/s, 40 ms, 1 % loss".into(), link(10_000, 40, 100, 0.01), [0.975, 0.975]),
            ("10 Mbit/s, 40 ms, 29 % loss".into(), link(10_000, 40, 100, 0.29), [0.935, 0.86]),
            ("10 Mbit/s, 100 ms, 5 % loss".into(), link(10_000, 100, 100, 0.05), [0.93, 0.88]),
            ("10 Mbit/s, 500 ms, 1 % loss".into(), link(10_000, 500, 100, 0.01), [0.96, 0.98]),
            ("10 Mbit/s, 40 ms, 10 ms of reordering".into(), reordering, [5.0, 5.0]),
        ];
    }
    let mut cells = Vec::new();
    for percent in [0_u8, 1, 5, 10] {
        for rtt in [10, 100, 500] {
            for mbit in [1, 10, 100] {
                let name = format!("{mbit} Mbit/s, {rtt} ms, {percent} % loss");
                let link = link(1_000 * mbit, rtt, 100, f64::from(percent) / 100.0);
                cells.push((name, link, [SHARE_MIN; 2]));
            }
        }
    }
    cells
}

#[test]
fn our_streams_move_as_much_as_quinn_over_the_same_links() {
    let mut shortfalls = Vec::new();
    for (name, link, [new_reno, cubic]) in cells() {
        shortfalls.extend(shortfall(&format!("{name}, NewReno"), &link, NewReno::new, new_reno));
        shortfalls.extend(shortfall(&format!("{name}, CUBIC"), &link, Cubic::new, cubic));
    }
    assert!(shortfalls.is_empty(), "{shortfalls:#?}");
}
