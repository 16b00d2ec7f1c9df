//! Settings whose values are words: each variant of the setting's type has a name.

/// Generates the names of an enum's variants, from one word for each variant.
macro_rules! named {
    ($setting:ident: $($name:literal => $variant:ident),+) => {
        impl $setting {
            /// The names of the variants, as the user writes them.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Returns the variant with this name in [`Self::NAMES`]. `None` for another word.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Returns the variant's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}
