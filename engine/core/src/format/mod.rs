//! BLMF: the container that filters are stored in (docs/FORMAT.md).
