//! `host`, `net` and `port` (source OR destination), and the function `in_net`.
//!
//! | text | meaning |
//! | --- | --- |
//! | `host = '10.0.0.1'`, `host('10.0.0.1')` | `src_ip4 = .. OR dst_ip4 = ..`; ip6 by the literal |
//! | `net = '10.0.0.0/8'`, `net('10.0.0.0/8')` | source OR destination in the network |
//! | `port < 1024`, `port IN (..)`, `port BETWEEN ..`, `port(53)` | the same of both ports |
//! | `in_net(column, '10.0.0.0/8')` | the column in the network |
//!
//! `!=` and `NOT` deny the whole: neither source nor destination.

use std::net::IpAddr;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart,
};

use super::QueryError;
use super::address::{self, Network};
use super::convert::{Converter, Subject, not, unsupported};
use super::literal::{self, Raw};
use super::names::part;
use crate::predicate::{CompareOp, Literal, Predicate};
use crate::schema::{ColumnType, Schema};

/// What stands for source OR destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sugar {
    /// An address.
    Host,
    /// A network.
    Net,
    /// A port.
    Port,
}

impl Sugar {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "host" => Some(Self::Host),
            "net" => Some(Self::Net),
            "port" => Some(Self::Port),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Net => "net",
            Self::Port => "port",
        }
    }
}

/// `sugar op value`.
pub(super) fn compare(
    converter: &Converter<'_>,
    whole: &Expr,
    sugar: Sugar,
    op: CompareOp,
    value: &Expr,
) -> Result<Predicate, QueryError> {
    match (sugar, op) {
        (_, CompareOp::Ne) => Ok(not(compare(converter, whole, sugar, CompareOp::Eq, value)?)),
        (Sugar::Port, _) => converter.either_port(|column| {
            let literal = literal::typed(converter.column(column), value)?;
            Ok(Predicate::Compare { column, op, literal })
        }),
        (Sugar::Host, CompareOp::Eq) => host(converter.schema, value),
        (Sugar::Net, CompareOp::Eq) => net(converter.schema, value),
        _ => Err(QueryError::Unsupported {
            part: part(whole),
            expected: "host and net take =, != and IN; compare ip columns by name for an order",
        }),
    }
}

/// `host IN (..)` and `net IN (..)`.
pub(super) fn in_list(
    converter: &Converter<'_>,
    sugar: Sugar,
    list: &[Expr],
) -> Result<Predicate, QueryError> {
    if sugar == Sugar::Host {
        return host_list(converter.schema, list);
    }
    let each = list.iter().map(|value| net(converter.schema, value));
    let each = each.collect::<Result<Vec<Predicate>, QueryError>>()?;
    Ok(match <[Predicate; 1]>::try_from(each) {
        Ok([alone]) => alone,
        Err(each) => Predicate::Or(each),
    })
}

/// `in_net(..)`, `host(..)`, `net(..)` or `port(..)`.
pub(super) fn call(
    converter: &Converter<'_>,
    whole: &Expr,
    function: &Function,
) -> Result<Predicate, QueryError> {
    let no_such = QueryError::Unsupported {
        part: part(whole),
        expected: "the functions are in_net(column, 'network'), host('address'), \
            net('network') and port(number)",
    };
    let Some((name, arguments)) = plain_call(function) else { return Err(no_such) };
    match (name.as_str(), arguments.as_slice()) {
        ("in_net", [column, network]) => in_net(converter, column, network),
        (name, [value]) => match Sugar::named(name) {
            Some(sugar) => compare(converter, whole, sugar, CompareOp::Eq, value),
            None => Err(no_such),
        },
        _ => Err(no_such),
    }
}

/// Ordinals of the two port columns.
pub(super) fn ports(schema: &Schema) -> Result<(u16, u16), QueryError> {
    let port = |name| {
        let ordinal = schema.ordinal(name)?;
        let kind = schema.columns().get(usize::from(ordinal))?.kind();
        matches!(kind, ColumnType::U16 | ColumnType::U32).then_some(ordinal)
    };
    port("src_port").zip(port("dst_port")).ok_or(QueryError::NoSugar {
        part: "port",
        columns: "the u16 columns src_port OR dst_port",
    })
}

/// The error for an operator that makes no sense with `sugar`.
pub(super) fn wrong_operator(sugar: Sugar, operator: &str) -> QueryError {
    QueryError::Unsupported {
        part: format!("{} {operator}", sugar.name()),
        expected: "host and net take =, != and IN; name an ip column instead",
    }
}

/// Name and arguments of a call without any of SQL's extras.
fn plain_call(function: &Function) -> Option<(String, Vec<&Expr>)> {
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    let plain = matches!(function.parameters, FunctionArguments::None)
        && function.filter.is_none()
        && function.null_treatment.is_none()
        && function.over.is_none()
        && function.within_group.is_empty()
        && !function.uses_odbc_syntax
        && list.duplicate_treatment.is_none()
        && list.clauses.is_empty();
    let argument = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    let arguments = list.args.iter().map(argument).collect::<Option<Vec<&Expr>>>()?;
    plain.then(|| (name.value.to_ascii_lowercase(), arguments))
}

fn in_net(
    converter: &Converter<'_>,
    subject: &Expr,
    value: &Expr,
) -> Result<Predicate, QueryError> {
    let column = match converter.subject(subject)? {
        Some(Subject::Column(column)) => column,
        Some(Subject::Sugar(Sugar::Host)) => return net(converter.schema, value),
        _ => return Err(unsupported(subject)),
    };
    let network = network(value)?;
    let kind = converter.column(column).kind();
    let expected = match (kind, network) {
        (ColumnType::Ipv4, Network::V4(..)) | (ColumnType::Ipv6, Network::V6(..)) => {
            return Ok(within(column, network));
        }
        (ColumnType::Ipv4, _) => "an IPv4 network such as '10.0.0.0/8'",
        (ColumnType::Ipv6, _) => "an IPv6 network such as '2001:db8::/32'",
        _ => "a column of type ipv4 or ipv6 for in_net",
    };
    let column = converter.column(column).name().to_owned();
    Err(QueryError::LiteralType { part: part(value), column, kind, expected })
}

fn net(schema: &Schema, value: &Expr) -> Result<Predicate, QueryError> {
    let network = network(value)?;
    let (source, target) = match network {
        Network::V4(..) => addresses(schema, "net", ColumnType::Ipv4)?,
        Network::V6(..) => addresses(schema, "net", ColumnType::Ipv6)?,
    };
    Ok(Predicate::Or(vec![within(source, network), within(target, network)]))
}

fn host(schema: &Schema, value: &Expr) -> Result<Predicate, QueryError> {
    let (kind, literal) = host_address(value)?;
    let (source, target) = addresses(schema, "host", kind)?;
    let equal = |column, literal| Predicate::Compare { column, op: CompareOp::Eq, literal };
    Ok(Predicate::Or(vec![equal(source, literal.clone()), equal(target, literal)]))
}

/// One IN list per column and address family.
fn host_list(schema: &Schema, list: &[Expr]) -> Result<Predicate, QueryError> {
    let mut v4 = Vec::new();
    let mut v6 = Vec::new();
    for value in list {
        match host_address(value)? {
            (ColumnType::Ipv4, literal) => v4.push(literal),
            (_, literal) => v6.push(literal),
        }
    }
    let mut any = Vec::new();
    for (kind, list) in [(ColumnType::Ipv4, v4), (ColumnType::Ipv6, v6)] {
        if !list.is_empty() {
            let (source, target) = addresses(schema, "host", kind)?;
            any.push(Predicate::In { column: source, list: list.clone() });
            any.push(Predicate::In { column: target, list });
        }
    }
    Ok(Predicate::Or(any))
}

fn host_address(value: &Expr) -> Result<(ColumnType, Literal), QueryError> {
    match text(value)?.parse() {
        Ok(IpAddr::V4(v4)) => Ok((ColumnType::Ipv4, Literal::Ipv4(v4.octets()))),
        Ok(IpAddr::V6(v6)) => Ok((ColumnType::Ipv6, Literal::Ipv6(v6.octets()))),
        Err(_) => Err(QueryError::Value {
            part: part(value),
            reason: "expected an address such as '10.0.0.1' or '2001:db8::1'".to_owned(),
        }),
    }
}

fn network(value: &Expr) -> Result<Network, QueryError> {
    address::network(text(value)?).map_err(|reason| QueryError::Value { part: part(value), reason })
}

fn text(value: &Expr) -> Result<&str, QueryError> {
    match literal::raw(value) {
        Some(Raw::Text(text)) => Ok(text),
        Some(_) => Err(QueryError::Value {
            part: part(value),
            reason: "expected an address or network in single quotes".to_owned(),
        }),
        None => Err(literal::not_a_literal(value)),
    }
}

/// The column within the network; a network of one address is an equality, which every kind of
/// filter can answer.
fn within(column: u16, network: Network) -> Predicate {
    let equal = |literal| Predicate::Compare { column, op: CompareOp::Eq, literal };
    match network {
        Network::V4(low, high) if low == high => equal(Literal::Ipv4(low)),
        Network::V6(low, high) if low == high => equal(Literal::Ipv6(low)),
        Network::V4(low, high) => {
            Predicate::Between { column, low: Literal::Ipv4(low), high: Literal::Ipv4(high) }
        }
        Network::V6(low, high) => {
            Predicate::Between { column, low: Literal::Ipv6(low), high: Literal::Ipv6(high) }
        }
    }
}

/// Ordinals of source and destination address of one family.
fn addresses(
    schema: &Schema,
    sugar: &'static str,
    kind: ColumnType,
) -> Result<(u16, u16), QueryError> {
    let (source, target, columns) = match kind {
        ColumnType::Ipv4 => ("src_ip4", "dst_ip4", "the ipv4 columns src_ip4 OR dst_ip4"),
        _ => ("src_ip6", "dst_ip6", "the ipv6 columns src_ip6 OR dst_ip6"),
    };
    let of_kind = |name| {
        let ordinal = schema.ordinal(name)?;
        let column = schema.columns().get(usize::from(ordinal))?;
        (column.kind() == kind).then_some(ordinal)
    };
    let pair = of_kind(source).zip(of_kind(target));
    pair.ok_or(QueryError::NoSugar { part: sugar, columns })
}
