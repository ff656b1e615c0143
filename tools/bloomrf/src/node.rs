//! `bloomrf node run` and `check-config`: thin over the library `bloomrf-node`.

use std::ffi::OsString;
use std::process::ExitCode;

use bloomrf_node::{Config, Node, StartError, config};

use crate::args::{CheckConfigArgs, NodeArgs};
use crate::outcome::{CommandError, Outcome, print};
use crate::signals::Stop;

pub(crate) fn run(args: &NodeArgs) -> Outcome {
    let (config, provenance) =
        Config::load(args.config.as_deref(), variables(args)).map_err(CommandError::misused)?;
    for note in &provenance.notes {
        tracing::info!("{note}");
    }
    let stop = Stop::listen()?;
    let node = Node::start(config).map_err(|error| {
        release();
        match error {
            StartError::Config(_) => CommandError::misused(error),
            _ => CommandError::failed(error),
        }
    })?;
    let ports = node.ports();
    tracing::info!(
        ingest = %ports.ingest, lookup = %ports.lookup, http = %ports.http,
        "filter node runs"
    );
    stop.wait();
    tracing::info!("filter node stops");
    node.stop();
    release();
    Ok(ExitCode::SUCCESS)
}

/// The one node of this process has stopped.
fn release() {
    if let Err(error) = bloomrf_node::shutdown() {
        tracing::warn!("{error}");
    }
}

pub(crate) fn check_config(args: &CheckConfigArgs) -> Outcome {
    let variables = variables(&args.node);
    let text = config::check_config(args.node.config.as_deref(), variables, args.json)
        .map_err(CommandError::misused)?;
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The environment, as the command line changes it: of two variables of one name the later counts.
fn variables(args: &NodeArgs) -> impl Iterator<Item = (OsString, OsString)> {
    let tap = args.tap.iter().flat_map(|link| {
        [("BLOOMRF_LINK", OsString::from(link)), ("BLOOMRF_LINK_USE", OsString::from("tap"))]
    });
    let folder = args.data_dir.iter().map(|path| ("FERMIHDI_BLOOMRF_DATA_DIR", path.into()));
    let given: Vec<_> = tap.chain(folder).map(|(name, value)| (name.into(), value)).collect();
    std::env::vars_os().chain(given)
}
