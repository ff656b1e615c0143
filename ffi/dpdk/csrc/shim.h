/*
 * The shim's face to Rust. No structure of DPDK crosses it: what Rust mirrors are the px_ structures
 * below, whose sizes and offsets px_abi() tells and Rust compares before anything else is called.
 *
 * Functions that return int give 0, or a negative errno (as DPDK does).
 */
#ifndef PX_SHIM_H
#define PX_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_mempool.h>

/* Frames of one burst. */
#define PX_BURST 64
/* Longest RSS key of any device. */
#define PX_KEY_MAX 64
#define PX_NAME_MAX 64

/* A received frame: its first segment, which is all of it where segments == 1. */
struct px_frame {
	struct rte_mbuf *mbuf;
	const uint8_t *data;
	uint32_t frame_bytes; /* of all segments */
	uint16_t length; /* of the first one */
	uint16_t segments;
};

/* What a device is and can. */
struct px_device {
	char name[PX_NAME_MAX];
	char driver[PX_NAME_MAX];
	uint64_t rss_functions; /* RTE_ETH_RSS_*, those it offers */
	int32_t socket; /* NUMA; negative: any */
	uint16_t rx_queues_max;
	uint16_t tx_queues_max;
	uint16_t reta_entries;
	uint8_t key_bytes; /* 0: not told */
	uint8_t mac[6];
};

/* How a port is to be started. */
struct px_config {
	struct rte_mempool *pool;
	uint8_t key[PX_KEY_MAX];
	uint16_t rx_queues;
	uint16_t tx_queues;
	uint16_t rx_descriptors; /* in: wanted, out: adjusted to the device */
	uint16_t tx_descriptors;
	uint8_t rss; /* spread flows over the queues */
	uint8_t key_bytes;
};

/* What was got. */
struct px_started {
	uint64_t rss_functions; /* in use; 0: the device does not hash */
	uint16_t reta_entries; /* written; 0: the device's own table stands */
	uint16_t step; /* PX_STEP_*, the last one tried */
};

enum px_step { PX_STEP_ASK, PX_STEP_CONFIGURE, PX_STEP_RX_QUEUE, PX_STEP_TX_QUEUE, PX_STEP_START };

struct px_stats {
	uint64_t received;
	uint64_t received_bytes;
	uint64_t missed;
	uint64_t errors;
	uint64_t no_mbuf;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t send_errors;
};

struct px_xstat {
	char name[PX_NAME_MAX];
	uint64_t value;
};

struct px_link {
	uint32_t speed_mbps; /* UINT32_MAX: unknown */
	uint8_t up;
	uint8_t full_duplex;
};

struct px_rxq;

/* Cut where it is too long; always ends with a zero. */
static inline void px_copy_name(char out[PX_NAME_MAX], const char *name)
{
	size_t length = strnlen(name, PX_NAME_MAX - 1);
	memset(out, 0, PX_NAME_MAX);
	memcpy(out, name, length);
}

/* Sizes and offsets of what Rust mirrors; returns how many there are. */
unsigned px_abi(uint32_t *words, unsigned room);

/* What DPDK logs as a warning or worse is kept (the last of it) instead of printed. */
void px_log_keep(void);
uint64_t px_log_mark(void);
size_t px_log_since(uint64_t mark, char *out, size_t room);

int px_eal_start(int argc, char **argv);
int px_eal_stop(void);
int px_first_cpu(void);
const char *px_error_text(int code);
const char *px_version(void);
const char *px_runtime_folder(void);

int px_lcore_enter(void);
void px_lcore_leave(void);
int px_lcore_is_registered(void);

int px_probe(const char *devargs, uint16_t *port);
int px_device(uint16_t port, struct px_device *out);
int px_start(uint16_t port, struct px_config *config, struct px_started *out);
int px_stop(uint16_t port, int started, uint16_t rx_queues);

struct rte_mempool *px_pool(const char *name, uint32_t mbufs, uint16_t room, int socket, int *error);
uint32_t px_pool_in_use(const struct rte_mempool *pool);
void px_pool_free(struct rte_mempool *pool);

struct px_rxq *px_rxq(uint16_t port, uint16_t queue, struct rte_mempool *pool, int socket);
void px_rxq_free(struct px_rxq *rxq);
uint16_t px_rx(struct px_rxq *rxq, struct px_frame *frames);
int px_tx(uint16_t port, uint16_t queue, struct rte_mempool *pool, const uint8_t *frame,
	  uint16_t length);

int px_port_stats(uint16_t port, struct px_stats *out);
int px_xstats(uint16_t port, struct px_xstat *out, unsigned room);
int px_port_link(uint16_t port, struct px_link *out);

#endif
