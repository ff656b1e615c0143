//! Fuzz targets: any bytes in, no crash, no unbounded work or memory, and nothing excluded wrongly.
#![forbid(unsafe_code)]
