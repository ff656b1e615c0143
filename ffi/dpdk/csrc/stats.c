/* Counters and the state of a port's link. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "shim.h"

int px_port_stats(uint16_t port, struct px_stats *out)
{
	struct rte_eth_stats stats;
	int error = rte_eth_stats_get(port, &stats);
	if (error != 0)
		return error;
	*out = (struct px_stats){
		.received = stats.ipackets,
		.received_bytes = stats.ibytes,
		.missed = stats.imissed,
		.errors = stats.ierrors,
		.no_mbuf = stats.rx_nombuf,
		.sent = stats.opackets,
		.sent_bytes = stats.obytes,
		.send_errors = stats.oerrors,
	};
	return 0;
}

/* The number of counters there are; those that fit are written. */
int px_xstats(uint16_t port, struct px_xstat *out, unsigned room)
{
	int count = rte_eth_xstats_get_names(port, NULL, 0);
	if (count <= 0 || (unsigned)count > room)
		return count;
	struct rte_eth_xstat_name *names = calloc((size_t)count, sizeof(*names));
	struct rte_eth_xstat *values = calloc((size_t)count, sizeof(*values));
	int got = -ENOMEM;
	if (names != NULL && values != NULL) {
		got = rte_eth_xstats_get_names(port, names, (unsigned)count);
		if (got == count)
			got = rte_eth_xstats_get(port, values, (unsigned)count);
	}
	for (int i = 0; got == count && i < count; i++) {
		uint64_t id = values[i].id < (uint64_t)count ? values[i].id : (uint64_t)i;
		px_copy_name(out[i].name, names[id].name);
		out[i].value = values[i].value;
	}
	free(names);
	free(values);
	return got < 0 || got == count ? got : -EAGAIN;
}

int px_port_link(uint16_t port, struct px_link *out)
{
	struct rte_eth_link link;
	memset(&link, 0, sizeof(link));
	int error = rte_eth_link_get_nowait(port, &link);
	if (error != 0)
		return error;
	out->speed_mbps = link.link_speed;
	out->up = link.link_status == RTE_ETH_LINK_UP;
	out->full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	return 0;
}
