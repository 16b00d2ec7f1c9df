//! The path that a user describes with options: delay, jitter, loss and a bottleneck, the same in both directions.

use std::io;
use std::net::SocketAddr;

use clap::Args;
use rove_link::LinkConfig;
use rove_units::{BitRate, Bytes, Duration, Seed, parse_duration, parse_share};

use crate::relay::{Relay, RelayConfig};

/// The options of an emulated path.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct PathArgs {
    /// Round-trip time; half of it each way
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse_duration)]
    pub rtt: Duration,
    /// Extra delay, up to this much, each way
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_duration)]
    pub jitter: Duration,
    /// Share of the datagrams that is lost, each way: 5% or 0.05
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    pub loss: f64,
    /// Rate of the bottleneck each way, such as 1Mbit [default: none]
    #[arg(long, value_name = "RATE")]
    pub rate: Option<BitRate>,
    /// Size of the queue in front of the bottleneck
    #[arg(long, value_name = "SIZE", default_value = "64KiB")]
    pub queue: Bytes,
    /// Number that decides which datagrams are lost
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

impl PathArgs {
    /// Starts a relay that listens at `listen` and passes datagrams to `server` over this path.
    ///
    /// # Errors
    ///
    /// Returns the system's error when a socket cannot be bound or the thread not started.
    pub fn start(&self, listen: SocketAddr, server: SocketAddr) -> io::Result<Relay> {
        let [uplink, downlink] = [self.link(), self.link()];
        let seed = Seed::new(self.seed);
        Relay::start(RelayConfig { listen, server, uplink, downlink, seed })
    }

    /// Returns a description of the emulated path, for the user to read.
    pub fn description(&self) -> String {
        let mut parts = vec![format!("{:?} round trip", self.rtt)];
        if !self.jitter.is_zero() {
            parts.push(format!("up to {:?} jitter each way", self.jitter));
        }
        if self.loss > 0.0 {
            parts.push(format!("{} % loss each way", (self.loss * 1000.0).round() / 10.0));
        }
        if let Some(rate) = self.rate {
            parts.push(format!("{rate} with a queue of {}", self.queue));
        }
        parts.join(", ")
    }

    fn link(&self) -> LinkConfig {
        LinkConfig {
            delay: self.rtt / 2,
            jitter: self.jitter,
            loss: self.loss,
            rate: self.rate,
            queue_max: self.queue,
            ..LinkConfig::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        path: PathArgs,
    }

    fn path(line: &str) -> Result<PathArgs, clap::Error> {
        let words = std::iter::once("x").chain(line.split_whitespace());
        Line::try_parse_from(words).map(|line| line.path)
    }

    #[test]
    fn the_description_names_what_is_emulated_and_nothing_else() {
        assert_eq!(path("--rtt 500ms").unwrap().description(), "500ms round trip");
        let bad = path("--jitter 20ms --loss 0.05 --rate 1Mbit").unwrap().description();
        for part in
            ["200ms round trip", "up to 20ms jitter", "5 % loss", "1 Mbit/s with a queue of 64 KiB"]
        {
            assert!(bad.contains(part), "{bad}");
        }
    }

    #[test]
    fn half_the_round_trip_is_spent_each_way() {
        assert_eq!(path("--rtt 500ms").unwrap().link().delay, Duration::from_millis(250));
    }
}
