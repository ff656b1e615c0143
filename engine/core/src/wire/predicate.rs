//! Predicate trees on the wire: pre-order, each node with its own length, so that a node of an
//! unknown kind can be skipped and becomes [`Predicate::Unknown`].
//!
//! Hot path: no lock, no syscall; recursion no deeper than `PREDICATE_DEPTH_MAX`. A count reserves
//! memory only after it was compared with its limit and has claimed the bytes that its items take
//! at least. Claims never add up to more than the section has, however counts are nested: n bytes
//! reserve at most n / 5 nodes or n / 2 literals, and n bytes of text.

use super::cursor::{Reader, Short, Writer, saturated_u16, saturated_u32};
use super::lookup::LookupError;
use crate::limits::{
    IN_LIST_MAX, LITERAL_BYTES_MAX, LITERALS_MAX, PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX,
};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::TimeUnit;

/// Bytes of a node without a body: kind and length.
pub const NODE_BYTES_MIN: usize = 5;

/// Bytes of the shortest literal: type and one byte.
const LITERAL_BYTES_MIN: usize = 2;

// Kinds of nodes.
const UNKNOWN: u8 = 0;
const COMPARE: u8 = 1;
const BETWEEN: u8 = 2;
const IN: u8 = 3;
const IS_NULL: u8 = 4;
const IS_NOT_NULL: u8 = 5;
const AND: u8 = 6;
const OR: u8 = 7;
const NOT: u8 = 8;

// Types of literals.
const UNSIGNED: u8 = 1;
const SIGNED: u8 = 2;
const FLOAT: u8 = 3;
const BOOL: u8 = 4;
const TIMESTAMP: u8 = 5;
const IPV4: u8 = 6;
const IPV6: u8 = 7;
const MAC: u8 = 8;
const UUID: u8 = 9;
const BYTES: u8 = 10;

/// Appends the encoding of a tree.
///
/// A tree above the limits is encoded so that every reader refuses it; see [`check`].
pub fn encode(out: &mut Vec<u8>, predicate: &Predicate) {
    encode_node(&mut Writer::new(out), predicate);
}

/// Parses a section that one tree fills exactly.
pub fn parse(bytes: &[u8]) -> Result<Predicate, LookupError> {
    let mut budget = Budget::new(bytes.len());
    let mut r = Reader::new(bytes);
    let predicate = parse_node(&mut r, &mut budget, 1)?;
    if r.is_empty() { Ok(predicate) } else { Err(LookupError::Predicate) }
}

/// Whether a tree keeps within the limits that every reader enforces.
pub fn check(predicate: &Predicate) -> Result<(), LookupError> {
    let mut budget = Budget::new(usize::MAX);
    check_node(predicate, &mut budget, 1)
}

/// Why a node was refused.
enum NodeError {
    Malformed,
    Limit,
}

impl From<Short> for NodeError {
    fn from(Short: Short) -> Self {
        Self::Malformed
    }
}

impl From<NodeError> for LookupError {
    fn from(error: NodeError) -> Self {
        match error {
            NodeError::Malformed => Self::Predicate,
            NodeError::Limit => Self::Limit,
        }
    }
}

/// What a message may still hold.
struct Budget {
    nodes: usize,
    literals: usize,
    /// Bytes of the section that no count has claimed for its items.
    unclaimed_bytes: usize,
}

impl Budget {
    fn new(section_bytes: usize) -> Self {
        Budget {
            nodes: PREDICATE_NODES_MAX,
            literals: LITERALS_MAX,
            unclaimed_bytes: section_bytes,
        }
    }

    /// Claims the bytes of `count` items, which must lie in `body`, before memory is reserved.
    fn claim(
        &mut self,
        count: usize,
        item_bytes: usize,
        body: &Reader<'_>,
    ) -> Result<(), NodeError> {
        let bytes = count * item_bytes;
        if bytes > body.len() {
            return Err(NodeError::Malformed);
        }
        self.unclaimed_bytes = self.unclaimed_bytes.checked_sub(bytes).ok_or(NodeError::Limit)?;
        Ok(())
    }

    fn take_node(&mut self, depth: usize) -> Result<(), NodeError> {
        if depth > PREDICATE_DEPTH_MAX {
            return Err(NodeError::Limit);
        }
        self.nodes = self.nodes.checked_sub(1).ok_or(NodeError::Limit)?;
        Ok(())
    }

    fn take_literals(&mut self, n: usize) -> Result<(), NodeError> {
        self.literals = self.literals.checked_sub(n).ok_or(NodeError::Limit)?;
        Ok(())
    }
}

/// A leaf's parts, or the news that this version does not know one of them.
enum Known<T> {
    Yes(T),
    No,
}

/// Unwraps a known part; an unknown one makes the whole leaf unknown.
macro_rules! known {
    ($part:expr) => {
        match $part {
            Known::Yes(part) => part,
            Known::No => return Ok(Predicate::Unknown),
        }
    };
}

fn parse_node(
    r: &mut Reader<'_>,
    budget: &mut Budget,
    depth: usize,
) -> Result<Predicate, NodeError> {
    let kind = r.u8()?;
    let body_bytes = r.u32()? as usize;
    let mut body = Reader::new(r.take(body_bytes)?);
    budget.take_node(depth)?;
    match kind {
        AND => Ok(Predicate::And(parse_children(&mut body, budget, depth)?)),
        OR => Ok(Predicate::Or(parse_children(&mut body, budget, depth)?)),
        NOT => {
            let child = parse_node(&mut body, budget, depth + 1)?;
            ends(&body)?;
            Ok(Predicate::Not(Box::new(child)))
        }
        COMPARE | BETWEEN | IN | IS_NULL | IS_NOT_NULL => parse_leaf(kind, &mut body, budget),
        _ => Ok(Predicate::Unknown),
    }
}

fn parse_children(
    body: &mut Reader<'_>,
    budget: &mut Budget,
    depth: usize,
) -> Result<Vec<Predicate>, NodeError> {
    let count = usize::from(body.u16()?);
    if count > budget.nodes {
        return Err(NodeError::Limit);
    }
    budget.claim(count, NODE_BYTES_MIN, body)?;
    let mut children = Vec::with_capacity(count);
    for _ in 0..count {
        children.push(parse_node(body, budget, depth + 1)?);
    }
    ends(body)?;
    Ok(children)
}

fn parse_leaf(
    kind: u8,
    body: &mut Reader<'_>,
    budget: &mut Budget,
) -> Result<Predicate, NodeError> {
    let column = body.u16()?;
    let leaf = match kind {
        COMPARE => {
            let op = known!(compare_op(body.u8()?));
            budget.take_literals(1)?;
            let literal = known!(parse_literal(body)?);
            Predicate::Compare { column, op, literal }
        }
        BETWEEN => {
            budget.take_literals(2)?;
            let low = known!(parse_literal(body)?);
            let high = known!(parse_literal(body)?);
            Predicate::Between { column, low, high }
        }
        IN => {
            let count = usize::from(body.u16()?);
            if count > IN_LIST_MAX {
                return Err(NodeError::Limit);
            }
            budget.take_literals(count)?;
            budget.claim(count, LITERAL_BYTES_MIN, body)?;
            let mut list = Vec::with_capacity(count);
            for _ in 0..count {
                list.push(known!(parse_literal(body)?));
            }
            Predicate::In { column, list }
        }
        IS_NULL => Predicate::IsNull { column },
        IS_NOT_NULL => Predicate::IsNotNull { column },
        _ => return Ok(Predicate::Unknown),
    };
    ends(body)?;
    Ok(leaf)
}

/// A body must be used up: left-over bytes mean that the two sides disagree about its layout.
fn ends(body: &Reader<'_>) -> Result<(), NodeError> {
    if body.is_empty() { Ok(()) } else { Err(NodeError::Malformed) }
}

fn parse_literal(r: &mut Reader<'_>) -> Result<Known<Literal>, NodeError> {
    Ok(Known::Yes(match r.u8()? {
        UNSIGNED => Literal::Unsigned(r.u64()?),
        SIGNED => Literal::Signed(r.u64()?.cast_signed()),
        FLOAT => Literal::Float(f64::from_bits(r.u64()?)),
        BOOL => match r.u8()? {
            0 => Literal::Bool(false),
            1 => Literal::Bool(true),
            _ => return Err(NodeError::Malformed),
        },
        TIMESTAMP => {
            let unit = match r.u8()? {
                0 => TimeUnit::S,
                1 => TimeUnit::Ms,
                2 => TimeUnit::Us,
                3 => TimeUnit::Ns,
                _ => return Ok(Known::No),
            };
            Literal::Timestamp(r.u64()?.cast_signed(), unit)
        }
        IPV4 => Literal::Ipv4(r.array()?),
        IPV6 => Literal::Ipv6(r.array()?),
        MAC => Literal::Mac(r.array()?),
        UUID => Literal::Uuid(r.array()?),
        BYTES => {
            let n = usize::from(r.u16()?);
            if n > LITERAL_BYTES_MAX {
                return Err(NodeError::Limit);
            }
            Literal::Bytes(r.take(n)?.to_vec())
        }
        _ => return Ok(Known::No),
    }))
}

fn compare_op(code: u8) -> Known<CompareOp> {
    Known::Yes(match code {
        1 => CompareOp::Eq,
        2 => CompareOp::Ne,
        3 => CompareOp::Lt,
        4 => CompareOp::Le,
        5 => CompareOp::Gt,
        6 => CompareOp::Ge,
        _ => return Known::No,
    })
}

fn compare_op_code(op: CompareOp) -> u8 {
    match op {
        CompareOp::Eq => 1,
        CompareOp::Ne => 2,
        CompareOp::Lt => 3,
        CompareOp::Le => 4,
        CompareOp::Gt => 5,
        CompareOp::Ge => 6,
    }
}

pub(super) fn encode_node(w: &mut Writer<'_>, predicate: &Predicate) {
    let start = w.len();
    w.u8(kind(predicate));
    w.u32(0);
    match predicate {
        Predicate::Compare { column, op, literal } => {
            w.u16(*column);
            w.u8(compare_op_code(*op));
            encode_literal(w, literal);
        }
        Predicate::Between { column, low, high } => {
            w.u16(*column);
            encode_literal(w, low);
            encode_literal(w, high);
        }
        Predicate::In { column, list } => {
            w.u16(*column);
            w.u16(saturated_u16(list.len()));
            list.iter().for_each(|literal| encode_literal(w, literal));
        }
        Predicate::IsNull { column } | Predicate::IsNotNull { column } => w.u16(*column),
        Predicate::And(children) | Predicate::Or(children) => {
            w.u16(saturated_u16(children.len()));
            children.iter().for_each(|child| encode_node(w, child));
        }
        Predicate::Not(child) => encode_node(w, child),
        Predicate::Unknown => {}
    }
    let body_bytes = w.len() - start - NODE_BYTES_MIN;
    w.patch_u32(start + 1, saturated_u32(body_bytes));
}

fn kind(predicate: &Predicate) -> u8 {
    match predicate {
        Predicate::Compare { .. } => COMPARE,
        Predicate::Between { .. } => BETWEEN,
        Predicate::In { .. } => IN,
        Predicate::IsNull { .. } => IS_NULL,
        Predicate::IsNotNull { .. } => IS_NOT_NULL,
        Predicate::And(_) => AND,
        Predicate::Or(_) => OR,
        Predicate::Not(_) => NOT,
        Predicate::Unknown => UNKNOWN,
    }
}

fn encode_literal(w: &mut Writer<'_>, literal: &Literal) {
    let (code, bytes): (u8, &[u8]) = match literal {
        Literal::Unsigned(v) => (UNSIGNED, &v.to_le_bytes()),
        Literal::Signed(v) => (SIGNED, &v.to_le_bytes()),
        Literal::Float(v) => (FLOAT, &v.to_bits().to_le_bytes()),
        Literal::Bool(v) => (BOOL, &[u8::from(*v)]),
        Literal::Timestamp(v, unit) => {
            w.u8(TIMESTAMP);
            w.u8(match unit {
                TimeUnit::S => 0,
                TimeUnit::Ms => 1,
                TimeUnit::Us => 2,
                TimeUnit::Ns => 3,
            });
            return w.bytes(&v.to_le_bytes());
        }
        Literal::Ipv4(v) => (IPV4, v),
        Literal::Ipv6(v) => (IPV6, v),
        Literal::Mac(v) => (MAC, v),
        Literal::Uuid(v) => (UUID, v),
        Literal::Bytes(v) => {
            w.u8(BYTES);
            w.u16(saturated_u16(v.len()));
            return w.bytes(v);
        }
    };
    w.u8(code);
    w.bytes(bytes);
}

fn check_node(predicate: &Predicate, budget: &mut Budget, depth: usize) -> Result<(), LookupError> {
    budget.take_node(depth)?;
    let literals: &[Literal] = match predicate {
        Predicate::And(children) | Predicate::Or(children) => {
            return children.iter().try_for_each(|c| check_node(c, budget, depth + 1));
        }
        Predicate::Not(child) => return check_node(child, budget, depth + 1),
        Predicate::In { list, .. } if list.len() > IN_LIST_MAX => return Err(LookupError::Limit),
        Predicate::In { list, .. } => list,
        Predicate::Compare { literal, .. } => std::slice::from_ref(literal),
        Predicate::Between { low, high, .. } => {
            check_literals(std::slice::from_ref(low), budget)?;
            std::slice::from_ref(high)
        }
        Predicate::IsNull { .. } | Predicate::IsNotNull { .. } | Predicate::Unknown => &[],
    };
    check_literals(literals, budget)
}

fn check_literals(literals: &[Literal], budget: &mut Budget) -> Result<(), LookupError> {
    budget.take_literals(literals.len())?;
    let too_long = |l: &Literal| matches!(l, Literal::Bytes(v) if v.len() > LITERAL_BYTES_MAX);
    if literals.iter().any(too_long) { Err(LookupError::Limit) } else { Ok(()) }
}
