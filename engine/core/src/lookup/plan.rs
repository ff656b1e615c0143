//! Hash once: a normalised predicate with the probes of every leaf.
