//! The functions of which a stream consists, as programs send them.

/// A piece of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// Text. Each combining mark follows a character with which it combines.
    Text(String),
    /// A C0 control.
    Control(u8),
    /// `ESC`, followed by these bytes.
    Escape(&'static str),
    /// A control sequence: its final byte and up to two numbers, of which 0 means no number.
    Csi(u8, u16, u16),
    /// SGR with these parameters, which sets colours and attributes.
    Sgr(String),
    /// DECSTBM with top and bottom margin, which also moves the cursor to the corner.
    Margins(u16, u16),
    /// DECOM on or off, which also moves the cursor to the corner.
    Origin(bool),
    /// DECAWM on or off.
    Autowrap(bool),
    /// IRM on or off.
    Insert(bool),
    /// DECTCEM on or off.
    CursorVisible(bool),
    /// Mode 1049 on or off. The switch to the alternate screen also moves the cursor to the corner.
    Alternate(bool),
}

impl Function {
    /// Returns the function's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let letter = |set: bool| if set { 'h' } else { 'l' };
        let number = |n: u16| if n == 0 { String::new() } else { n.to_string() };
        match self {
            Self::Text(text) => text.clone(),
            Self::Control(control) => char::from(*control).to_string(),
            Self::Escape(rest) => format!("\x1b{rest}"),
            Self::Csi(last, first, 0) => format!("\x1b[{}{}", number(*first), char::from(*last)),
            Self::Csi(last, first, second) => {
                format!("\x1b[{};{second}{}", number(*first), char::from(*last))
            }
            Self::Sgr(parameters) => format!("\x1b[{parameters}m"),
            Self::Margins(top, bottom) => format!("\x1b[{top};{bottom}r\x1b[H"),
            Self::Origin(set) => format!("\x1b[?6{}\x1b[H", letter(*set)),
            Self::Autowrap(set) => format!("\x1b[?7{}", letter(*set)),
            Self::Insert(set) => format!("\x1b[4{}", letter(*set)),
            Self::CursorVisible(set) => format!("\x1b[?25{}", letter(*set)),
            Self::Alternate(true) => "\x1b[?1049h\x1b[H".to_owned(),
            Self::Alternate(false) => "\x1b[?1049l".to_owned(),
        }
        .into_bytes()
    }
}
