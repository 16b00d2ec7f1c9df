//! Lookup: finds the rule whose box holds a memory (a flow's signals), by a few comparisons.
//!
//! Planes divide the domain of a table until each part lies in one box. Each plane is chosen so that it cuts as few
//! boxes as possible. The construction of the tree also finds boxes that overlap, and parts of the domain in no box. A
//! memory outside the table's domain belongs to the nearest box at the domain's border.

use crate::remy::domain::Domain;
use crate::remy::error::TableError;
use crate::remy::memory::{AXES, Axis, Memory};

/// Most nodes of a table's lookup tree. Chosen: sixteen for each rule of the largest table; bisected boxes need two.
const NODES_MAX: usize = 65_536;

/// A node of the lookup tree.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// If a memory's value on `axis` is less than `at`, the search continues at node `below`, else at `below + 1`.
    Cut { axis: u8, below: u32, at: f64 },
    /// The search ends at the box of the rule with this index.
    Rule(u32),
}

/// Finds the rule of a memory by a tree of comparisons.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    nodes: Vec<Node>,
}

/// A part of the domain that is still to be divided, and the rules whose boxes reach into it.
struct Part {
    node: usize,
    region: Domain,
    rules: Vec<usize>,
}

impl Lookup {
    /// Builds the lookup tree of boxes that divide the domain `whole`.
    ///
    /// # Errors
    ///
    /// Returns an error if boxes overlap, if they leave out a part of the domain, or if they need too many nodes.
    pub(super) fn new(whole: &Domain, boxes: &[Domain]) -> Result<Self, TableError> {
        let mut nodes = vec![Node::Rule(0)];
        let is_met = |rule: &usize| !boxes[*rule].is_empty() && boxes[*rule].meets(whole);
        let all = (0..boxes.len()).filter(is_met).collect();
        let mut parts = vec![Part { node: 0, region: *whole, rules: all }];
        while let Some(Part { node, region, rules }) = parts.pop() {
            let Some(first) = rules.first() else {
                return Err(TableError::Gap { at: region.lower });
            };
            let Some((axis, at)) = best_cut(&region, &rules, boxes) else {
                // No edge of a box is inside the region: each box covers it.
                if let Some(second) = rules.get(1) {
                    return Err(TableError::Overlap { first: first + 1, second: second + 1 });
                }
                nodes[node] = Node::Rule(u32::try_from(*first).unwrap_or(u32::MAX));
                continue;
            };
            let below = nodes.len();
            if below + 2 > NODES_MAX {
                return Err(TableError::Tangled);
            }
            let number = u8::try_from(axis.index()).unwrap_or(u8::MAX);
            nodes[node] = Node::Cut { axis: number, below: u32::try_from(below).unwrap_or(0), at };
            nodes.extend([Node::Rule(0); 2]);
            for (place, region) in region.split(axis, at).into_iter().enumerate() {
                let rules = rules.iter().copied().filter(|it| boxes[*it].meets(&region)).collect();
                parts.push(Part { node: below + place, region, rules });
            }
        }
        Ok(Self { nodes })
    }

    /// Returns the index of the rule whose box holds a memory, or of the nearest box.
    pub(super) fn find(&self, memory: &Memory) -> usize {
        let mut place = 0;
        loop {
            match self.nodes[place] {
                Node::Rule(rule) => return rule as usize,
                Node::Cut { axis, below, at } => {
                    let value = memory.0[usize::from(axis) % AXES];
                    place = below as usize + usize::from(value >= at);
                }
            }
        }
    }
}

/// Returns the plane that cuts the fewest boxes. Among equal planes, it is the one with the fewest boxes on its fuller
/// side. `None` if no edge of a box is inside the region.
fn best_cut(region: &Domain, rules: &[usize], boxes: &[Domain]) -> Option<(Axis, f64)> {
    let mut best: Option<((usize, usize), (Axis, f64))> = None;
    for axis in Axis::ALL {
        let index = axis.index();
        let sorted = |side: fn(&Domain) -> &[f64; AXES]| {
            let mut edges: Vec<f64> = rules.iter().map(|it| side(&boxes[*it])[index]).collect();
            edges.sort_by(f64::total_cmp);
            edges
        };
        let (lower, upper) = (sorted(|it| &it.lower), sorted(|it| &it.upper));
        let inside = |at: f64| region.lower[index] < at && at < region.upper[index];
        for &at in lower.iter().chain(&upper).filter(|at| inside(**at)) {
            let below = upper.partition_point(|edge| *edge <= at);
            let above = rules.len() - lower.partition_point(|edge| *edge < at);
            let through = rules.len() - below - above;
            let cost = (through, through + below.max(above));
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, (axis, at)));
            }
        }
    }
    best.map(|(_, cut)| cut)
}
