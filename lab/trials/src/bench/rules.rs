//! Sessions in virtual time, by rove's rules and by Mosh's. The same seed gives the same figures on every computer.

use std::array::from_fn;
use std::mem::take;

use anyhow::{Context, Result};
use rove_headless::{ClientEnd, Program, ServerEnd, User, rove};
use rove_link::LinkConfig;
use rove_link::net::Net;
use rove_session::{MakeEngine, Prediction, Preference};
use rove_ssp::Config;
use rove_units::{Duration, Seed};

use super::report::Line;
use super::turns::Bench;

/// The program whose protocol, timing and predictions both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// The rules of rove.
    Rove,
    /// The rules of Mosh 1.4.0.
    Mosh,
}

impl Rules {
    /// Connects a client and a server by a path with the same link in both directions. Nothing has been sent yet.
    pub(super) fn session<U: User, P: Program>(
        self,
        path: &LinkConfig,
        seed: Seed,
        user: U,
        program: P,
    ) -> Net<ClientEnd<U>, ServerEnd<P>> {
        let (client, server) = self.ends(seed, user, program);
        Net::new(client, server, path.clone(), path.clone(), seed)
    }

    /// Creates a client and a server.
    pub(super) fn ends<U: User, P: Program>(
        self,
        seed: Seed,
        user: U,
        program: P,
    ) -> (ClientEnd<U>, ServerEnd<P>) {
        let (transport, engine): (fn(Config) -> Config, Option<MakeEngine>) = match self {
            Self::Rove => (rove, None),
            Self::Mosh => (Config::stock, Some(rove_stock_predict::engine)),
        };
        let preference = Preference::Adaptive;
        let prediction =
            Prediction { preference, overwrite: false, engine, ..Prediction::default() };
        rove_headless::ends(transport, prediction, seed, (user, program))
    }
}

/// Returns a direction of a path with this round-trip time, which loses datagrams at random.
pub(super) fn path(rtt_millis: u64, loss_percent: u8) -> LinkConfig {
    let delay = Duration::from_millis(rtt_millis) / 2;
    LinkConfig { delay, loss: f64::from(loss_percent) / 100.0, ..LinkConfig::default() }
}

/// Measures so many sessions by both rules in each round. A round has its own seeds, and its figures are means.
pub(super) fn compare<const N: usize>(
    bench: &Bench,
    what: &str,
    figures: [(&str, &'static str); N],
    sessions: u32,
    measure: impl Fn(Rules, Seed) -> Result<[f64; N]>,
) -> Result<[Line; N]> {
    let mut means: [[Vec<f64>; 2]; N] = from_fn(|_| [Vec::new(), Vec::new()]);
    for round in 1..=bench.rounds {
        bench.progress(what, "both rules", round);
        for (which, rules) in [Rules::Rove, Rules::Mosh].into_iter().enumerate() {
            let mut sums = [0.0; N];
            for session in 1..=sessions {
                let seed = Seed::new((round as u64 - 1) * u64::from(sessions) + u64::from(session));
                let found = measure(rules, seed)
                    .with_context(|| format!("{what}, {rules:?}, seed {}", seed.number()))?;
                sums.iter_mut().zip(found).for_each(|(sum, figure)| *sum += figure);
            }
            for (means, sum) in means.iter_mut().zip(sums) {
                means[which].push(sum / f64::from(sessions));
            }
        }
    }
    Ok(from_fn(|number| {
        let ([rove, mosh], (name, unit)) = (take(&mut means[number]), figures[number]);
        Line::new(format!("{what}, {name}"), unit, rove).beside("Mosh's rules", mosh)
    }))
}
