//! Sets the congestion controller that the user has chosen for a session's streams, at both ends.

use rove_session::{StreamController, Streams};
use rove_streams::Target;
use rove_units::Instant;

use crate::opening::{Answered, Opening};

/// The congestion controller that the user chose, kept until the host has answered.
#[derive(Debug, Default)]
pub(super) struct ControllerChoice {
    /// The name of the controller. `None` without a choice, after the host's answer, or if the host cannot be asked.
    name: Option<String>,
    /// The pending request to the host. `None` before this end uses the controller, and after the host's answer.
    opening: Option<Opening>,
}

impl ControllerChoice {
    /// Creates the choice of the controller with this name.
    pub(super) fn new(name: Option<String>) -> Self {
        Self { name, opening: None }
    }

    /// Uses the controller here, and asks the host to use it too. Call this repeatedly while the session has streams.
    /// Returns a sentence for the user if the host refuses or does not know the request, else `None`.
    pub(super) fn turn(&mut self, now: Instant, streams: &mut Streams) -> Option<String> {
        let name = self.name.as_ref()?;
        let Some(opening) = &mut self.opening else {
            let controller = StreamController::from_name(name)?;
            streams.mux.follow(now, controller.start());
            let target = Target::Controller(name.clone());
            match Opening::begin(now, &mut streams.mux, &target) {
                Ok(opening) => self.opening = Some(opening),
                // Without a stream, the client cannot ask the host.
                Err(_) => self.name = None,
            }
            return None;
        };
        let answered = opening.answer(now, &mut streams.mux)?;
        streams.mux.finish_and_stop(opening.id(), 0);
        let (name, _) = (self.name.take()?, self.opening.take());
        let reason = match answered {
            Answered::Opened(_) => return None,
            Answered::Refused(reason) | Answered::Busy(reason) | Answered::Cut(reason) => reason,
            Answered::Unknown | Answered::Exited(_) | Answered::Kept(..) => {
                "its rove knows no choice of a controller".to_owned()
            }
        };
        Some(format!(
            "--controller {name}: only what this computer sends follows it, as the host refuses: {reason}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use rove_streams::{Answer, Reception, Side, UNREACHED};
    use rove_units::Duration;

    use super::*;

    /// Lets a client choose `cubic`. Returns the request that the server read, and the sentence for the user.
    /// The server gives `answer`; with `None` it does not know the request.
    fn choose(answer: Option<&Answer>) -> (Option<Target>, Option<String>) {
        let mut now = Instant::ZERO;
        let [mut client, mut server] = [Side::Client, Side::Server].map(|side| {
            let mut streams = Streams::new(side, now);
            streams.mux.handle_packet_size(1_176);
            streams
        });
        let mut choice = ControllerChoice::new(Some("cubic".to_owned()));
        let (mut reception, mut asked) = (Reception::default(), None);
        while choice.name.is_some() {
            assert!(now < Instant::from_millis(9_000), "the host answers");
            let said = choice.turn(now, &mut client);
            if choice.name.is_none() {
                return (asked, said);
            }
            let id = choice.opening.as_ref().expect("it is asked").id();
            now += Duration::from_millis(50);
            while let Some(packet) = client.mux.poll_transmit(now) {
                server.mux.handle_packet(now, packet.number, &packet.payload).expect("it is ours");
            }
            reception.handle_incoming(&mut server.mux);
            if let Some(target) = reception.handle_readable(now, &mut server.mux, id) {
                asked = Some(target);
                match answer {
                    Some(answer) => reception.answer(&mut server.mux, id, answer),
                    None => reception.handle_strange(now, &mut server.mux, id),
                }
            }
            while let Some(packet) = server.mux.poll_transmit(now) {
                client.mux.handle_packet(now, packet.number, &packet.payload).expect("it is ours");
            }
        }
        unreachable!("the loop returns");
    }

    #[test]
    fn the_host_is_asked_and_the_user_told_if_it_does_not_follow() {
        let opened = Answer::Opened { address: "cubic".to_owned() };
        let refused = Answer::Refused { code: UNREACHED, text: "there is none".to_owned() };
        for (answer, end) in [
            (Some(&opened), None),
            (Some(&refused), Some("as the host refuses: there is none")),
            (None, Some("as the host refuses: its rove knows no choice of a controller")),
        ] {
            let (asked, said) = choose(answer);
            assert_eq!(asked, Some(Target::Controller("cubic".to_owned())));
            match end {
                None => assert_eq!(said, None),
                Some(end) => assert!(said.expect("a sentence").ends_with(end), "{end}"),
            }
        }
    }

    #[test]
    fn without_a_choice_nothing_is_asked() {
        let mut streams = Streams::new(Side::Client, Instant::ZERO);
        assert_eq!(ControllerChoice::default().turn(Instant::ZERO, &mut streams), None);
        assert!(streams.mux.poll_transmit(Instant::ZERO).is_none());
    }
}
