/* DPDK tells its reasons in its log only: the last of it is kept, to be shown with errors. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_log.h>

#include "shim.h"

#define KEPT 8192u

static struct {
	pthread_mutex_t lock;
	uint64_t end; /* bytes ever written */
	char bytes[KEPT];
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static ssize_t keep(void *cookie, const char *text, size_t length)
{
	(void)cookie;
	/* A level below is more severe. Negative: not of rte_log. */
	if (rte_log_cur_msg_loglevel() > (int)RTE_LOG_WARNING)
		return (ssize_t)length;
	pthread_mutex_lock(&kept.lock);
	for (size_t i = 0; i < length; i++)
		kept.bytes[kept.end++ % KEPT] = text[i];
	pthread_mutex_unlock(&kept.lock);
	return (ssize_t)length;
}

void px_log_keep(void)
{
	cookie_io_functions_t functions = { .write = keep };
	FILE *stream = fopencookie(NULL, "w", functions);
	if (stream != NULL)
		rte_openlog_stream(stream);
}

uint64_t px_log_mark(void)
{
	pthread_mutex_lock(&kept.lock);
	uint64_t end = kept.end;
	pthread_mutex_unlock(&kept.lock);
	return end;
}

/* What was written since the mark and is still kept; the last `room` bytes of it. */
size_t px_log_since(uint64_t mark, char *out, size_t room)
{
	size_t length = 0;
	pthread_mutex_lock(&kept.lock);
	uint64_t from = mark;
	uint64_t most = room < KEPT ? room : KEPT;
	if (kept.end - from > most)
		from = kept.end - most;
	while (from < kept.end)
		out[length++] = kept.bytes[from++ % KEPT];
	pthread_mutex_unlock(&kept.lock);
	return length;
}
