//! A flow of one of our congestion controllers, or of a program, over an emulated link in real time.

use std::net::UdpSocket;
use std::thread;

use anyhow::{Context, Result, anyhow};
use rove_congestion::Controller;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::ends::{Receiver, Sender};
use rove_flows::flow::{self, FlowOptions, FlowReport};
use rove_flows::pump::{alone, pump};
use rove_net::testbed::{End, Testbed, TestbedOptions, bounded};
use rove_units::Instant;

use crate::compare::observed_client::Interrupt;

/// Sends endless data as a controller allows, for the options' length. Returns the report, and why the run is invalid.
///
/// # Errors
///
/// Returns an error if the link or a socket cannot be made, or the user interrupts.
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
    let is_over = || interrupt.check().map(|()| false);
    thread::scope(|scope| {
        // The receiver has its own thread: a program that thinks for long must not hold up acknowledgments.
        let receives =
            scope.spawn(|| pump(&mut receiver, &far, clock, end, &[], alone, |_, _| is_over()));
        pump(&mut sender, &near, clock, end, &[], alone, |_, _| is_over())?;
        receives.join().map_err(|_| anyhow!("the receiver has failed"))?
    })?;
    let invalid = testbed.finish()?.invalid;
    let report = flow::report(options, [sender.sent(), sender.lost()], &receiver.take_arrivals());
    Ok((report, invalid))
}
