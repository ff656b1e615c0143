/*
 * The hot path: one call per burst, which gives the mbufs of the last one back, receives, and
 * describes what has come, so that reading a frame needs no further call.
 */
#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "shim.h"

/* Mbufs ahead whose header is fetched. */
#define AHEAD 4

_Static_assert(sizeof(struct px_frame) == 24, "px_frame is mirrored in Rust");

struct px_rxq {
	struct rte_mempool *pool;
	uint16_t port;
	uint16_t queue;
	uint16_t held;
	/* All that is held goes back to the pool as it is: looked at while it was described. */
	uint16_t plain;
	struct rte_mbuf *mbufs[PX_BURST];
};

struct px_rxq *px_rxq(uint16_t port, uint16_t queue, struct rte_mempool *pool, int socket)
{
	struct px_rxq *rxq =
		rte_zmalloc_socket("px_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, socket);
	if (rxq != NULL) {
		rxq->pool = pool;
		rxq->port = port;
		rxq->queue = queue;
	}
	return rxq;
}

static inline void give_back(struct px_rxq *rxq)
{
	if (rxq->held == 0)
		return;
	if (rxq->plain)
		rte_mempool_put_bulk(rxq->pool, (void *const *)rxq->mbufs, rxq->held);
	else
		rte_pktmbuf_free_bulk(rxq->mbufs, rxq->held);
	rxq->held = 0;
}

void px_rxq_free(struct px_rxq *rxq)
{
	give_back(rxq);
	rte_free(rxq);
}

/* 0: of one segment, in its own buffer, of this pool, and nobody else's. Without a branch. */
static inline uint64_t peculiar(const struct rte_mbuf *mbuf, const struct rte_mempool *pool)
{
	return (uint64_t)(mbuf->nb_segs ^ 1) | (uint64_t)(rte_mbuf_refcnt_read(mbuf) ^ 1)
	       | (mbuf->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL))
	       | ((uintptr_t)mbuf->pool ^ (uintptr_t)pool);
}

uint16_t px_rx(struct px_rxq *rxq, struct px_frame *frames)
{
	struct rte_mbuf **mbufs = rxq->mbufs;
	const struct rte_mempool *pool = rxq->pool;
	give_back(rxq);
	uint16_t count = rte_eth_rx_burst(rxq->port, rxq->queue, mbufs, PX_BURST);
	uint64_t odd = 0;
	for (uint16_t i = 0; i < count && i < AHEAD; i++)
		rte_prefetch0(mbufs[i]);
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		if (i + AHEAD < count)
			rte_prefetch0(mbufs[i + AHEAD]);
		const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		rte_prefetch0(data);
		odd |= peculiar(mbuf, pool);
		frames[i].mbuf = mbuf;
		frames[i].data = data;
		frames[i].frame_bytes = mbuf->pkt_len;
		frames[i].length = mbuf->data_len;
		frames[i].segments = mbuf->nb_segs;
	}
	rxq->held = count;
	rxq->plain = odd == 0;
	return count;
}

/* 1: sent; 0: no room at this moment. */
int px_tx(uint16_t port, uint16_t queue, struct rte_mempool *pool, const uint8_t *frame,
	  uint16_t length)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	if (mbuf == NULL)
		return 0;
	char *room = rte_pktmbuf_append(mbuf, length);
	if (room == NULL) {
		rte_pktmbuf_free(mbuf);
		return -EMSGSIZE;
	}
	memcpy(room, frame, length);
	if (rte_eth_tx_burst(port, queue, &mbuf, 1) == 1)
		return 1;
	rte_pktmbuf_free(mbuf);
	return 0;
}
