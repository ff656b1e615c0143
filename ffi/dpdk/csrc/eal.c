/* The environment: start, stop, threads that poll; and what Rust compares first. */
#include <sched.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "shim.h"

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or newer is needed"
#endif

unsigned px_abi(uint32_t *words, unsigned room)
{
	const uint32_t layout[] = {
		PX_BURST,
		sizeof(struct px_frame),
		offsetof(struct px_frame, mbuf),
		offsetof(struct px_frame, data),
		offsetof(struct px_frame, frame_bytes),
		offsetof(struct px_frame, length),
		offsetof(struct px_frame, segments),
		sizeof(struct px_device),
		offsetof(struct px_device, mac),
		sizeof(struct px_config),
		offsetof(struct px_config, key_bytes),
		sizeof(struct px_started),
		sizeof(struct px_stats),
		sizeof(struct px_xstat),
		sizeof(struct px_link),
	};
	const unsigned count = sizeof(layout) / sizeof(layout[0]);
	for (unsigned i = 0; i < count && i < room; i++)
		words[i] = layout[i];
	return count;
}

int px_eal_start(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) >= 0)
		return 0;
	return rte_errno > 0 ? -rte_errno : -EINVAL;
}

int px_eal_stop(void)
{
	return rte_eal_cleanup();
}

/* The lowest CPU that this thread may run on. */
int px_first_cpu(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return 0;
}

const char *px_error_text(int code)
{
	return rte_strerror(code < 0 ? -code : code);
}

const char *px_version(void)
{
	return rte_version();
}

const char *px_runtime_folder(void)
{
	return rte_eal_get_runtime_dir();
}

int px_lcore_enter(void)
{
	if (rte_thread_register() == 0)
		return 0;
	return rte_errno > 0 ? -rte_errno : -EINVAL;
}

void px_lcore_leave(void)
{
	rte_thread_unregister();
}

int px_lcore_is_registered(void)
{
	return rte_lcore_id() != LCORE_ID_ANY;
}
