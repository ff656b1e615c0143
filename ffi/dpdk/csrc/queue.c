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
	uint16_t port;
	uint16_t queue;
	uint16_t held;
	struct rte_mbuf *mbufs[PX_BURST];
};

struct px_rxq *px_rxq(uint16_t port, uint16_t queue, int socket)
{
	struct px_rxq *rxq =
		rte_zmalloc_socket("px_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, socket);
	if (rxq != NULL) {
		rxq->port = port;
		rxq->queue = queue;
	}
	return rxq;
}

static inline void give_back(struct px_rxq *rxq)
{
	if (rxq->held != 0)
		rte_pktmbuf_free_bulk(rxq->mbufs, rxq->held);
	rxq->held = 0;
}

void px_rxq_free(struct px_rxq *rxq)
{
	give_back(rxq);
	rte_free(rxq);
}

uint16_t px_rx(struct px_rxq *rxq, struct px_frame *frames)
{
	struct rte_mbuf **mbufs = rxq->mbufs;
	give_back(rxq);
	uint16_t count = rte_eth_rx_burst(rxq->port, rxq->queue, mbufs, PX_BURST);
	rxq->held = count;
	for (uint16_t i = 0; i < count && i < AHEAD; i++)
		rte_prefetch0(mbufs[i]);
	for (uint16_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = mbufs[i];
		if (i + AHEAD < count)
			rte_prefetch0(mbufs[i + AHEAD]);
		frames[i].mbuf = mbufs[i];
		frames[i].data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		frames[i].frame_bytes = mbuf->pkt_len;
		frames[i].length = mbuf->data_len;
		frames[i].segments = mbuf->nb_segs;
		rte_prefetch0(frames[i].data);
	}
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
