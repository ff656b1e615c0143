//! The fault table: for each row, which programs try it and how often. docs/FAULTS.md says what
//! each row promises.

/// One row.
pub(super) struct Row {
    pub(super) number: u8,
    /// The fault.
    pub(super) fault: &'static str,
    /// Needs both cores to itself: it measures.
    pub(super) alone: bool,
    pub(super) parts: &'static [Part],
}

/// One program of a row.
pub(super) struct Part {
    pub(super) program: Program,
    /// What is counted.
    pub(super) unit: &'static str,
    /// Least count in CI.
    pub(super) quick: u64,
    /// Count of a full campaign (at least).
    pub(super) full: u64,
    /// Arguments; `{n}` is the count.
    pub(super) quick_args: &'static [&'static str],
    pub(super) full_args: &'static [&'static str],
}

/// What runs.
pub(super) enum Program {
    /// A binary of this package, with the same name.
    Binary(&'static str),
    /// A binary with another name than its package.
    BinaryOf(&'static str, &'static str),
    /// The kernels campaign.
    Kernels,
    /// The kernels' tests under AddressSanitizer; counts tests.
    KernelsAsan,
    /// Nothing: why.
    Missing(&'static str),
}

/// A part whose count is handed to the program as `{n}`.
const fn counted(
    binary: &'static str,
    unit: &'static str,
    quick: u64,
    full: u64,
    args: &'static [&'static str],
) -> Part {
    let program = Program::Binary(binary);
    Part { program, unit, quick, full, quick_args: args, full_args: args }
}

/// All rows.
pub(super) const ROWS: &[Row] = &[
    Row {
        number: 1,
        fault: "datagrams lost, repeated, reordered, damaged, late",
        alone: false,
        parts: &[
            counted("bloomrf-sim", "seeds", 1_000, 20_000, &["links", "--seeds", "{n}"]),
            counted(
                "bloomrf-faults",
                "datagrams",
                1_000_000,
                10_000_000,
                &["relay", "--datagrams", "{n}"],
            ),
        ],
    },
    Row {
        number: 2,
        fault: "killed at every system call of publication and recovery",
        alone: false,
        parts: &[
            Part {
                program: Program::Binary("bloomrf-crash"),
                unit: "points",
                quick: 50,
                full: 2_000,
                quick_args: &["kill"],
                full_args: &["kill", "--workloads", "20", "--deep"],
            },
            Part {
                program: Program::Binary("bloomrf-crash"),
                unit: "kills",
                quick: 50,
                full: 200,
                quick_args: &["live"],
                full_args: &["live", "--flushes", "12"],
            },
        ],
    },
    Row {
        number: 3,
        fault: "power lost: un-synced writes lost or torn",
        alone: false,
        parts: &[counted(
            "bloomrf-sim",
            "crashes",
            10_000,
            1_000_000,
            &["power", "--crashes", "{n}"],
        )],
    },
    Row {
        number: 4,
        fault: "EIO, ENOSPC, EMFILE, EINTR, short writes at every call",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-crash"),
            unit: "points",
            quick: 50,
            full: 2_000,
            quick_args: &["errors"],
            full_args: &["errors", "--workloads", "20"],
        }],
    },
    Row {
        number: 5,
        fault: "bit rot, truncation, swapped blocks, old generations",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-faults"),
            unit: "damages",
            quick: 524_288,
            full: 8_388_608,
            quick_args: &["stored"],
            full_args: &["stored", "--kib", "1024", "--double", "1000000"],
        }],
    },
    Row {
        number: 6,
        fault: "hostile files with right checksums",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-fuzz"),
            unit: "executions",
            quick: 10_000,
            full: 1_000_000,
            quick_args: &["stored", "--seconds", "20"],
            full_args: &["stored", "--seconds", "1200"],
        }],
    },
    Row {
        number: 7,
        fault: "hostile datagrams and messages",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-fuzz"),
            unit: "executions",
            quick: 100_000,
            full: 10_000_000,
            quick_args: &["datagrams", "--seconds", "20"],
            full_args: &["datagrams", "--seconds", "300"],
        }],
    },
    Row {
        number: 8,
        fault: "races in publication, retirement, rings, shutdown",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-models"),
            unit: "models",
            quick: 39,
            full: 39,
            quick_args: &[],
            full_args: &["--deep"],
        }],
    },
    Row {
        number: 9,
        fault: "unsafe code misused",
        alone: false,
        parts: &[Part {
            program: Program::KernelsAsan,
            unit: "tests",
            quick: 100,
            full: 100,
            quick_args: &["1e6"],
            full_args: &["1e8"],
        }],
    },
    Row {
        number: 10,
        fault: "kernel sets that disagree",
        alone: false,
        parts: &[Part {
            program: Program::Kernels,
            unit: "cases",
            quick: 10_000_000,
            full: 10_000_000_000,
            quick_args: &["{n}"],
            full_args: &["{n}"],
        }],
    },
    Row {
        number: 11,
        fault: "interleavings of a whole node, crashes included",
        alone: false,
        parts: &[counted(
            "bloomrf-sim",
            "seeds",
            2_000,
            40_000,
            &["run", "--seeds", "{n}", "--steps", "10000"],
        )],
    },
    Row {
        number: 12,
        fault: "false negatives in bulk",
        alone: false,
        parts: &[counted(
            "bloomrf-faults",
            "lookups",
            100_000_000,
            1_000_000_000,
            &["lookups", "--count", "{n}"],
        )],
    },
    Row {
        number: 13,
        fault: "false-positive rate off the model",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-faults"),
            unit: "negatives",
            quick: 30_000_000,
            full: 100_000_000,
            quick_args: &["fpr"],
            full_args: &["fpr", "--full"],
        }],
    },
    Row {
        number: 14,
        fault: "memory and allocations over time, at full speed",
        alone: true,
        parts: &[Part {
            program: Program::BinaryOf("bloomrf-bench", "soak"),
            unit: "seconds",
            quick: 90,
            full: 300,
            quick_args: &["--seconds", "{n}"],
            full_args: &["--seconds", "{n}"],
        }],
    },
    Row {
        number: 15,
        fault: "buffers run out, a consumer stops, a thread stalls",
        alone: true,
        parts: &[Part {
            program: Program::Binary("bloomrf-faults"),
            unit: "cases",
            quick: 3,
            full: 3,
            quick_args: &["exhaustion", "--seconds", "30"],
            full_args: &["exhaustion", "--seconds", "600"],
        }],
    },
    Row {
        number: 16,
        fault: "overload, forged sources, reflection",
        alone: true,
        parts: &[Part {
            program: Program::Binary("bloomrf-faults"),
            unit: "requests",
            quick: 1_000_000,
            full: 10_000_000,
            quick_args: &["overload", "--requests", "{n}"],
            full_args: &["overload", "--requests", "{n}"],
        }],
    },
    Row {
        number: 17,
        fault: "wrong clocks, settings at their limits, other versions",
        alone: false,
        parts: &[Part {
            program: Program::Binary("bloomrf-faults"),
            unit: "cases",
            quick: 50,
            full: 50,
            quick_args: &["surroundings"],
            full_args: &["surroundings"],
        }],
    },
    Row {
        number: 18,
        fault: "the tests themselves",
        alone: false,
        parts: &[Part {
            program: Program::Missing(NO_COVERAGE),
            unit: "mutants",
            quick: 0,
            full: 0,
            quick_args: &[],
            full_args: &[],
        }],
    },
];

const NO_COVERAGE: &str = "coverage needs an llvm-profdata as new as rustc's LLVM, and a release \
                           needs cargo-mutants: neither is part of the toolchain";
