//! `cargo xtask bench kernels`: builds the contest with its peers, runs it once for each page
//! mode and the other benches of `bench/benches/`, and files everything under `bench/record/`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use super::machine;
use crate::run::{cargo, metadata, root};

/// Options of `cargo xtask bench kernels`.
#[derive(Args)]
pub(crate) struct KernelsArgs {
    /// Seconds instead of minutes; the numbers mean nothing and stay out of bench/record/. Parts
    /// other than blocked and bloomrf run only where --only names them, and at full length.
    #[arg(long)]
    quick: bool,
    /// Filter sizes of the point filters, MiB [default: 16 KiB, 512 KiB, 1, 32, 256, 1024].
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<String>,
    /// Only filters whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    filters: Vec<String>,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Page modes, for our filters and for what peers allocate.
    #[arg(long, default_value = "auto")]
    pages: Pages,
    /// Folder of the record [default: bench/record/<cpu>].
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Parts of the record.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Point filters and their peers.
    Blocked,
    /// bloomRF against its scalar form.
    Bloomrf,
    /// Many batches: bit-sliced groups.
    Sliced,
    /// What is chosen at close against bloomRF alone, beside stored keys.
    Exact,
    /// Whole-column ingest.
    Ingest,
    /// The way of a record and of a question through the engine.
    Pipeline,
    /// A whole node asked over UDP while it ingests.
    Latency,
    /// A node that starts over stored batches.
    Restart,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pages {
    /// Both, one after the other.
    Auto,
    /// 2 MiB pages for everybody.
    Huge,
    /// 4 KiB pages for everybody.
    Small,
}

/// The page mode makes no difference to what fits the L2, so small pages start above it.
const SMALL_SIZES: &str = "1,32,256,1024";

pub(crate) fn run(args: &KernelsArgs) -> Result<(), String> {
    let root = root();
    let folder = match (&args.out, args.quick) {
        (Some(folder), _) => folder.clone(),
        (None, true) => target()?.join("bench-quick"),
        (None, false) => root.join("bench/record").join(machine::cpu_slug()),
    };
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let command = format!("cargo xtask {}", typed.join(" "));
    let session = Session { args, root, folder, date: machine::date(), command };
    if session.wants(Part::Blocked) || session.wants(Part::Bloomrf) {
        session.contest()?;
    }
    for &(part, bench, words) in BENCHES {
        // Their lengths are their own, so a quick run takes them only when asked.
        if session.wants(part) && !(args.quick && args.only.is_empty()) {
            session.bench(bench, words)?;
        }
    }
    println!("recorded in {}", session.folder.display());
    Ok(())
}

/// Benches that print CSV, and the words that make them run everything.
const BENCHES: &[(Part, &str, &[&str])] = &[
    (Part::Sliced, "sliced", &[]),
    (Part::Exact, "exact_kinds", &[]),
    (Part::Ingest, "ingest", &[]),
    (Part::Pipeline, "pipeline", &["ingest", "lookups", "archive"]),
    (Part::Latency, "latency", &[]),
    (Part::Restart, "restart", &[]),
];

/// One call of the command.
struct Session<'a> {
    args: &'a KernelsArgs,
    root: PathBuf,
    folder: PathBuf,
    date: String,
    command: String,
}

impl Session<'_> {
    fn wants(&self, part: Part) -> bool {
        self.args.only.is_empty() || self.args.only.contains(&part)
    }

    fn file(&self, bench: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{}-{bench}.{extension}", self.date))
    }

    /// The contest, in one process per page mode.
    fn contest(&self) -> Result<(), String> {
        let build = ["build", "--locked", "--release", "--package", "bloomrf-bench"];
        cargo(&[&build[..], &["--features", "peers", "--bin", "kernels"]].concat())?;
        let text = machine::describe(&self.root, &self.command);
        let mut csv = String::new();
        let pages = self.args.pages;
        if pages != Pages::Small {
            self.append(&mut csv, "huge", &self.sizes(None), &self.sections())?;
        }
        if pages == Pages::Small || (pages == Pages::Auto && self.wants(Part::Blocked)) {
            let sizes = self.sizes(Some(SMALL_SIZES));
            // What fits a cache line and an L2 was measured on the pages before.
            let sections = if pages == Pages::Small { self.sections() } else { vec!["blocked"] };
            self.append(&mut csv, "small", &sizes, &sections)?;
        }
        self.keep("kernels", &csv, text)
    }

    fn sections(&self) -> Vec<&'static str> {
        let both = [(Part::Blocked, "blocked"), (Part::Bloomrf, "bloomrf")];
        both.iter().filter(|(part, _)| self.wants(*part)).map(|(_, name)| *name).collect()
    }

    fn sizes(&self, default: Option<&str>) -> Vec<String> {
        let sizes = match (self.args.sizes.is_empty(), default) {
            (false, _) => self.args.sizes.join(","),
            (true, Some(sizes)) if !self.args.quick => sizes.to_owned(),
            (true, _) => return Vec::new(),
        };
        vec!["--sizes".to_owned(), sizes]
    }

    /// Runs the contest on one page mode and appends its rows.
    fn append(
        &self,
        csv: &mut String,
        pages: &str,
        sizes: &[String],
        sections: &[&str],
    ) -> Result<(), String> {
        let file = self.file(&format!("kernels-{pages}"), "part");
        let program = target()?.join("release/kernels");
        let mut command = Command::new(&program);
        command.args(["--pages", pages]).arg("--csv").arg(&file).args(sizes);
        command.arg("--only").arg(sections.join(","));
        if self.args.quick {
            command.arg("--quick");
        }
        if !self.args.filters.is_empty() {
            command.arg("--filters").arg(self.args.filters.join(","));
        }
        // glibc then asks for transparent huge pages for large blocks: what peers allocate.
        let malloc = if pages == "huge" { 1 } else { 0 };
        command.env("GLIBC_TUNABLES", format!("glibc.malloc.hugetlb={malloc}"));
        let status = command.status().map_err(|why| format!("{}: {why}", program.display()))?;
        let part = fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let rows = if csv.is_empty() { &part } else { part.split_once('\n').map_or("", |p| p.1) };
        csv.push_str(rows);
        fs::remove_file(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        if status.success() { Ok(()) } else { Err(format!("the contest failed ({status})")) }
    }

    /// A bench of `bench/benches/` that prints CSV.
    fn bench(&self, name: &str, words: &[&str]) -> Result<(), String> {
        println!("{name} ...");
        let text = machine::describe(&self.root, &self.command);
        let mut args = vec!["bench", "--locked", "--package", "bloomrf-bench", "--bench", name];
        args.push("--");
        args.extend(words);
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(program)
            .args(&args)
            .current_dir(&self.root)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|why| format!("cargo could not be started: {why}"))?;
        if !output.status.success() {
            return Err(format!("`cargo {}` failed ({})", args.join(" "), output.status));
        }
        let csv = String::from_utf8_lossy(&output.stdout);
        print!("{csv}");
        self.keep(name, &csv, text)
    }

    fn keep(&self, bench: &str, csv: &str, mut text: String) -> Result<(), String> {
        let load = machine::load().unwrap_or_else(|| "not known".to_owned());
        text.push_str(&format!("load after: {load}\n"));
        for (extension, content) in [("csv", csv), ("txt", text.as_str())] {
            let path = self.file(bench, extension);
            fs::write(&path, content).map_err(|why| format!("{}: {why}", path.display()))?;
        }
        Ok(())
    }
}

/// Where cargo builds.
fn target() -> Result<PathBuf, String> {
    Ok(metadata()?.target_directory.into_std_path_buf())
}
