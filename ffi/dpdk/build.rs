//! Builds the C shim and links the shared libraries of DPDK; nothing at all without feature
//! `dpdk`, so that the default build needs cargo only.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "dpdk")]
    if let Err(reason) = shim::build() {
        eprintln!("bloomrf-dpdk: {reason}");
        std::process::exit(1);
    }
}

#[cfg(feature = "dpdk")]
mod shim {
    use std::env;

    /// Oldest release that is supported; what changed since is in the shim's `#if RTE_VERSION`.
    const OLDEST: &str = "22.11";
    const FILES: [&str; 5] = ["log", "eal", "port", "queue", "stats"];
    /// All that the shim calls. Drivers are plugins that EAL loads by itself when it is linked
    /// shared: none is named here. Static linking is not supported: the plugins would bring a
    /// second copy of every global.
    const LIBRARIES: [&str; 5] = ["rte_ethdev", "rte_mbuf", "rte_mempool", "rte_ring", "rte_eal"];

    pub(super) fn build() -> Result<(), String> {
        println!("cargo:rerun-if-changed=csrc");
        let library = pkg_config::Config::new()
            .atleast_version(OLDEST)
            .cargo_metadata(false)
            .probe("libdpdk")
            .map_err(|reason| {
                format!(
                    "feature `dpdk` needs libdpdk {OLDEST} or newer, its headers and pkg-config \
                     (Debian: apt-get install libdpdk-dev pkg-config); build without the feature \
                     to leave poll-mode ports out.\n{reason}"
                )
            })?;
        let mut cc = cc::Build::new();
        cc.files(FILES.map(|name| format!("csrc/{name}.c")));
        // The pkg-config crate drops both: the first has the configuration's macros, and the
        // headers for x86 use SSE4 without asking.
        cc.flag("-include").flag("rte_config.h");
        if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
            cc.flag("-march=corei7");
        }
        for path in &library.include_paths {
            cc.flag("-isystem").flag(path);
        }
        // Optimised in every profile: fortified headers want it, and the burst loop needs it.
        cc.opt_level(3).std("gnu11").warnings(true).extra_warnings(true);
        cc.flag("-U_FORTIFY_SOURCE").flag("-D_FORTIFY_SOURCE=3").flag("-D_GNU_SOURCE");
        cc.flag("-fstack-protector-strong");
        for flag in ["-fstack-clash-protection", "-fcf-protection", "-Wno-psabi"] {
            cc.flag_if_supported(flag);
        }
        cc.try_compile("bloomrf_dpdk_shim").map_err(|reason| format!("the C shim: {reason}"))?;
        for path in &library.link_paths {
            println!("cargo:rustc-link-search=native={}", path.display());
        }
        for name in LIBRARIES.into_iter().chain(log_library(&library.version)) {
            println!("cargo:rustc-link-lib=dylib={name}");
        }
        Ok(())
    }

    /// Logging left EAL for a library of its own in 23.11.
    fn log_library(version: &str) -> Option<&'static str> {
        let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        let release = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        (release >= (23, 11)).then_some("rte_log")
    }
}
