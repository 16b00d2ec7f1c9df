//! Tests of valid `.dna` files, which these tests also encode themselves, and of damaged files.

use proptest::prelude::*;
use prost::encoding::{WireType, encode_key, encode_varint};

use super::*;
use crate::remy::memory::Memory;

// Field numbers. Source: fact sheet of the published files.
const NODE_DOMAIN: u32 = 1;
const NODE_CHILD: u32 = 2;
const NODE_RULE: u32 = 3;
const BOX_LOWER: u32 = 11;
const BOX_UPPER: u32 = 12;
const BOX_ACTIVE_AXIS: u32 = 13;
const RULE_INCREMENT: u32 = 31;
const RULE_MULTIPLE: u32 = 32;
const RULE_INTERSEND: u32 = 33;
const RULE_DOMAIN: u32 = 34;
const SIGNAL: u32 = 21;

fn by_hand(table: &Table) -> Vec<u8> {
    let mut out = Vec::new();
    put_message(NODE_DOMAIN, &box_message(table.domain()), &mut out);
    match table.rules() {
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

fn to_zigzag(value: i32) -> u64 {
    u64::from(((value << 1) ^ (value >> 31)).cast_unsigned())
}

fn action(increment: i32) -> Action {
    Action { multiple: 0.5, increment, intersend_ms: 0.25 }
}

/// Returns a table of three rules: send_ewma below 5 ms, else rtt_ratio below 2, else rtt_ratio from 2 on.
fn three_rules() -> Table {
    let [first, rest] = Domain::WHOLE.split(Axis::SendEwma, 5.0);
    let [second, third] = rest.split(Axis::RttRatio, 2.0);
    let rules = [(first, 1), (second, -10), (third, 256)];
    let rules = rules.map(|(domain, increment)| Rule { domain, action: action(increment) });
    Table::new(Domain::WHOLE, rules.to_vec()).expect("three parts of a box")
}

proptest! {
    #[test]
    fn a_table_is_the_same_after_both_forms(
        actions in prop::collection::vec((0.0..1.0_f64, -256..=256_i32, 0.0..30.0_f64), 1..40),
    ) {
        let mut rules: Vec<Rule> = Vec::new();
        let mut rest = Domain::WHOLE;
        for (number, (multiple, increment, intersend_ms)) in actions.iter().enumerate() {
            let action =
                Action { multiple: *multiple, increment: *increment, intersend_ms: *intersend_ms };
            let axis = Axis::ALL[number % AXES];
            let [low, high] = rest.split(axis, rest.lower[axis.index()] + intersend_ms + 0.01);
            let domain = if number + 1 == actions.len() { rest } else { low };
            rules.push(Rule { domain, action });
            rest = high;
        }
        let table = Table::new(Domain::WHOLE, rules).expect("parts of a box");
        prop_assert_eq!(table.to_dna(), by_hand(&table));
        let from_dna = Table::from_dna(&table.to_dna()).expect("our own");
        let from_text = Table::from_readable(&table.to_readable()).expect("our own");
        prop_assert_eq!(&from_dna, &table);
        prop_assert_eq!(&from_text, &table);
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = three_rules().to_dna();
        for (place, value) in damage {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = Table::from_dna(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        let _ = Table::from_dna(&bytes);
    }

    #[test]
    fn bytes_of_no_table_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        if let Ok(table) = Table::from_dna(&bytes) {
            let _ = table.find(&Memory([1.0; AXES]));
        }
    }
}

#[test]
fn a_file_that_was_cut_off_anywhere_is_refused() {
    let bytes = three_rules().to_dna();
    assert_eq!(Table::from_dna(&bytes), Ok(three_rules()));
    for len in 0..bytes.len() {
        assert!(Table::from_dna(&bytes[..len]).is_err(), "{len} bytes of {}", bytes.len());
    }
}

#[test]
fn a_file_of_2013_has_three_signals_and_the_fourth_is_any() {
    let corner = |value: f64| {
        let mut out = Vec::new();
        (21..24).for_each(|field| put_double(field, value, &mut out));
        out
    };
    let mut domain = Vec::new();
    put_message(BOX_LOWER, &corner(0.0), &mut domain);
    put_message(BOX_UPPER, &corner(16_384.0), &mut domain);
    let mut rule = Vec::new();
    put_varint(RULE_INCREMENT, to_zigzag(-7), &mut rule);
    put_double(RULE_MULTIPLE, 1.0, &mut rule);
    put_double(RULE_INTERSEND, 2.0, &mut rule);
    put_double(81, 1_000.0, &mut rule);
    let mut root = Vec::new();
    put_message(NODE_DOMAIN, &domain, &mut root);
    put_message(NODE_RULE, &rule, &mut root);
    let table = Table::from_dna(&root).expect("a table");
    assert_eq!(table.domain().upper, [16_384.0, 16_384.0, 16_384.0, Domain::UPPER_BOUND]);
    assert_eq!(table.action(&Memory([1e9; AXES])).increment, -7);
}

#[test]
fn each_fault_of_a_tree_has_its_name() {
    let leaf = |domain: &Domain| {
        let mut out = Vec::new();
        put_message(NODE_DOMAIN, &box_message(domain), &mut out);
        put_message(NODE_RULE, &rule_message(&three_rules().rules()[0]), &mut out);
        out
    };
    let parent = |children: &[Vec<u8>]| {
        let mut out = Vec::new();
        children.iter().for_each(|child| put_message(NODE_CHILD, child, &mut out));
        out
    };
    let whole = leaf(&Domain::WHOLE);
    let mut deep = whole.clone();
    for _ in 1..LEVELS_MAX {
        deep = parent(&[deep]);
    }
    assert!(Table::from_dna(&deep).is_ok(), "as deep as may be");
    assert_eq!(Table::from_dna(&parent(&[deep])), Err(TableError::TooDeep { max: LEVELS_MAX }));
    let both = [whole.clone(), parent(core::slice::from_ref(&whole))].concat();
    assert_eq!(Table::from_dna(&both), Err(TableError::Node { what: "both a rule and children" }));
    assert_eq!(Table::from_dna(&[]), Err(TableError::Node { what: "neither a rule nor children" }));
    assert_eq!(
        Table::from_dna(&parent(&[whole.clone(), whole.clone()])),
        Err(TableError::Overlap { first: 1, second: 2 })
    );
    let [below, above] = Domain::WHOLE.split(Axis::AckEwma, 3.0);
    assert_eq!(Table::from_dna(&parent(&[leaf(&above)])), Err(TableError::Gap { at: [0.0; AXES] }));
    assert!(Table::from_dna(&parent(&[leaf(&above), leaf(&below)])).is_ok(), "in any order");
    let mut fin = Vec::new();
    put_message(90, &box_message(&Domain::WHOLE), &mut fin);
    assert_eq!(Table::from_dna(&fin), Err(TableError::FinTree));
    let mut other = box_message(&Domain::WHOLE);
    put_varint(BOX_ACTIVE_AXIS, 5, &mut other);
    let mut root = Vec::new();
    put_message(NODE_DOMAIN, &other, &mut root);
    assert_eq!(Table::from_dna(&root), Err(TableError::UnknownAxis { number: 5 }));
    let large = vec![0; FILE_BYTES_MAX + 1];
    assert!(matches!(Table::from_dna(&large), Err(TableError::TooLarge { .. })));
    let most = parent(&vec![whole; RULES_MAX + 1]);
    assert_eq!(Table::from_dna(&most), Err(TableError::TooManyRules { max: RULES_MAX }));
}
