//! WHERE text to sqlparser's tree, with bounds that keep any text from exhausting the stack.
//!
//! Nesting by parentheses and NOT is bounded by sqlparser's recursion counter. Left-associative
//! chains (`a + a + a ..`) nest without recursion while they are parsed, but not while they are
//! dropped or printed: so the number of tokens that can form such a chain is bounded as well.

use sqlparser::ast::Expr;
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::ALL_KEYWORDS;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::QueryError;
use crate::limits::{PREDICATE_DEPTH_MAX, PREDICATE_NODES_MAX, QUERY_TEXT_BYTES_MAX};

/// Tokens beside literals, commas and signs. `x BETWEEN a AND b AND` are four for one condition.
const CHAIN_TOKENS_MAX: usize = 4 * PREDICATE_NODES_MAX;
/// A level of the tree is a parenthesis, a NOT or both; the leaf takes a few more.
const RECURSION_MAX: usize = 2 * PREDICATE_DEPTH_MAX + 8;

/// Parses one expression and nothing after it.
pub(super) fn parse(text: &str) -> Result<Expr, QueryError> {
    if text.len() > QUERY_TEXT_BYTES_MAX {
        return Err(QueryError::TooLong { bytes: text.len() });
    }
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text)
        .tokenize_with_location()
        .map_err(|e| QueryError::Syntax(e.to_string()))?;
    if tokens.iter().all(|t| matches!(t.token, Token::Whitespace(_) | Token::EOF)) {
        return Err(QueryError::Empty);
    }
    if chain_tokens(&tokens) > CHAIN_TOKENS_MAX {
        return Err(QueryError::TooMany);
    }
    let mut parser = Parser::new(&dialect)
        .with_recursion_limit(RECURSION_MAX)
        .with_tokens_with_locations(tokens);
    let tree = parser.parse_expr().map_err(syntax)?;
    let next = parser.peek_token();
    if next.token != Token::EOF {
        let place = next.span.start;
        return Err(QueryError::Syntax(format!(
            "unexpected `{}` at line {}, column {}: expected AND, OR or the end",
            super::names::clip(&next.token.to_string()),
            place.line,
            place.column
        )));
    }
    Ok(tree)
}

fn syntax(error: ParserError) -> QueryError {
    match error {
        ParserError::RecursionLimitExceeded => QueryError::TooDeep,
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            QueryError::Syntax(super::names::clip(&message))
        }
    }
}

/// Counts what is neither literal nor comma nor the sign of a list's literal.
fn chain_tokens(tokens: &[TokenWithSpan]) -> usize {
    let mut count = 0;
    let mut after_comma = false;
    for token in tokens {
        match token.token {
            Token::Whitespace(_) => continue,
            Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::Comma => {}
            Token::Minus | Token::Plus if after_comma => {}
            _ => count += 1,
        }
        after_comma = token.token == Token::Comma;
    }
    count
}

/// Whether `name` is an identifier without quotes wherever one may stand: no keyword.
pub(super) fn is_plain_name(name: &str) -> bool {
    ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_err()
}
