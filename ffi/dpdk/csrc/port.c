/* Devices and ports: probe, configure, start, stop. Never on a poll core. */
#include <errno.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "shim.h"

/* Of the hash functions that matter for flows; what the device does not offer is masked. */
#define FUNCTIONS (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_SCTP)

static int port_of(const char *devargs, uint16_t *port)
{
	struct rte_dev_iterator iterator;
	int error = rte_eth_iterator_init(&iterator, devargs);
	if (error != 0)
		return error;
	uint16_t found = rte_eth_iterator_next(&iterator);
	if (found == RTE_MAX_ETHPORTS)
		return -ENODEV;
	rte_eth_iterator_cleanup(&iterator);
	*port = found;
	return 0;
}

/* Plugs a device in. One that is there already (named among EAL's own arguments) is taken. */
int px_probe(const char *devargs, uint16_t *port)
{
	int error = rte_dev_probe(devargs);
	if (error != 0 && error != -EEXIST)
		return error;
	return port_of(devargs, port);
}

int px_device(uint16_t port, struct px_device *out)
{
	struct rte_eth_dev_info info;
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_ether_addr mac;
	int error = rte_eth_dev_info_get(port, &info);
	if (error != 0)
		return error;
	memset(out, 0, sizeof(*out));
	if (rte_eth_dev_get_name_by_port(port, name) == 0)
		px_copy_name(out->name, name);
	if (info.driver_name != NULL)
		px_copy_name(out->driver, info.driver_name);
	if (rte_eth_macaddr_get(port, &mac) == 0)
		memcpy(out->mac, mac.addr_bytes, sizeof(out->mac));
	out->rss_functions = info.flow_type_rss_offloads;
	out->socket = rte_eth_dev_socket_id(port);
	out->rx_queues_max = info.max_rx_queues;
	out->tx_queues_max = info.max_tx_queues;
	out->reta_entries = info.reta_size;
	out->key_bytes = info.hash_key_size;
	return 0;
}

/* Entry i of the table leads to queue i % queues. 0: the device keeps its own table. */
static uint16_t spread(uint16_t port, uint16_t entries, uint16_t queues)
{
	struct rte_eth_rss_reta_entry64 table[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	if (entries == 0 || entries > RTE_ETH_RSS_RETA_SIZE_512)
		return 0;
	memset(table, 0, sizeof(table));
	for (uint16_t i = 0; i < entries; i++) {
		struct rte_eth_rss_reta_entry64 *group = &table[i / RTE_ETH_RETA_GROUP_SIZE];
		group->mask |= UINT64_C(1) << (i % RTE_ETH_RETA_GROUP_SIZE);
		group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = i % queues;
	}
	return rte_eth_dev_rss_reta_update(port, table, entries) == 0 ? entries : 0;
}

static int set_up_queues(uint16_t port, const struct px_config *config, struct px_started *out)
{
	int socket = rte_eth_dev_socket_id(port);
	unsigned node = socket < 0 ? (unsigned)SOCKET_ID_ANY : (unsigned)socket;
	int error;
	out->step = PX_STEP_RX_QUEUE;
	for (uint16_t q = 0; q < config->rx_queues; q++) {
		error = rte_eth_rx_queue_setup(port, q, config->rx_descriptors, node, NULL,
					       config->pool);
		if (error != 0)
			return error;
	}
	out->step = PX_STEP_TX_QUEUE;
	for (uint16_t q = 0; q < config->tx_queues; q++) {
		error = rte_eth_tx_queue_setup(port, q, config->tx_descriptors, node, NULL);
		if (error != 0)
			return error;
	}
	return 0;
}

int px_start(uint16_t port, struct px_config *config, struct px_started *out)
{
	struct rte_eth_conf wanted;
	struct rte_eth_dev_info info;
	int error;
	memset(&wanted, 0, sizeof(wanted));
	memset(out, 0, sizeof(*out));
	out->step = PX_STEP_ASK;
	error = rte_eth_dev_info_get(port, &info);
	if (error != 0)
		return error;
	out->rss_functions = config->rss ? FUNCTIONS & info.flow_type_rss_offloads : 0;
	if (out->rss_functions != 0) {
		wanted.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		wanted.rx_adv_conf.rss_conf.rss_hf = out->rss_functions;
		if (info.hash_key_size != 0 && info.hash_key_size == config->key_bytes) {
			wanted.rx_adv_conf.rss_conf.rss_key = config->key;
			wanted.rx_adv_conf.rss_conf.rss_key_len = config->key_bytes;
		}
	}
	out->step = PX_STEP_CONFIGURE;
	error = rte_eth_dev_configure(port, config->rx_queues, config->tx_queues, &wanted);
	if (error != 0)
		return error;
	error = rte_eth_dev_adjust_nb_rx_tx_desc(port, &config->rx_descriptors,
						 &config->tx_descriptors);
	if (error != 0)
		return error;
	error = set_up_queues(port, config, out);
	if (error != 0)
		return error;
	out->step = PX_STEP_START;
	error = rte_eth_dev_start(port);
	if (error != 0)
		return error;
	if (out->rss_functions != 0)
		out->reta_entries = spread(port, info.reta_size, config->rx_queues);
	/* A mirror port takes frames for anybody. Many virtual devices have no such mode. */
	(void)rte_eth_promiscuous_enable(port);
	return 0;
}

/* net_ring leaves what nobody has received in its ring. Bounded: rings hold at most 64 Ki. */
static void drain(uint16_t port, uint16_t rx_queues)
{
	struct rte_mbuf *mbufs[PX_BURST];
	for (uint16_t q = 0; q < rx_queues; q++) {
		for (unsigned bursts = 0; bursts < 65536 / PX_BURST; bursts++) {
			uint16_t count = rte_eth_rx_burst(port, q, mbufs, PX_BURST);
			if (count == 0)
				break;
			rte_pktmbuf_free_bulk(mbufs, count);
		}
	}
}

/* Stops and closes the port, and plugs its device out. All is tried; the first error is told. */
int px_stop(uint16_t port, int started, uint16_t rx_queues)
{
	struct rte_eth_dev_info info;
	int first = rte_eth_dev_info_get(port, &info);
	struct rte_device *device = first == 0 ? info.device : NULL;
	int error;
	if (started) {
		if (first == 0 && info.driver_name != NULL
		    && strcmp(info.driver_name, "net_ring") == 0)
			drain(port, rx_queues);
		error = rte_eth_dev_stop(port);
		first = first != 0 ? first : error;
	}
	error = rte_eth_dev_close(port);
	first = first != 0 ? first : error;
	if (device != NULL) {
		error = rte_dev_remove(device);
		first = first != 0 ? first : error;
	}
	return first;
}

/* Caches of a thread: as large as a pool of this size allows, at most the library's own limit. */
static uint32_t cache_of(uint32_t mbufs)
{
	uint32_t most = mbufs * 2 / 3 / 2;
	return most < 256 ? most : 256;
}

struct rte_mempool *px_pool(const char *name, uint32_t mbufs, uint16_t room, int socket, int *error)
{
	struct rte_mempool *pool =
		rte_pktmbuf_pool_create(name, mbufs, cache_of(mbufs), 0,
					room + RTE_PKTMBUF_HEADROOM, socket);
	if (pool == NULL)
		*error = rte_errno > 0 ? -rte_errno : -ENOMEM;
	return pool;
}

uint32_t px_pool_in_use(const struct rte_mempool *pool)
{
	return rte_mempool_in_use_count(pool);
}

void px_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}
