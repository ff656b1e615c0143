//! What the world outside is held to, in one place: a length or count that comes from there is
//! compared with one of these before use.

/// Payload of one UDP datagram that fits an Ethernet frame unfragmented over IPv4.
pub const DATAGRAM_BYTES_MAX: usize = 1_472;
/// The same over IPv6.
pub const DATAGRAM_BYTES_MAX_IPV6: usize = 1_452;
/// Longest ingest frame accepted (jumbo frames).
pub const FRAME_BYTES_MAX: usize = 8_972;
/// Lanes of one ingest stream.
pub const LANES_MAX: usize = 64;
/// Batches that may be open at once.
pub const OPEN_BATCHES_MAX: usize = 2;
/// DATA frames of one batch, all lanes together: a queue keeps the digest of each.
pub const FRAMES_PER_BATCH_MAX: usize = 1 << 17;
/// Records of one batch.
pub const RECORDS_PER_BATCH_MAX: u64 = 1 << 26;
/// Partials that a queue reserves at start: those of its open batches and of the stragglers of
/// as many, one for every batch that the sealer works on, and four on their way. With fewer, a
/// few batches that nobody closes would leave none for a healthy one. Only address space is
/// reserved: the last one given back is the next one used, so that pages are touched as deep as
/// the sealer is behind.
pub const PARTIALS_PER_QUEUE: usize = 2 * OPEN_BATCHES_MAX + SEALING_BATCHES_MAX + 4;
/// Events that a queue keeps room for; CLOSE frames are refused past half of it.
pub const QUEUE_EVENTS_MAX: usize = 64;
/// Forgotten batches that a queue remembers, to refuse what comes late.
pub const LATE_BATCHES_MAX: usize = 256;
/// Batches that the sealer works on at once; past it the oldest is given up.
pub const SEALING_BATCHES_MAX: usize = 8;
/// Finished batches that the sealer remembers.
pub const FINISHED_BATCHES_MAX: usize = 1_024;

/// DATA frames of one batch that are asked for again; with more missing it is given up.
pub const REPAIR_FRAMES_MAX: usize = 4_096;
/// Ranges of frames in one request for them.
pub const REPAIR_RANGES_MAX: usize = 512;
/// Batches whose frames are asked for at the same time.
pub const REPAIR_BATCHES_MAX: usize = 2;
/// Bytes of frames that wait between the verification stream and the sealer; past it the stream
/// is not read.
pub const REPAIR_BYTES_MAX: usize = 4 << 20;
/// Ids of deleted batches that are remembered, for those that are not sealed yet.
pub const DELETED_BATCHES_MAX: usize = 1 << 16;

/// Columns of a schema.
pub const COLUMNS_MAX: usize = 256;
/// Bytes of a record.
pub const RECORD_BYTES_MAX: usize = 1_400;
/// Bytes of a column name.
pub const NAME_BYTES_MAX: usize = 64;
/// Bytes of a schema file.
pub const SCHEMA_TEXT_BYTES_MAX: usize = 256 << 10;

/// Nodes (inner and leaves) of a predicate tree.
pub const PREDICATE_NODES_MAX: usize = 1_024;
/// Depth of a predicate tree.
pub const PREDICATE_DEPTH_MAX: usize = 32;
/// Literals of one IN list.
pub const IN_LIST_MAX: usize = 4_096;
/// Literals of a whole predicate tree: each is normalised and hashed before the first probe.
pub const LITERALS_MAX: usize = 4 * IN_LIST_MAX;
/// Bytes of one literal.
pub const LITERAL_BYTES_MAX: usize = RECORD_BYTES_MAX;

/// Keys of a key file: those in use, and those on their way in or out.
pub const MAC_KEYS_MAX: usize = 16;
/// Bytes of a key file.
pub const KEY_TEXT_BYTES_MAX: usize = 16 << 10;
/// Networks of an allow-list.
pub const NETWORKS_MAX: usize = 256;

/// Bytes of a WHERE text.
pub const QUERY_TEXT_BYTES_MAX: usize = 256 << 10;

/// Candidates of one lookup.
pub const CANDIDATES_MAX: usize = 131_072;
/// Connections of the TCP responder; past it a newcomer gets the seat of the most silent one.
pub const LOOKUP_CONNECTIONS_MAX: usize = 64;
/// Lookup messages above `LOOKUP_SHORT_BYTES` that are being read at once.
pub const LOOKUP_LONG_MESSAGES_MAX: usize = 8;
/// A lookup message that any TCP connection may hold.
pub const LOOKUP_SHORT_BYTES: usize = 64 << 10;
/// Longest lookup message over TCP.
pub const LOOKUP_BYTES_MAX: usize = 2 << 20;
/// Longest message of the verification stream.
pub const STREAM_BYTES_MAX: usize = 1 << 20;

/// Bytes of one stored file. A reader takes memory for it twice: as bytes and as filters.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
/// Bytes of the metadata of a stored file.
pub const METADATA_BYTES_MAX: usize = 64 << 10;
