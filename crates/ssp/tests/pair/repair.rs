//! What is sent again, and how often, when large contents are lost or not taken.

use rove_link::LinkConfig;
use rove_units::Seed;

use crate::pair::{Fate, agree, ms, noise, pair};

#[test]
fn a_link_of_one_fragment_gives_the_turn_back_to_the_lost_one_before_it() {
    // A chain of two links: three fragments that do not compress, then one that does.
    let text = [noise(Seed::new(1), 2_500), vec![b'a'; 2_500]].concat();
    for lost in 0..40 {
        let mut net = pair::<4096>(Seed::new(1), LinkConfig::lossless(ms(20)));
        net.left.write(b"80x24");
        net.run_for(ms(2_000));
        net.left.write(&text);
        net.left.fates.extend([Fate::Lost].repeat(lost));
        assert!(net.run_until(ms(15_000), agree), "{lost} datagrams lost");
    }
}
