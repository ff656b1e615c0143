//! sqlparser's tree to a [`Predicate`]: columns by ordinal, literals typed by their column.
//!
//! Recursion happens only through parentheses and NOT, which the parser's recursion limit bounds;
//! chains of AND and OR are walked in a loop and become one node.

use sqlparser::ast::{BinaryOperator, Expr, Ident, InTarget, UnaryOperator};

use super::QueryError;
use super::literal::{self, Raw};
use super::names::{hint, part};
use super::sugar::{self, Sugar};
use crate::limits::{IN_LIST_MAX, PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX};
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{Column, ColumnType, Schema};

/// Why a comparison was refused that has no `column op literal` in it.
const COMPARISON: &str = "a comparison has a column on one side and a literal on the other";
const CONDITION: &str = "expected conditions such as `dst_port = 443`, `proto IN (6, 17)`, \
    `length BETWEEN 64 AND 128`, `vlan IS NULL`, `in_net(src_ip4, '10.0.0.0/8')`, joined by \
    AND, OR, NOT";

/// What stands where a column is expected.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    /// A column.
    Column(u16),
    /// Source or destination.
    Sugar(Sugar),
}

/// One conversion.
pub(super) struct Converter<'s> {
    pub(super) schema: &'s Schema,
}

impl<'s> Converter<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema }
    }

    /// The whole tree, within the limits of a predicate.
    pub(super) fn tree(&self, expr: &Expr) -> Result<Predicate, QueryError> {
        let predicate = self.condition(expr)?;
        let (nodes, depth) = size(&predicate);
        if nodes > PREDICATE_NODES_MAX {
            return Err(QueryError::TooMany);
        }
        if depth > PREDICATE_DEPTH_MAX {
            return Err(QueryError::TooDeep);
        }
        Ok(predicate)
    }

    fn condition(&self, expr: &Expr) -> Result<Predicate, QueryError> {
        match expr {
            Expr::Nested(inner) => self.condition(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(not(self.condition(expr)?)),
            Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                Ok(Predicate::And(self.chain(expr, &BinaryOperator::And)?))
            }
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
                Ok(Predicate::Or(self.chain(expr, &BinaryOperator::Or)?))
            }
            Expr::BinaryOp { left, op, right } => self.comparison(expr, left, op, right),
            Expr::Between { expr, negated, low, high } => {
                Ok(negate_if(*negated, self.between(expr, low, high)?))
            }
            Expr::In { expr: subject, target: InTarget::List(list), negated, global: false } => {
                Ok(negate_if(*negated, self.in_list(subject, list)?))
            }
            Expr::IsNull(inner) => {
                Ok(Predicate::IsNull { column: self.plain_column(expr, inner)? })
            }
            Expr::IsNotNull(inner) => {
                Ok(Predicate::IsNotNull { column: self.plain_column(expr, inner)? })
            }
            Expr::Function(function) => sugar::call(self, expr, function),
            Expr::Identifier(_) => self.truth_column(expr),
            _ => match literal::raw(expr) {
                Some(Raw::Bool(true)) => Ok(Predicate::And(Vec::new())),
                Some(Raw::Bool(false)) => Ok(Predicate::Or(Vec::new())),
                _ => Err(unsupported(expr)),
            },
        }
    }

    /// The operands of a left-associative chain of one connective, from left to right.
    fn chain(
        &self,
        mut expr: &Expr,
        connective: &BinaryOperator,
    ) -> Result<Vec<Predicate>, QueryError> {
        let mut operands = Vec::new();
        while let Expr::BinaryOp { left, op, right } = expr
            && op == connective
        {
            operands.push(&**right);
            expr = left;
        }
        operands.push(expr);
        operands.into_iter().rev().map(|operand| self.condition(operand)).collect()
    }

    fn comparison(
        &self,
        whole: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Predicate, QueryError> {
        let Some(op) = compare_op(op) else { return Err(unsupported(whole)) };
        let left_is_literal = literal::raw(left).is_some();
        let (subject, op, value) =
            if left_is_literal { (right, flipped(op), left) } else { (left, op, right) };
        if literal::raw(subject).is_some() {
            return Err(QueryError::Unsupported { part: part(whole), expected: COMPARISON });
        }
        let Some(subject) = self.subject(subject)? else {
            return Err(not_a_column(subject));
        };
        match subject {
            Subject::Column(column) => {
                let literal = literal::typed(self.column(column), value)?;
                Ok(Predicate::Compare { column, op, literal })
            }
            Subject::Sugar(sugar) => sugar::compare(self, whole, sugar, op, value),
        }
    }

    fn between(&self, subject: &Expr, low: &Expr, high: &Expr) -> Result<Predicate, QueryError> {
        let bounds = |column: u16| {
            let typed = |bound| literal::typed(self.column(column), bound);
            Ok(Predicate::Between { column, low: typed(low)?, high: typed(high)? })
        };
        match self.subject(subject)? {
            Some(Subject::Column(column)) => bounds(column),
            Some(Subject::Sugar(Sugar::Port)) => self.either_port(bounds),
            Some(Subject::Sugar(sugar)) => Err(sugar::wrong_operator(sugar, "BETWEEN")),
            None => Err(not_a_column(subject)),
        }
    }

    fn in_list(&self, subject: &Expr, list: &[Expr]) -> Result<Predicate, QueryError> {
        if list.len() > IN_LIST_MAX {
            return Err(QueryError::ListTooLong { part: part(subject), count: list.len() });
        }
        let listed = |column: u16| {
            let typed = |value| literal::typed(self.column(column), value);
            let list = list.iter().map(typed).collect::<Result<Vec<Literal>, _>>()?;
            Ok(Predicate::In { column, list })
        };
        match self.subject(subject)? {
            Some(Subject::Column(column)) => listed(column),
            Some(Subject::Sugar(Sugar::Port)) => self.either_port(listed),
            Some(Subject::Sugar(sugar)) => sugar::in_list(self, sugar, list),
            None => Err(not_a_column(subject)),
        }
    }

    /// `leaf` of the source port OR `leaf` of the destination port.
    pub(super) fn either_port(
        &self,
        leaf: impl Fn(u16) -> Result<Predicate, QueryError>,
    ) -> Result<Predicate, QueryError> {
        let (source, target) = sugar::ports(self.schema)?;
        Ok(Predicate::Or(vec![leaf(source)?, leaf(target)?]))
    }

    /// The column of IS NULL and IS NOT NULL.
    fn plain_column(&self, whole: &Expr, subject: &Expr) -> Result<u16, QueryError> {
        match self.subject(subject)? {
            Some(Subject::Column(column)) => Ok(column),
            Some(Subject::Sugar(_)) => Err(QueryError::Unsupported {
                part: part(whole),
                expected: "name the source or the destination column",
            }),
            None => Err(not_a_column(subject)),
        }
    }

    /// A bool column alone is the condition that it is true.
    fn truth_column(&self, expr: &Expr) -> Result<Predicate, QueryError> {
        match self.subject(expr)? {
            Some(Subject::Column(column)) if self.column(column).kind() == ColumnType::Bool => {
                let literal = Literal::Bool(true);
                Ok(Predicate::Compare { column, op: CompareOp::Eq, literal })
            }
            _ => Err(QueryError::Unsupported { part: part(expr), expected: COMPARISON }),
        }
    }

    /// `None`: neither a column nor sugar but an expression.
    pub(super) fn subject(&self, mut expr: &Expr) -> Result<Option<Subject>, QueryError> {
        while let Expr::Nested(inner) = expr {
            expr = inner;
        }
        let Expr::Identifier(Ident { value, quote_style, .. }) = expr else { return Ok(None) };
        let name = if quote_style.is_some() { value.clone() } else { value.to_ascii_lowercase() };
        if let Some(column) = self.schema.ordinal(&name) {
            return Ok(Some(Subject::Column(column)));
        }
        if let Some(sugar) = Sugar::named(&name).filter(|_| quote_style.is_none()) {
            return Ok(Some(Subject::Sugar(sugar)));
        }
        let hint = hint(self.schema, &name);
        Err(QueryError::UnknownColumn { name: part(&name), hint })
    }

    pub(super) fn column(&self, ordinal: u16) -> &'s Column {
        &self.schema.columns()[usize::from(ordinal)]
    }
}

pub(super) fn not(predicate: Predicate) -> Predicate {
    Predicate::Not(Box::new(predicate))
}

fn negate_if(negated: bool, predicate: Predicate) -> Predicate {
    if negated { not(predicate) } else { predicate }
}

/// Nodes and depth; a leaf alone has one of each.
fn size(predicate: &Predicate) -> (usize, usize) {
    let of_all = |parts: &[Predicate]| {
        parts.iter().map(size).fold((1, 1), |(nodes, depth), (n, d)| (nodes + n, depth.max(d + 1)))
    };
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => of_all(parts),
        Predicate::Not(part) => of_all(std::slice::from_ref(part)),
        _ => (1, 1),
    }
}

fn compare_op(op: &BinaryOperator) -> Option<CompareOp> {
    Some(match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::NotEq => CompareOp::Ne,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::Le,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::Ge,
        _ => return None,
    })
}

/// The operator that says the same with its sides swapped.
fn flipped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

fn not_a_column(subject: &Expr) -> QueryError {
    QueryError::Unsupported {
        part: part(subject),
        expected: "a comparison is made with a column itself, not with an expression",
    }
}

pub(super) fn unsupported(expr: &Expr) -> QueryError {
    let expected = match expr {
        Expr::Like { .. } | Expr::ILike { .. } | Expr::SimilarTo { .. } | Expr::RLike { .. } => {
            "patterns cannot be looked up in a filter; use =, IN or BETWEEN"
        }
        Expr::Exists { .. } | Expr::Subquery(_) | Expr::In { .. } => {
            "no subqueries or tables; list the values"
        }
        Expr::BinaryOp { op: BinaryOperator::Spaceship, .. }
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..) => "use =, != and IS NULL",
        Expr::BinaryOp { .. } => "no arithmetic or other operators; use =, !=, <, <=, >, >=",
        Expr::IsTrue(_) | Expr::IsNotTrue(_) | Expr::IsFalse(_) | Expr::IsNotFalse(_) => {
            "compare with TRUE or FALSE by ="
        }
        Expr::CompoundIdentifier(_) => "name the column without a table",
        _ => CONDITION,
    };
    QueryError::Unsupported { part: part(expr), expected }
}
