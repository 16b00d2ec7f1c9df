//! The parts of a server state: all data that the server sends beside the picture of its screen.
//!
//! To add a part, add a file with an implementation of [`Part`] to this folder, and a line to the list below.

pub(crate) mod bells;
pub(crate) mod clipboard;
pub(crate) mod echo_ack;
pub(crate) mod exit_status;
pub(crate) mod joined;
pub(crate) mod notifications;
pub(crate) mod scrollback;
pub(crate) mod tty;

use rove_ssp::ApplyError;

use crate::message::put_member;
use crate::part::{Part, Receiver, Replica};

/// Generates the struct that holds every part, and the methods that call each part in turn.
macro_rules! parts {
    ($($name:ident: $part:ty,)*) => {
        /// The data of one server state beside its picture, one field for each kind of data.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Parts {
            $(pub(crate) $name: $part,)*
        }

        impl Parts {
            /// Returns whether a part uses this field number in a `HostMessage` instruction.
            pub(crate) fn know(member: u32) -> bool {
                [$(<$part>::MEMBER),*].contains(&member)
            }

            /// Appends the instructions that turn `base` into these parts. `is_before_picture` chooses the parts that
            /// precede the picture in the diff, or else the parts after the picture.
            pub(crate) fn write_diff(
                &self,
                base: &Self,
                receiver: &Receiver<'_>,
                is_before_picture: bool,
                message: &mut Vec<u8>,
            ) {
                $(if <$part>::IS_BEFORE_PICTURE == is_before_picture
                    && receiver.understands.contains(<$part>::EXTENSION)
                {
                    let bodies = Part::diff_from(&self.$name, &base.$name, receiver);
                    bodies.iter().for_each(|body| put_member(message, <$part>::MEMBER, body));
                })*
            }

            /// Applies the body of a field to the part with this field number. An unknown number changes nothing.
            ///
            /// # Errors
            ///
            /// Returns the rule that the body breaks.
            pub(crate) fn apply(
                &mut self,
                member: u32,
                body: &[u8],
                replica: &mut Replica<'_>,
            ) -> Result<(), ApplyError> {
                match member {
                    $(<$part>::MEMBER => Part::apply(&mut self.$name, body, replica),)*
                    _ => Ok(()),
                }
            }

            /// Returns whether these parts and `other` look and sound the same to the user. Hidden parts may differ.
            pub(crate) fn shows_same(&self, other: &Self) -> bool {
                $((!<$part>::IS_SHOWN || Part::same_as(&self.$name, &other.$name)))&&*
            }

            /// Returns parts about half way from `base` to these parts, for a diff that is too long for one step.
            pub(crate) fn midpoint(&self, base: &Self) -> Self {
                Self { $($name: Part::midpoint(&self.$name, &base.$name),)* }
            }

            /// Drops contents that both ends hold: those of the state `known`, which the client has acknowledged.
            pub(crate) fn drop_known(&mut self, known: &Self) {
                $(Part::drop_known(&mut self.$name, &known.$name);)*
            }

            /// Returns the heap memory of these parts, in bytes, without memory that they share with `neighbour`.
            pub(crate) fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
                [$(Part::bytes_beyond(&self.$name, neighbour.map(|it| &it.$name))),*].iter().sum()
            }
        }
    };
}

// A diff has the instructions of these parts in this order.
parts! {
    echo_ack: echo_ack::EchoAck,
    scrolled: scrollback::Scrolled,
    exit_status: Option<rove_terminal::ExitStatus>,
    bells: bells::Bells,
    clipboard: clipboard::Clipboard,
    notifications: notifications::Notifications,
    tty: Option<rove_terminal::Tty>,
    joined: joined::Joined,
}

#[cfg(test)]
mod tests;
