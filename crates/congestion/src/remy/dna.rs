//! The published form of a RemyCC table: a `.dna` file, which is a tree of boxes as a protobuf message.
//!
//! Fields that other versions of the published programs have added are skipped. The shape of the tree is lost: its
//! leaves become the rules, in the same order.

use prost::Message;
use prost::bytes::Bytes;

use crate::remy::action::Action;
use crate::remy::domain::Domain;
use crate::remy::error::TableError;
use crate::remy::memory::{AXES, Axis};
use crate::remy::table::{RULES_MAX, Rule, Table};

/// Largest `.dna` file that is read, in bytes. Chosen: ten times the file of a table with the most rules. Each rule
/// takes 180 bytes, and as many again in the nodes above it.
const FILE_BYTES_MAX: usize = 16_777_216;

/// Most levels of the tree in a `.dna` file. Chosen: a bisection adds a level, and a box halved 64 times has no width.
const LEVELS_MAX: usize = 64;

/// A node of the tree. Source of all field numbers: fact sheet of the published files.
#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(message, optional, tag = "1")]
    domain: Option<Sides>,
    /// The messages of the child nodes, which are read one after the other.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    children: Vec<Bytes>,
    #[prost(message, optional, tag = "3")]
    rule: Option<Leaf>,
    /// The box, the children and the rule of a node in a table of rates.
    #[prost(bytes = "bytes", repeated, tag = "90")]
    fin_domain: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "91")]
    fin_children: Vec<Bytes>,
    #[prost(bytes = "bytes", repeated, tag = "92")]
    fin_rule: Vec<Bytes>,
}

/// A node's box in the file: its lower and its upper corner.
#[derive(Clone, PartialEq, Message)]
struct Sides {
    #[prost(message, optional, tag = "11")]
    lower: Option<Corner>,
    #[prost(message, optional, tag = "12")]
    upper: Option<Corner>,
    /// The numbers of the signals whose axes the table divides.
    #[prost(uint64, repeated, packed = "false", tag = "13")]
    axes: Vec<u64>,
}

/// A corner of a box. A signal that is left out does not bound the box.
#[derive(Clone, PartialEq, Message)]
struct Corner {
    #[prost(double, optional, tag = "21")]
    send_ewma: Option<f64>,
    #[prost(double, optional, tag = "22")]
    ack_ewma: Option<f64>,
    #[prost(double, optional, tag = "23")]
    rtt_ratio: Option<f64>,
    #[prost(double, optional, tag = "24")]
    slow_ack_ewma: Option<f64>,
}

/// A rule in the file: the action for all memories in a leaf's box.
#[derive(Clone, PartialEq, Message)]
struct Leaf {
    #[prost(sint32, optional, tag = "31")]
    increment: Option<i32>,
    #[prost(double, optional, tag = "32")]
    multiple: Option<f64>,
    #[prost(double, optional, tag = "33")]
    intersend_ms: Option<f64>,
    #[prost(message, optional, tag = "34")]
    domain: Option<Sides>,
}

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
        let domain = read_node(Bytes::copy_from_slice(bytes), 1, &mut rules)?;
        Self::new(domain.unwrap_or(Domain::WHOLE), rules)
    }

    /// Returns the table as a `.dna` file: a root that has the rules as children, or a single rule itself.
    pub fn to_dna(&self) -> Vec<u8> {
        let mut root = Node { domain: Some(Sides::of(self.domain())), ..Node::default() };
        match self.rules() {
            [only] => root.rule = Some(Leaf::of(only)),
            rules => root.children.extend(rules.iter().map(|rule| {
                let (domain, rule) = (Some(Sides::of(&rule.domain)), Some(Leaf::of(rule)));
                Bytes::from(Node { domain, rule, ..Node::default() }.encode_to_vec())
            })),
        }
        root.encode_to_vec()
    }
}

/// Reads a node, and adds the rules of its leaves to `rules`. Returns the node's box, if it has one, or an error for a
/// faulty node.
fn read_node(
    bytes: Bytes,
    level: usize,
    rules: &mut Vec<Rule>,
) -> Result<Option<Domain>, TableError> {
    if level > LEVELS_MAX {
        return Err(TableError::TooDeep { max: LEVELS_MAX });
    }
    let Node { domain, children, rule, fin_domain, fin_children, fin_rule } =
        Node::decode(bytes).map_err(|_| TableError::Malformed)?;
    if [fin_domain, fin_children, fin_rule].iter().any(|field| !field.is_empty()) {
        return Err(TableError::FinTree);
    }
    let domain = domain.map(Sides::domain).transpose()?;
    let fault = |what| Err(TableError::Node { what });
    match (rule, children.is_empty()) {
        (Some(_), false) => return fault("both a rule and children"),
        (None, true) => return fault("neither a rule nor children"),
        (Some(_), true) if rules.len() == RULES_MAX => {
            return Err(TableError::TooManyRules { max: RULES_MAX });
        }
        (Some(leaf), true) => rules.push(leaf.rule(domain)?),
        (None, false) => {
            for child in children {
                read_node(child, level + 1, rules)?;
            }
        }
    }
    Ok(domain)
}

impl Leaf {
    /// Returns the rule, with the node's box. If the node has none, the rule's own box or else the whole domain counts.
    fn rule(self, node: Option<Domain>) -> Result<Rule, TableError> {
        let own = self.domain.map(Sides::domain).transpose()?;
        let action = Action {
            multiple: self.multiple.unwrap_or_default(),
            increment: self.increment.unwrap_or_default(),
            intersend_ms: self.intersend_ms.unwrap_or_default(),
        };
        Ok(Rule { domain: node.or(own).unwrap_or(Domain::WHOLE), action })
    }

    fn of(rule: &Rule) -> Self {
        let Action { multiple, increment, intersend_ms } = rule.action;
        Self {
            increment: Some(increment),
            multiple: Some(multiple),
            intersend_ms: Some(intersend_ms),
            domain: Some(Sides::of(&rule.domain)),
        }
    }
}

impl Sides {
    fn domain(self) -> Result<Domain, TableError> {
        if let Some(&number) = self.axes.iter().find(|axis| **axis >= AXES as u64) {
            return Err(TableError::UnknownAxis { number });
        }
        Ok(Domain {
            lower: self.lower.unwrap_or_default().or(Domain::WHOLE.lower),
            upper: self.upper.unwrap_or_default().or(Domain::WHOLE.upper),
        })
    }

    fn of(domain: &Domain) -> Self {
        let [lower, upper] = [domain.lower, domain.upper].map(|corner| Some(Corner::of(corner)));
        let axes = Axis::ALL.map(|axis| axis.index() as u64).to_vec();
        Self { lower, upper, axes }
    }
}

impl Corner {
    fn or(&self, missing: [f64; AXES]) -> [f64; AXES] {
        let Self { send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma } = self;
        let sides = [send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma];
        core::array::from_fn(|axis| sides[axis].unwrap_or(missing[axis]))
    }

    fn of(sides: [f64; AXES]) -> Self {
        let [send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma] = sides.map(Some);
        Self { send_ewma, ack_ewma, rtt_ratio, slow_ack_ewma }
    }
}

#[cfg(test)]
mod tests;
