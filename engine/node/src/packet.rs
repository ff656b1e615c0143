//! From parsed headers to a record of the schema `packet`.
