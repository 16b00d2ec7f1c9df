//! Table: the rules of a RemyCC, which divide the space of the signals into boxes.

use crate::remy::action::{Action, WINDOW_MAX};
use crate::remy::domain::Domain;
use crate::remy::error::TableError;
use crate::remy::lookup::Lookup;
use crate::remy::memory::{Axis, Memory};

/// Most rules of a RemyCC's table. Chosen: twenty times the largest published table.
pub(super) const RULES_MAX: usize = 4_096;

/// Longest time between two packets that an action may ask for, in ms. Chosen: an hour; published tables have 30 ms.
const INTERSEND_LONGEST_MS: f64 = 3_600_000.0;

/// A rule: a box in the space of signals, and the action for memories (a flow's signals) in this box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The box of memories to which the rule applies.
    pub domain: Domain,
    /// The sender's action for these memories.
    pub action: Action,
}

/// The rules of a RemyCC. Exactly one rule applies to each memory.
#[derive(Clone, Debug)]
pub struct Table {
    domain: Domain,
    rules: Vec<Rule>,
    lookup: Lookup,
    /// Remarks of the table's makers: its origin, and how to make it again. They do not affect the rules.
    pub about: String,
}

impl Table {
    /// Creates a table of rules whose boxes divide `domain`.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] if there are no rules or too many, or if an action or a box is not valid. Boxes that
    /// overlap or leave out a part of the domain are an error too.
    pub fn new(domain: Domain, rules: Vec<Rule>) -> Result<Self, TableError> {
        if rules.is_empty() {
            return Err(TableError::NoRules);
        }
        if rules.len() > RULES_MAX {
            return Err(TableError::TooManyRules { max: RULES_MAX });
        }
        check_box(&domain, || "the whole table".to_owned())?;
        for (number, rule) in rules.iter().enumerate() {
            check_box(&rule.domain, || format!("rule {}", number + 1))?;
            check_action(&rule.action, number + 1)?;
        }
        let boxes: Vec<Domain> = rules.iter().map(|rule| rule.domain).collect();
        let lookup = Lookup::new(&domain, &boxes)?;
        Ok(Self { domain, rules, lookup, about: String::new() })
    }

    /// Creates a table with the same action for every memory.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] if the action is not valid.
    pub fn uniform(action: Action) -> Result<Self, TableError> {
        Self::new(Domain::WHOLE, vec![Rule { domain: Domain::WHOLE, action }])
    }

    /// Returns the box of all memories for which the table was made. A memory outside counts as the nearest one inside.
    pub const fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the rules in the order of the table.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the index of the rule for a memory.
    pub fn find(&self, memory: &Memory) -> usize {
        self.lookup.find(memory)
    }

    /// Returns the action of the rule for a memory.
    pub fn action(&self, memory: &Memory) -> &Action {
        &self.rules[self.find(memory)].action
    }

    /// Returns the table with another action for the rule at index `rule`.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] if the action is not valid.
    ///
    /// # Panics
    ///
    /// Panics if the table has no rule at this index.
    pub fn with_action(&self, rule: usize, action: Action) -> Result<Self, TableError> {
        check_action(&action, rule + 1)?;
        let mut table = self.clone();
        table.rules[rule].action = action;
        Ok(table)
    }

    /// Returns the table with the rules `parts` in place of the rule at index `rule`.
    ///
    /// # Errors
    ///
    /// Returns [`TableError`] as [`Table::new`] does.
    ///
    /// # Panics
    ///
    /// Panics if the table has no rule at this index.
    pub fn with_rules(
        &self,
        rule: usize,
        parts: impl IntoIterator<Item = Rule>,
    ) -> Result<Self, TableError> {
        let mut rules = self.rules.clone();
        rules.splice(rule..=rule, parts);
        let about = self.about.clone();
        Ok(Self { about, ..Self::new(self.domain, rules)? })
    }

    /// Returns the signals for which at least one rule's box has other bounds than the table's domain.
    pub fn dividing_axes(&self) -> Vec<Axis> {
        let divides = |axis: &Axis| {
            let side = |domain: &Domain| (domain.lower[axis.index()], domain.upper[axis.index()]);
            self.rules.iter().any(|rule| side(&rule.domain) != side(&self.domain))
        };
        Axis::ALL.into_iter().filter(divides).collect()
    }
}

/// Two tables are equal if they have the same domain and the same rules in the same order. Remarks do not count.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.domain == other.domain && self.rules == other.rules
    }
}

fn check_box(domain: &Domain, whose: impl Fn() -> String) -> Result<(), TableError> {
    for axis in Axis::ALL {
        let (lower, upper) = (domain.lower[axis.index()], domain.upper[axis.index()]);
        // NaN fails every comparison. Published tables have boxes of zero width, which contain no memory.
        if !(lower >= 0.0 && lower <= upper && upper.is_finite()) {
            return Err(TableError::Box { whose: whose(), axis: axis.name(), lower, upper });
        }
    }
    Ok(())
}

fn check_action(action: &Action, rule: usize) -> Result<(), TableError> {
    let increment = f64::from(action.increment);
    let limits = [
        ("window multiple", action.multiple, 0.0, f64::from(WINDOW_MAX)),
        ("window increment", increment, -f64::from(WINDOW_MAX), f64::from(WINDOW_MAX)),
        ("time between packets", action.intersend_ms, 0.0, INTERSEND_LONGEST_MS),
    ];
    for (field, value, least, most) in limits {
        if !(least..=most).contains(&value) {
            return Err(TableError::Action { rule, field, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
