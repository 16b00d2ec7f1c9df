//! The parts: everything that travels with the picture.
//!
//! A new part takes a file in this folder with an implementation of [`Part`], and a line in the list below.

pub(crate) mod bells;
pub(crate) mod clipboard;
pub(crate) mod echo_ack;
pub(crate) mod exit_status;
pub(crate) mod joined;
pub(crate) mod notifications;
pub(crate) mod scrollback;
pub(crate) mod tty;

use rove_ssp::ApplyError;

use crate::message::MessageWriter;
use crate::part::{Part, Receiver, Replica};

/// Makes the struct of all parts, and its methods.
macro_rules! parts {
    ($($name:ident: $part:ty,)*) => {
        /// The parts of a state.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Parts {
            $(pub(crate) $name: $part,)*
        }

        impl Parts {
            /// Returns whether a member is that of a part.
            pub(crate) fn know(member: u32) -> bool {
                [$(<$part>::MEMBER),*].contains(&member)
            }

            /// Writes the members that lead here from `base`: those before the picture, or those after it.
            pub(crate) fn write_diff(
                &self,
                base: &Self,
                receiver: &Receiver<'_>,
                is_before_picture: bool,
                message: &mut MessageWriter,
            ) {
                $(if <$part>::IS_BEFORE_PICTURE == is_before_picture
                    && receiver.understands.contains(<$part>::EXTENSION)
                {
                    let bodies = Part::diff_from(&self.$name, &base.$name, receiver);
                    bodies.iter().for_each(|body| message.member(<$part>::MEMBER, body));
                })*
            }

            /// Applies a member; a member of no part changes nothing.
            ///
            /// # Errors
            ///
            /// Returns the rule that it breaks.
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

            /// Returns whether the user would see no difference.
            pub(crate) fn shows_same(&self, other: &Self) -> bool {
                $((!<$part>::IS_SHOWN || Part::same_as(&self.$name, &other.$name)))&&*
            }

            /// Returns the parts of a state about half way from the state of `base` to their own.
            pub(crate) fn midpoint(&self, base: &Self) -> Self {
                Self { $($name: Part::midpoint(&self.$name, &base.$name),)* }
            }

            /// Forgets contents that both ends are `known` to hold.
            pub(crate) fn drop_known(&mut self, known: &Self) {
                $(Part::drop_known(&mut self.$name, &known.$name);)*
            }

            /// Returns the memory that they take on the heap beyond what they share with `neighbour`.
            pub(crate) fn bytes_beyond(&self, neighbour: Option<&Self>) -> usize {
                [$(Part::bytes_beyond(&self.$name, neighbour.map(|it| &it.$name))),*].iter().sum()
            }
        }
    };
}

// In the order of their members in a diff.
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
