//! Sizes and manners of source files: headers, lengths, hot-path marks, silenced tests.

use syn::visit::{self, Visit};

use super::SourceFile;

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_CHARS_MAX: usize = 100;

/// Ratchet: files and functions that may still be longer, with the length they must not exceed.
/// Only ever shrink or remove an entry.
const LONGER: &[(&str, usize)] = &[];

/// Folders of the hot path: each file says so in its header, with its bounds.
const HOT: &[&str] = &[
    "kernels/src/scalar/",
    "engine/core/src/ingest/",
    "engine/core/src/lookup/",
    "engine/core/src/wire/",
    "engine/node/src/poll/",
    "engine/node/src/respond/",
    "netio/src/link/",
    "netio/src/parse/",
];

pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(lines(file));
        findings.extend(words(file));
        match syn::parse_file(&file.text) {
            Ok(parsed) => findings.extend(functions(file, &parsed)),
            Err(reason) => findings.push(format!("{}: not parsed: {reason}", file.path)),
        }
    }
    findings
}

fn lines(file: &SourceFile) -> Vec<String> {
    let path = &file.path;
    let count = file.text.lines().count();
    let mut findings = Vec::new();
    let is_unit_tests = path.ends_with("/tests.rs");
    if !file.text.starts_with("//!") && !is_unit_tests {
        findings.push(format!("{path}: no `//!` header on the first line"));
    }
    if count > limit(path, FILE_LINES_MAX) {
        findings.push(format!("{path}: {count} lines, at most {FILE_LINES_MAX}: split it"));
    }
    for (index, line) in file.text.lines().enumerate() {
        if line.chars().count() > LINE_CHARS_MAX {
            findings.push(format!("{path}:{}: line over {LINE_CHARS_MAX} characters", index + 1));
        }
    }
    let header = file.text.lines().take_while(|line| line.starts_with("//!"));
    let is_test = is_unit_tests || path.contains("/tests/");
    // A file that only names its modules computes nothing.
    let computes = file.text.contains("fn ");
    if HOT.iter().any(|folder| path.starts_with(folder))
        && !is_test
        && computes
        && !header.into_iter().any(|line| line.contains("Hot path:"))
    {
        findings.push(format!("{path}: on the hot path, but its header has no `Hot path:` line"));
    }
    findings
}

/// Words that must not be in the tree. Spelled apart here, so that this file does not hold them.
fn words(file: &SourceFile) -> Vec<String> {
    let banned = [
        (concat!("#[ig", "nore"), "a silenced test"),
        (concat!("to", "do!("), "a stub"),
        (concat!("unimple", "mented!("), "a stub"),
        (concat!("FIX", "ME"), "unfinished"),
        (concat!("\"/wo", "rk/"), "a path of one machine"),
        (concat!("\"/ro", "ot/"), "a path of one machine"),
    ];
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for (word, why) in banned {
            if line.contains(word) {
                findings.push(format!("{}:{}: `{word}`: {why}", file.path, index + 1));
            }
        }
    }
    findings
}

struct Functions<'a> {
    file: &'a SourceFile,
    findings: Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line - first + 1;
        let name = &signature.ident;
        let key = format!("{}::{name}", self.file.path);
        if lines > limit(&key, FUNCTION_LINES_MAX) {
            self.findings.push(format!(
                "{}:{first}: function `{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}",
                self.file.path
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

fn functions(file: &SourceFile, parsed: &syn::File) -> Vec<String> {
    let mut visitor = Functions { file, findings: Vec::new() };
    visitor.visit_file(parsed);
    visitor.findings
}

fn limit(key: &str, usual: usize) -> usize {
    LONGER.iter().find(|(name, _)| *name == key).map_or(usual, |(_, lines)| *lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&[SourceFile { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn a_tidy_file_has_no_finding() {
        assert!(findings("a/src/b.rs", "//! What.\n\nfn f() {}\n").is_empty());
    }

    #[test]
    fn a_long_function_a_long_line_and_a_missing_header_are_found() {
        let body = "    let _ = 1;\n".repeat(FUNCTION_LINES_MAX);
        let long = format!("//! What.\nfn f() {{\n{body}}}\n");
        assert!(findings("a.rs", &long)[0].contains("`f` has 72 lines"));
        assert!(findings("a.rs", &format!("//! {}\n", "x".repeat(100)))[0].contains("a.rs:1"));
        assert!(findings("a.rs", "fn f() {}\n")[0].contains("no `//!` header"));
    }

    #[test]
    fn a_hot_file_without_its_mark_is_found() {
        let path = "engine/core/src/wire/frame.rs";
        assert_eq!(findings(path, "//! What.\nfn f() {}\n").len(), 1);
        assert!(findings(path, "//! What.\n//!\n//! Hot path: none.\nfn f() {}\n").is_empty());
        assert!(findings(path, "//! What.\npub mod frame;\n").is_empty());
    }
}
