//! Messages of a routing socket, by which macOS and FreeBSD report changes of the network (route(4)).

// Types of messages. Source: net/route.h of macOS and of FreeBSD, which agree on these.
const RTM_ADD: u8 = 0x1;
const RTM_DELETE: u8 = 0x2;
const RTM_CHANGE: u8 = 0x3;
const RTM_NEWADDR: u8 = 0xc;
const RTM_DELADDR: u8 = 0xd;
const RTM_IFINFO: u8 = 0xe;
/// An interface was added or removed. Only FreeBSD sends this message.
const RTM_IFANNOUNCE: u8 = 0x11;

/// Flags of routes that the system makes by itself for each host to which this computer sends. The first marks an entry
/// for a hardware address, the second a copy of a network's route. Source: net/route.h of macOS; FreeBSD has the first.
const RTF_LLINFO: u32 = 0x400;
const RTF_WASCLONED: u32 = 0x20000;

/// The number of bytes of a message that are read. `rtm_type` is at offset 3, and `rtm_flags` of a route at 8.
pub(crate) const BEGINNING_LEN: usize = 12;

/// Returns whether a message that begins with these bytes reports a changed interface, address or route. Answers to
/// other programs' questions, failed lookups and routes that the system makes for single hosts are no changes.
pub(crate) fn is_change(beginning: &[u8]) -> bool {
    let Some(&[_, _, _, kind, _, _, _, _, a, b, c, d]) = beginning.get(..BEGINNING_LEN) else {
        return false;
    };
    let is_of_one_host = u32::from_ne_bytes([a, b, c, d]) & (RTF_LLINFO | RTF_WASCLONED) != 0;
    match kind {
        RTM_ADD | RTM_DELETE | RTM_CHANGE => !is_of_one_host,
        RTM_NEWADDR | RTM_DELADDR | RTM_IFINFO | RTM_IFANNOUNCE => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of a default route: `RTF_UP`, `RTF_GATEWAY` and `RTF_STATIC`.
    const DEFAULT_ROUTE: u32 = 0x803;

    fn message(kind: u8, flags: u32) -> Vec<u8> {
        let [a, b, c, d] = flags.to_ne_bytes();
        // The length, the version, the type and the interface come first.
        [&[92, 0, 5, kind, 4, 0, 0, 0, a, b, c, d], &[0; 80][..]].concat()
    }

    #[test]
    fn changes_of_the_network_are_told_from_the_chatter_of_other_programs() {
        for (kind, flags, changes) in [
            (RTM_ADD, DEFAULT_ROUTE, true),
            (RTM_DELETE, DEFAULT_ROUTE, true),
            (RTM_CHANGE, DEFAULT_ROUTE, true),
            (RTM_ADD, DEFAULT_ROUTE | RTF_LLINFO, false),
            (RTM_DELETE, DEFAULT_ROUTE | RTF_WASCLONED, false),
            // In these messages the flags are an interface's, so the same bits have another meaning.
            (RTM_NEWADDR, RTF_LLINFO, true),
            (RTM_DELADDR, 0, true),
            (RTM_IFINFO, RTF_WASCLONED, true),
            (RTM_IFANNOUNCE, 0, true),
            // RTM_GET, RTM_MISS and RTM_NEWMADDR report no change of the network.
            (0x4, DEFAULT_ROUTE, false),
            (0x7, 0, false),
            (0xf, 0, false),
        ] {
            assert_eq!(is_change(&message(kind, flags)), changes, "{kind:#x} {flags:#x}");
        }
    }

    #[test]
    fn a_message_that_is_cut_off_is_no_change() {
        let whole = message(RTM_ADD, DEFAULT_ROUTE);
        for len in 0..BEGINNING_LEN {
            assert!(!is_change(&whole[..len]), "{len} bytes");
        }
        assert!(is_change(&whole[..BEGINNING_LEN]));
    }
}
