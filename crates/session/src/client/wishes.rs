//! The user's requests that the driver carries out.

use super::ClientEvent;
use crate::escape::Requests;

/// The user's requests that the driver has not received yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wishes {
    suspend: bool,
    login: bool,
    yes: bool,
    callback: bool,
}

impl Wishes {
    /// Adds the user's new requests.
    pub(super) const fn note(&mut self, requests: Requests) {
        self.suspend |= requests.suspend;
        self.login |= requests.login;
        self.yes |= requests.yes;
        self.callback |= requests.callback;
    }

    /// Forgets that the user has said yes, because the yes was about a former question.
    pub(super) const fn forget_yes(&mut self) {
        self.yes = false;
    }

    /// Returns the next request, if any. Suspension and login wait while the terminal may answer (`owes_answers`).
    pub(super) fn poll(&mut self, owes_answers: bool) -> Option<ClientEvent> {
        if core::mem::take(&mut self.yes) {
            Some(ClientEvent::Yes)
        } else if core::mem::take(&mut self.callback) {
            Some(ClientEvent::Callback)
        } else if owes_answers {
            None
        } else if core::mem::take(&mut self.suspend) {
            Some(ClientEvent::Suspend)
        } else {
            core::mem::take(&mut self.login).then_some(ClientEvent::LogIn)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_is_given_back_once_its_answers_have_come_and_a_yes_waits_for_none() {
        let mut wishes = Wishes::default();
        wishes.note(Requests { suspend: true, login: true, yes: true, ..Requests::default() });
        assert_eq!(wishes.poll(true), Some(ClientEvent::Yes));
        assert_eq!(wishes.poll(true), None);
        assert_eq!(wishes.poll(false), Some(ClientEvent::Suspend));
        assert_eq!(wishes.poll(false), Some(ClientEvent::LogIn));
        wishes.note(Requests { yes: true, ..Requests::default() });
        wishes.forget_yes();
        assert_eq!(wishes.poll(false), None);
    }
}
