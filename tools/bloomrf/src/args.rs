//! The command line, as clap sees it. Nothing here does anything.

use std::net::SocketAddr;
use std::path::PathBuf;

use bloomrf_engine::identity::ClusterId;
use bloomrf_engine::query::Batches;
use bloomrf_engine::verify::HashAlgorithm;
use bloomrf_netio::link::pcap::Speed;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::address;
use crate::batch_ids;
use crate::filter::args::FilterCommand;
use crate::plan::args::{EXAMPLES as PLAN_EXAMPLES, PlanArgs};

/// The operator's binary of the BloomRF filter node: which batches cannot possibly match?
#[derive(Debug, Parser)]
#[command(name = "bloomrf", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How log lines look; what is logged is set by RUST_LOG (such as `info` or `bloomrf=debug`).
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole job on this machine: a cluster, a node, a capture, questions, the truth.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// The filter node itself.
    #[command(subcommand)]
    Node(NodeCommand),
    /// Broadcast a capture file as batches of records.
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Ask a node: of these batches, which cannot match?
    #[command(after_help = LOOKUP_EXAMPLES)]
    Lookup(LookupArgs),
    /// How large a filter, how good, and of which kind: from any two of items, rate and memory.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Filters as files: build, query, info, merge, fold, verify, diff, convert.
    #[command(subcommand)]
    Filter(FilterCommand),
    /// What this machine gives a node, line by line, with the command that mends it.
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Settings of the node to look for, TOML; without it, the defaults.
    #[arg(long, value_name = "FILE", env = "BLOOMRF_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Capture to read (pcap or pcapng, plain or .gz) instead of a synthetic one.
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Packets of the synthetic capture.
    #[arg(long, value_name = "N", default_value_t = 200_000, conflicts_with = "pcap",
          value_parser = clap::value_parser!(u64).range(0..=20_000_000))]
    pub(crate) packets: u64,
    /// Records of a batch [default: a hundredth of the capture, 100 to 50000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=67_108_864))]
    pub(crate) batch_records: Option<u64>,
    /// Seed of the synthetic capture and of the questions.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Questions to ask.
    #[arg(long, value_name = "N", default_value_t = 90,
          value_parser = clap::value_parser!(u64).range(0..=100_000))]
    pub(crate) questions: u64,
    /// Lanes (UDP flows) of the broadcast.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) lanes: u8,
    /// Ingest queues (threads) of the node.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) queues: u8,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave the cluster running until Ctrl-C; print its ports and commands to try.
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Run a filter node until SIGINT or SIGTERM.
    #[command(after_help = NODE_EXAMPLES)]
    Run(NodeArgs),
    /// Print the effective configuration and where each value came from.
    #[command(after_help = NODE_EXAMPLES)]
    CheckConfig(CheckConfigArgs),
}

#[derive(Debug, Args)]
pub(crate) struct NodeArgs {
    /// Configuration file, TOML; FERMIHDI_* and BLOOMRF_* variables win over it.
    #[arg(long, value_name = "FILE", env = "BLOOMRF_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Index the packets of a mirror port or a capture, without any cluster: af_packet:INTERFACE,
    /// dpdk:DEVICE or pcap:FILE. The settings `link` and `link_use` in one.
    #[arg(long, value_name = "LINK")]
    pub(crate) tap: Option<String>,
    /// Folder of the filters: the setting `data_dir`.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckConfigArgs {
    #[command(flatten)]
    pub(crate) node: NodeArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Capture file: pcap or pcapng, plain or .gz.
    pub(crate) file: PathBuf,
    /// Address of a receiver, port 6987 unless stated; may be given several times.
    #[arg(long, required = true, value_name = "ADDR", value_parser = address::ingest)]
    pub(crate) to: Vec<SocketAddr>,
    /// How fast: `original` (as the file's times say), `max`, or records per second, such as 50000
    /// or 50000/s [default: as fast as the socket takes them; with --scc as the node keeps up].
    #[arg(long, alias = "rate", value_name = "SPEED", value_parser = speed)]
    pub(crate) speed: Option<Speed>,
    /// Play the file this many times, with new batch ids; without a number until Ctrl-C.
    #[arg(long = "loop", value_name = "COUNT", num_args = 0..=1,
          value_parser = clap::value_parser!(u64).range(1..))]
    #[expect(clippy::option_option, reason = "absent, without and with a number")]
    pub(crate) passes: Option<Option<u64>>,
    /// Be the cluster's side as well: take the node's verification stream on this address, keep
    /// the batches for as long as the replay runs, and judge the node's hashes. The node's
    /// setting `scc` (BLOOMRF_SCC) must name it.
    #[arg(long, value_name = "ADDR")]
    pub(crate) scc: Option<SocketAddr>,
    /// Records of a batch.
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..=67_108_864))]
    pub(crate) batch_records: u64,
    /// Lanes (UDP flows) of the broadcast.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) lanes: u8,
    /// Choose the lanes' source ports so that they spread evenly over this many queues of the
    /// receiver, and print where each goes. Right for ports that hash flows by Toeplitz with the
    /// symmetric key, as our raw ports do; the sockets of a kernel spread them by a secret.
    #[arg(long, value_name = "QUEUES", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) balance: Option<u8>,
    /// Print one JSON object on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,
    /// Id of the first batch. Ids must never repeat within a cluster.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) first_batch: u64,
    /// Cluster id, up to 32 hexadecimal digits.
    #[arg(long, value_name = "HEX", default_value = "0")]
    pub(crate) cluster: ClusterId,
    /// Elected chain hash: xxh3, blake3 or sha256.
    #[arg(long, value_name = "NAME", default_value_t = HashAlgorithm::Xxh3)]
    pub(crate) hash: HashAlgorithm,
    /// Key file; every frame is sealed with its first key, as a node with `ingest_keys` asks for.
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LookupArgs {
    /// Lookup address of the node, port 6997 unless stated.
    #[arg(long, value_name = "ADDR", value_parser = address::lookup)]
    pub(crate) node: SocketAddr,
    /// Predicate, as in a SQL WHERE clause; `host`, `net` and `port` mean source OR destination.
    #[arg(long = "where", value_name = "TEXT")]
    pub(crate) text: String,
    /// Batches to ask about: all, 7, 1-100, or several with commas between.
    #[arg(long, value_name = "IDS", default_value = "all", value_parser = batch_ids::parse)]
    pub(crate) batches: Batches,
    /// Say for every batch what excluded it, or why nothing did.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Say from when to when the records of each batch to read are.
    #[arg(long, conflicts_with = "explain")]
    pub(crate) times: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Key file; the question is sealed with its first key, and only a reply sealed in return is
    /// believed. Needed where the node has `lookup_keys`.
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
    /// Schema of the records, TOML or JSON [default: the built-in schema `packet`].
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Ask over TCP.
    #[arg(long)]
    pub(crate) tcp: bool,
    /// How long to wait for an answer, milliseconds.
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) timeout_ms: u32,
    /// HTTP address of the node, for `--batches all`, `--times` and `--explain`
    /// [default: the node's host, port 8080].
    #[arg(long, value_name = "ADDR", value_parser = address::http)]
    pub(crate) http: Option<SocketAddr>,
    /// Cluster id, up to 32 hexadecimal digits.
    #[arg(long, value_name = "HEX", default_value = "0")]
    pub(crate) cluster: ClusterId,
}

fn speed(text: &str) -> Result<Speed, String> {
    match text.strip_suffix("/s").unwrap_or(text).parse() {
        Ok(Speed::Rate(rate)) if rate < 0.001 => Err(SPEEDS.to_owned()),
        Ok(speed) => Ok(speed),
        Err(()) => Err(SPEEDS.to_owned()),
    }
}

const SPEEDS: &str = "expected original, max, or records per second, such as 50000 or 50000/s";

const EXAMPLES: &str = "\
Examples:
  bloomrf demo
  bloomrf demo --pcap traffic.pcapng.gz --batch-records 1000
  bloomrf doctor --config node.toml
  bloomrf plan --items 1e8 --fpr 1%
  bloomrf filter build --items 30e6 --fpr 1% members.txt -o members.blmf
  bloomrf node run --config node.toml
  bloomrf replay traffic.pcap --to 127.0.0.1:6987 --speed 50000/s
  bloomrf lookup --node 127.0.0.1 --where \"port = 445 AND net = '10.0.0.0/8'\" --batches 1-100

Exit code: 0 done, 1 failed, 2 misused or bad input.";

const DEMO_EXAMPLES: &str = "\
Examples:
  bloomrf demo                                  a synthetic capture, seed 1
  bloomrf demo --seed 7 --questions 200         another one, more questions
  bloomrf demo --pcap traffic.pcap --keep       your own; then try `bloomrf lookup`
  bloomrf demo --lanes 4 --queues 2 --json      spread over queues, for machines

FERMIHDI_BLOOMRF_TIMEOUT_MS (10) is the budget of one lookup: past it every batch is read.
Exit code: 0 no false negative, 1 failed, 2 misused or not a capture.";

const NODE_EXAMPLES: &str = "\
Examples:
  bloomrf node check-config --config node.toml
  bloomrf node run --config node.toml
  FERMIHDI_BLOOMRF_DATA_DIR=bloomrf-data bloomrf node run
  bloomrf node run --tap af_packet:eth1         every packet of a mirror port, without a cluster
  bloomrf node run --tap pcap:day.pcap,speed=max --data-dir bloomrf-data
  RUST_LOG=debug bloomrf node run --log-format json";

const REPLAY_EXAMPLES: &str = "\
Examples:
  bloomrf replay traffic.pcap --to 127.0.0.1
  bloomrf replay traffic.pcap --to 127.0.0.1 --scc 127.0.0.1:6990   the node verifies it
  bloomrf replay traffic.pcap --to 127.0.0.1:6987 --to 127.0.0.1:7987 --speed 50000/s
  bloomrf replay traffic.pcap --to 10.0.0.7 --lanes 8 --balance 4 --speed original --json
  bloomrf replay traffic.pcapng.gz --to 239.1.2.3 --loop --lanes 4 --first-batch 1000";

const LOOKUP_EXAMPLES: &str = "\
Examples:
  bloomrf lookup --node 127.0.0.1 --where \"dst_port = 445\"
  bloomrf lookup --node 127.0.0.1:6997 --batches 1-100 \\
      --where \"dst_port = 445 AND in_net(src_ip4, '10.0.0.0/8')\"
  bloomrf lookup --node 127.0.0.1 --where \"host = '10.1.2.3'\" --explain
  bloomrf lookup --node 127.0.0.1 --where \"host = '10.1.2.3' AND port = 445\" --times
  bloomrf lookup --node 127.0.0.1 --where \"vlan IS NULL\" --batches 3,5,9 --json --tcp";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  bloomrf doctor                       what a node with the default settings would find here
  bloomrf doctor --config node.toml    what that node would find: cores, pages, link, ports
  bloomrf doctor --json                one object, for machines

Nothing is changed. Run it as the user that the node runs as: rights are that user's.
Exit code: 0 nothing to mend, 1 a line says fail, 2 misused.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn speeds_are_read_with_and_without_unit() {
        assert_eq!(speed("50000/s"), Ok(Speed::Rate(50_000.0)));
        assert_eq!(speed("2.5"), Ok(Speed::Rate(2.5)));
        assert_eq!(speed("original"), Ok(Speed::Original));
        assert_eq!(speed("max"), Ok(Speed::Max));
        for wrong in ["", "/s", "0", "-1", "fast", "inf", "NaN", "0.0001"] {
            assert!(speed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_loop_has_a_count_or_none() {
        let passes = |more: &[&str]| {
            let start = ["bloomrf", "replay", "x.pcap", "--to", "127.0.0.1"];
            match Cli::try_parse_from(start.iter().chain(more)).unwrap().command {
                Command::Replay(args) => args.passes,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(passes(&[]), None);
        assert_eq!(passes(&["--loop"]), Some(None));
        assert_eq!(passes(&["--loop", "--lanes", "2"]), Some(None));
        assert_eq!(passes(&["--loop", "3"]), Some(Some(3)));
    }
}
