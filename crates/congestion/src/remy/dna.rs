//! The published form of a RemyCC table: a `.dna` file, which is a tree of boxes as a protobuf message.
//!
//! The code uses prost's primitives without derived types. It skips fields that other versions of the published
//! programs have added. The shape of the tree is lost: its leaves become the rules, in the same order.

use prost::bytes::Buf;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};

use crate::remy::action::Action;
use crate::remy::domain::Domain;
use crate::remy::error::TableError;
use crate::remy::memory::{AXES, Axis};
use crate::remy::table::{RULES_MAX, Rule, Table};

/// Largest `.dna` file, in bytes. Chosen: ten times the file of a table with the most rules, of which each takes 180
/// bytes, and as many again in the nodes above it.
const FILE_BYTES_MAX: usize = 16_777_216;

/// Most levels of a tree. Chosen: a bisection adds a level, and a box halved 64 times has no width left.
const LEVELS_MAX: usize = 64;

// Field numbers. Source: fact sheet of the published files.
const NODE_DOMAIN: u32 = 1;
const NODE_CHILD: u32 = 2;
const NODE_RULE: u32 = 3;
const FIN_TREE_FIELDS: [u32; 3] = [90, 91, 92];
const BOX_LOWER: u32 = 11;
const BOX_UPPER: u32 = 12;
const BOX_ACTIVE_AXIS: u32 = 13;
const RULE_INCREMENT: u32 = 31;
const RULE_MULTIPLE: u32 = 32;
const RULE_INTERSEND: u32 = 33;
const RULE_DOMAIN: u32 = 34;

/// Field number of the first signal. The numbers of the other signals follow in their order.
const SIGNAL: u32 = 21;

impl Table {
    /// Reads a `.dna` file.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] if the file is damaged, is no `.dna` file, or holds no usable table.
    pub fn from_dna(bytes: &[u8]) -> Result<Self, TableError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(TableError::TooLarge { len: bytes.len(), max: FILE_BYTES_MAX });
        }
        let mut rules = Vec::new();
        let domain = read_node(bytes, 1, &mut rules)?;
        Self::new(domain.unwrap_or(Domain::WHOLE), rules)
    }

    /// Returns the table as a `.dna` file: a root that has the rules as children, or a single rule itself.
    pub fn to_dna(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_message(NODE_DOMAIN, &box_message(self.domain()), &mut out);
        match self.rules() {
            [only] => put_message(NODE_RULE, &rule_message(only), &mut out),
            rules => {
                for rule in rules {
                    let mut child = Vec::new();
                    put_message(NODE_DOMAIN, &box_message(&rule.domain), &mut child);
                    put_message(NODE_RULE, &rule_message(rule), &mut child);
                    put_message(NODE_CHILD, &child, &mut out);
                }
            }
        }
        out
    }
}

/// The value of a field in a protobuf message.
enum Field<'a> {
    Message(&'a [u8]),
    Double(f64),
    Integer(u64),
}

/// Calls `take` with each field of a message that has a known type.
fn read_fields<'a>(
    mut bytes: &'a [u8],
    mut take: impl FnMut(u32, Field<'a>) -> Result<(), TableError>,
) -> Result<(), TableError> {
    const MALFORMED: TableError = TableError::Malformed;
    while bytes.has_remaining() {
        let (number, wire_type) = decode_key(&mut bytes).map_err(|_| MALFORMED)?;
        match wire_type {
            WireType::LengthDelimited => {
                let len = decode_varint(&mut bytes).map_err(|_| MALFORMED)?;
                let len = usize::try_from(len).map_err(|_| MALFORMED)?;
                let (message, rest) = bytes.split_at_checked(len).ok_or(MALFORMED)?;
                bytes = rest;
                take(number, Field::Message(message))?;
            }
            WireType::SixtyFourBit => {
                let (value, rest) = bytes.split_first_chunk().ok_or(MALFORMED)?;
                bytes = rest;
                take(number, Field::Double(f64::from_le_bytes(*value)))?;
            }
            WireType::Varint => {
                let value = decode_varint(&mut bytes).map_err(|_| MALFORMED)?;
                take(number, Field::Integer(value))?;
            }
            _ => skip_field(wire_type, number, &mut bytes, DecodeContext::default())
                .map_err(|_| MALFORMED)?,
        }
    }
    Ok(())
}

/// Reads a node of the tree and all nodes below it, and adds the rules of the leaves to `rules`. Returns the node's
/// box. `None` if the node names no box.
fn read_node(
    bytes: &[u8],
    level: usize,
    rules: &mut Vec<Rule>,
) -> Result<Option<Domain>, TableError> {
    if level > LEVELS_MAX {
        return Err(TableError::TooDeep { max: LEVELS_MAX });
    }
    let (mut domain, mut own, mut children) = (None, None, Vec::new());
    read_fields(bytes, |number, field| {
        match (number, field) {
            (NODE_DOMAIN, Field::Message(message)) => domain = Some(read_box(message)?),
            (NODE_CHILD, Field::Message(message)) => children.push(message),
            (NODE_RULE, Field::Message(message)) => own = Some(message),
            (number, _) if FIN_TREE_FIELDS.contains(&number) => return Err(TableError::FinTree),
            _ => {}
        }
        Ok(())
    })?;
    let node = |what| Err(TableError::Node { what });
    match (own, children.as_slice()) {
        (Some(_), [_, ..]) => return node("both a rule and children"),
        (None, []) => return node("neither a rule nor children"),
        (Some(message), []) => {
            if rules.len() == RULES_MAX {
                return Err(TableError::TooManyRules { max: RULES_MAX });
            }
            rules.push(read_rule(message, domain)?);
        }
        (None, children) => {
            for child in children {
                read_node(child, level + 1, rules)?;
            }
        }
    }
    Ok(domain)
}

/// Reads a rule. The box of its node has precedence, because lookups in the tree use that box.
fn read_rule(bytes: &[u8], node: Option<Domain>) -> Result<Rule, TableError> {
    let mut domain = None;
    let mut action = Action { multiple: 0.0, increment: 0, intersend_ms: 0.0 };
    read_fields(bytes, |number, field| {
        match (number, field) {
            (RULE_INCREMENT, Field::Integer(value)) => action.increment = from_zigzag(value),
            (RULE_MULTIPLE, Field::Double(value)) => action.multiple = value,
            (RULE_INTERSEND, Field::Double(value)) => action.intersend_ms = value,
            (RULE_DOMAIN, Field::Message(message)) => domain = Some(read_box(message)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(Rule { domain: node.or(domain).unwrap_or(Domain::WHOLE), action })
}

/// Reads a box. A bound that the message does not name is that of [`Domain::WHOLE`].
fn read_box(bytes: &[u8]) -> Result<Domain, TableError> {
    let mut domain = Domain::WHOLE;
    read_fields(bytes, |number, field| match (number, field) {
        (BOX_LOWER, Field::Message(message)) => read_corner(message, &mut domain.lower),
        (BOX_UPPER, Field::Message(message)) => read_corner(message, &mut domain.upper),
        (BOX_ACTIVE_AXIS, Field::Integer(number))
            if usize::try_from(number).is_ok_and(|number| number < AXES) =>
        {
            Ok(())
        }
        (BOX_ACTIVE_AXIS, Field::Integer(number)) => Err(TableError::UnknownAxis { number }),
        _ => Ok(()),
    })?;
    Ok(domain)
}

fn read_corner(bytes: &[u8], corner: &mut [f64; AXES]) -> Result<(), TableError> {
    read_fields(bytes, |number, field| {
        let place = number.checked_sub(SIGNAL).and_then(|place| usize::try_from(place).ok());
        if let (Some(side), Field::Double(value)) =
            (place.and_then(|place| corner.get_mut(place)), field)
        {
            *side = value;
        }
        Ok(())
    })
}

fn box_message(domain: &Domain) -> Vec<u8> {
    let mut out = Vec::new();
    for (field, corner) in [(BOX_LOWER, &domain.lower), (BOX_UPPER, &domain.upper)] {
        let mut message = Vec::new();
        for (number, value) in (SIGNAL..).zip(corner) {
            put_double(number, *value, &mut message);
        }
        put_message(field, &message, &mut out);
    }
    for axis in Axis::ALL {
        put_varint(BOX_ACTIVE_AXIS, axis.index() as u64, &mut out);
    }
    out
}

fn rule_message(rule: &Rule) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(RULE_INCREMENT, to_zigzag(rule.action.increment), &mut out);
    put_double(RULE_MULTIPLE, rule.action.multiple, &mut out);
    put_double(RULE_INTERSEND, rule.action.intersend_ms, &mut out);
    put_message(RULE_DOMAIN, &box_message(&rule.domain), &mut out);
    out
}

fn put_varint(field: u32, value: u64, out: &mut Vec<u8>) {
    encode_key(field, WireType::Varint, out);
    encode_varint(value, out);
}

fn put_double(field: u32, value: f64, out: &mut Vec<u8>) {
    encode_key(field, WireType::SixtyFourBit, out);
    out.extend(value.to_le_bytes());
}

fn put_message(field: u32, message: &[u8], out: &mut Vec<u8>) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(message.len() as u64, out);
    out.extend(message);
}

/// Returns the number of a protobuf sint32. Only the low 32 bits of a longer varint count.
fn from_zigzag(value: u64) -> i32 {
    let low = u32::try_from(value & u64::from(u32::MAX)).unwrap_or(0);
    (low >> 1).cast_signed() ^ -(low & 1).cast_signed()
}

fn to_zigzag(value: i32) -> u64 {
    u64::from(((value << 1) ^ (value >> 31)).cast_unsigned())
}

#[cfg(test)]
mod tests;
