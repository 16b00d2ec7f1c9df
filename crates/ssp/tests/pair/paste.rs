//! A megabyte of keyboard input over lossy paths.

use rove_link::LinkConfig;
use rove_units::Seed;

use crate::pair::{CHUNK, agree, ms, noise, pair};

/// Returns how long a paste takes to arrive, in ms of virtual time.
fn paste_ms(seed: u64, len: usize, loss: f64, echo: bool) -> u64 {
    let link = LinkConfig { loss, ..LinkConfig::lossless(ms(50)) };
    let mut net = pair::<CHUNK>(Seed::new(seed), link);
    net.left.write(b"start");
    net.run_for(ms(3_000));
    let start = net.now();
    net.left.write(&noise(Seed::new(seed), len));
    let want = len + 5;
    let mut echoed = 0;
    let limit = net.now() + ms(300_000);
    while net.now() < limit && net.right.transport.remote().text().len() < want {
        net.run_for(ms(10));
        let have = net.right.transport.remote().text().len();
        if echo && have / 100 > echoed / 100 {
            echoed = have;
            net.right.write(b"echo of what was typed");
        }
    }
    assert!(net.run_until(ms(30_000), agree), "the rest follows");
    u64::try_from(net.now().saturating_since(start).as_millis()).expect("minutes")
}

#[test]
fn a_megabyte_arrives_in_reasonable_time_whatever_is_lost() {
    for (loss, limit_ms) in [(0.0, 5_000), (0.1, 40_000), (0.3, 90_000)] {
        for echo in [false, true] {
            let times: Vec<u64> =
                (0..3).map(|seed| paste_ms(seed, 1_000_000, loss, echo)).collect();
            println!("1 MB, 100 ms, loss {loss}, echo {echo}: {times:?} ms");
            assert!(times.iter().all(|time| *time <= limit_ms), "loss {loss}: {times:?} ms");
        }
    }
}
