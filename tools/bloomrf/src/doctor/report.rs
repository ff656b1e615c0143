//! What was found: lines for people, one object for machines.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// It works; slower, or with less protection.
    Warn,
    /// What the settings ask for cannot be.
    Fail,
}

impl Level {
    pub(super) fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        }
    }
}

/// One line.
#[derive(Debug)]
pub(super) struct Finding {
    /// Name of the check; never changes.
    pub(super) check: &'static str,
    /// Which of several: an interface, a port.
    pub(super) subject: Option<String>,
    pub(super) level: Level,
    /// One sentence.
    pub(super) says: String,
    /// The command that mends it.
    pub(super) mend: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Finding { check, subject: None, level: Level::Ok, says: says.into(), mend: None }
    }

    pub(super) fn bad(
        level: Level,
        check: &'static str,
        says: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        let mend = Some(mend.into());
        Finding { check, subject: None, level, says: says.into(), mend }
    }

    pub(super) fn warn(
        check: &'static str,
        says: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Finding::bad(Level::Warn, check, says, mend)
    }

    /// Which of several it is about.
    pub(super) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }
}

/// Findings of one kind.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) findings: Vec<Finding>,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) groups: Vec<Group>,
    /// Whether it is about the settings of a file, or about the defaults.
    pub(super) stated: bool,
}

impl Report {
    /// Every finding, with the name of its group.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&'static str, &Finding)> {
        self.groups.iter().flat_map(|group| group.findings.iter().map(|f| (group.name, f)))
    }

    pub(super) fn fails(&self) -> bool {
        self.count(Level::Fail) > 0
    }

    fn count(&self, level: Level) -> usize {
        self.findings().filter(|(_, finding)| finding.level == level).count()
    }

    /// A line per finding, the command under it; a sum at the end.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for group in self.groups.iter().filter(|group| !group.findings.is_empty()) {
            let _ = writeln!(text, "{}", group.name);
            for finding in &group.findings {
                let subject = finding.subject.as_deref().map(|s| format!(" {s}"));
                let name = format!("{}{}", finding.check, subject.unwrap_or_default());
                let _ = writeln!(text, "  {:4}  {name}: {}", finding.level.name(), finding.says);
                if let Some(mend) = &finding.mend {
                    let _ = writeln!(text, "        -> {mend}");
                }
            }
        }
        let [ok, warn, fail] = [Level::Ok, Level::Warn, Level::Fail].map(|l| self.count(l));
        let of = if self.stated { "these settings" } else { "the default settings" };
        let _ = writeln!(text, "{ok} ok, {warn} to better, {fail} to mend for {of}");
        text
    }

    /// `{"format", "version", "stated", "ok", "warn", "fail", "checks": [{"group", "check",
    /// "subject", "level", "says", "mend"}]}`, `subject` and `mend` null where there are none.
    pub(super) fn to_json(&self) -> String {
        let checks: Vec<Value> = self
            .findings()
            .map(|(group, finding)| {
                json!({
                    "group": group,
                    "check": finding.check,
                    "subject": finding.subject,
                    "level": finding.level.name(),
                    "says": finding.says,
                    "mend": finding.mend,
                })
            })
            .collect();
        let object = json!({
            "format": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "stated": self.stated,
            "ok": self.count(Level::Ok),
            "warn": self.count(Level::Warn),
            "fail": self.count(Level::Fail),
            "checks": checks,
        });
        format!("{object:#}\n")
    }
}
