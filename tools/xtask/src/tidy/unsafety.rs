//! Unsafe code lives in listed islands only: docs/UNSAFE.md and the tree must agree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};

use super::SourceFile;

pub(super) fn check(root: &Path, files: &[SourceFile]) -> Result<Vec<String>, String> {
    let path = root.join("docs/UNSAFE.md");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let listed: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let found: BTreeSet<&str> =
        files.iter().filter(|f| has_unsafe(&f.text)).map(|f| f.path.as_str()).collect();
    let unlisted = found
        .difference(&listed)
        .map(|path| format!("{path}: unsafe code outside the islands of docs/UNSAFE.md"));
    let stale = listed
        .difference(&found)
        .map(|path| format!("{path}: an island of docs/UNSAFE.md without unsafe code"));
    Ok(unlisted.chain(stale).collect())
}

#[derive(Default)]
struct Finder {
    found: bool,
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
        self.found = true;
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.found |= signature.unsafety.is_some();
        visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.found |= item.unsafety.is_some();
        visit::visit_item_impl(self, item);
    }

    /// What a macro expands to is not parsed: its words are looked at.
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let tokens = item.mac.tokens.to_string();
        self.found |=
            tokens.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe");
    }

    fn visit_item_foreign_mod(&mut self, _: &'ast syn::ItemForeignMod) {
        self.found = true;
    }
}

fn has_unsafe(text: &str) -> bool {
    let mut finder = Finder::default();
    if let Ok(file) = syn::parse_file(text) {
        finder.visit_file(&file);
    }
    finder.found
}

#[cfg(test)]
mod tests {
    use super::has_unsafe;

    #[test]
    fn blocks_functions_and_impls_are_found_and_words_are_not() {
        assert!(has_unsafe("fn f() { unsafe { g() } }"));
        assert!(has_unsafe("unsafe fn f() {}"));
        assert!(has_unsafe("macro_rules! m { () => { unsafe { g() } } }"));
        assert!(!has_unsafe("macro_rules! m { () => { unsafety() } }"));
        assert!(has_unsafe("unsafe impl Send for T {}"));
        assert!(!has_unsafe("#![forbid(unsafe_code)]\n// unsafe\nfn f() { let unsafety = 1; }"));
    }
}
