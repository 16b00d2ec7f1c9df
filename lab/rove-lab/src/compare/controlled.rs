//! A flow of one of our congestion controllers, or of a program, over an emulated link in real time.

use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::thread;

use anyhow::{Context, Result, anyhow};
use rove_congestion::Controller;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::ends::{Receiver, Sender};
use rove_flows::flow::{self, FlowOptions, FlowReport};
use rove_link::net::End as FlowEnd;
use rove_net::testbed::{End, Testbed, TestbedOptions, bounded};
use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_units::{Duration, Instant};

use crate::compare::observed_client::Interrupt;

/// How long is waited before it is looked at whether the user wants to stop.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Longest datagram of a flow.
const DATAGRAM_LEN_MAX: usize = 2_048;

/// Sends with all the data of the world as a controller says, as long as the options say; returns the flow's figures, and why they say nothing.
///
/// # Errors
///
/// Returns an error if there can be no link or no socket, or the user interrupts.
pub(crate) fn run(
    controller: Box<dyn Controller>,
    options: &FlowOptions,
    interrupt: &Interrupt,
) -> Result<(FlowReport, Vec<String>)> {
    let [uplink, downlink] = [&options.uplink, &options.downlink].map(|link| bounded(link.clone()));
    let testbed = Testbed::new(TestbedOptions::new(uplink, downlink, options.seed))?;
    let bound = |end| -> Result<UdpSocket> {
        let bind = || UdpSocket::bind((testbed.address(end), 0));
        let socket = testbed.run(end, bind)?.context("cannot have a socket behind the link")?;
        socket.set_nonblocking(true).context("cannot have a socket behind the link")?;
        Ok(socket)
    };
    let [near, far] = [bound(End::Near)?, bound(End::Far)?];
    let [near_address, far_address] = [near.local_addr()?, far.local_addr()?];
    let (clock, end) = (testbed.clock(), Instant::ZERO + options.length);
    let mut receiver = Receiver::new(near_address);
    let mut sender = Sender::new(Controlled::new(controller), far_address);
    sender.start(clock.now());
    thread::scope(|scope| {
        // A program that thinks for long does not hold up the acknowledgments.
        let receives = scope.spawn(|| pump(&mut receiver, &far, clock, end, interrupt));
        pump(&mut sender, &near, clock, end, interrupt)?;
        receives.join().map_err(|_| anyhow!("the receiver has failed"))?
    })?;
    let invalid = testbed.finish()?.invalid;
    let report = flow::report(options, [sender.sent(), sender.lost()], &receiver.take_arrivals());
    Ok((report, invalid))
}

/// Moves datagrams between an end and its socket until a time.
fn pump(
    flow: &mut impl FlowEnd,
    socket: &UdpSocket,
    clock: Clock,
    end: Instant,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut event_loop = EventLoop::new(clock, &[]).context("cannot wait for sockets")?;
    let mut buffer = [0; DATAGRAM_LEN_MAX];
    while event_loop.now() < end {
        interrupt.check()?;
        while let Ok((len, source)) = socket.recv_from(&mut buffer) {
            flow.handle_datagram(clock.now(), source, &buffer[..len]);
        }
        let now = clock.now();
        flow.handle_timeout(now);
        while let Some((peer, datagram)) = flow.poll_transmit(now) {
            // The network loses datagrams, and so may this computer.
            let _ = socket.send_to(&datagram, peer);
        }
        let soon = (now + LOOK_EVERY).min(end);
        let deadline = flow.poll_timeout().map_or(soon, |due| due.min(soon));
        let mut interests = [Interest::new(socket.as_fd(), true, false)];
        event_loop.wait(&mut interests, Some(deadline)).context("cannot wait for sockets")?;
    }
    Ok(())
}
