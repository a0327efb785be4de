/* SPDX-License-Identifier: MIT
 * See metrics_process.h.
 */
#include "stats/metrics_process.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "orders/capacity.h"
#include "process/system_facts.h"
#include "stats/metrics_text.h"
#include "stats/ready.h"

static const struct metric_labels none = {{NULL}};

static void
put_number(FILE *out, const char *name, const char *type, const char *help,
    uint64_t value)
{
	metric_begin(out, name, type, help);
	metric_number(out, name, &none, value);
}

static void
put_time(FILE *out, const char *name, const char *type, const char *help,
    uint64_t us)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, us);
	metric_begin(out, name, type, help);
	metric_text(out, name, &none, text, 1000000);
}

void
metrics_put_ready(FILE *out, const struct command_env *env)
{
	put_number(out, "lfproxy_ready", "gauge",
	    "1 if /readyz answers 200: sessions are served",
	    !unready_reason(env, NULL));
}

static uint64_t
start_us(const struct command_env *env)
{
	return env->instance->model->state->started_wall_us;
}

void
metrics_put_reloads(FILE *out, const struct command_env *env)
{
	const struct reload_status r = env->control->reloads;

	put_number(out, "lfproxy_reload_success", "gauge",
	    "0 if the last reload was refused", !r.last_refused);
	put_time(out, "lfproxy_reload_success_timestamp_seconds", "gauge",
	    "when the last reload took effect, or the start, in seconds since "
	    "1970",
	    r.in_force_us > 0 ? r.in_force_us : start_us(env));
	if (r.ended_us > 0)
		put_time(out, "lfproxy_reload_timestamp_seconds", "gauge",
		    "when the last reload took effect or was refused, in "
		    "seconds since 1970",
		    r.ended_us);
	put_number(out, "lfproxy_reloads_total", "counter",
	    "reloads that took effect", r.done);
	put_number(out, "lfproxy_reloads_refused_total", "counter",
	    "reloads that were refused", r.refused);
}

static uint64_t
time_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

static void
put_limit(FILE *out, const char *name, const char *help, int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0)
		put_number(out, name, "gauge", help, limit.rlim_cur);
}

void
metrics_put_client(FILE *out, const struct command_env *env)
{
	uint64_t descriptors = capacity_descriptors(&env->orders->capacity);
	struct system_process facts;
	struct rusage use;

	if (getrusage(RUSAGE_SELF, &use) == 0)
		put_time(out, "process_cpu_seconds_total", "counter",
		    "CPU time of the process, of user and system",
		    time_us(use.ru_utime) + time_us(use.ru_stime));
	put_time(out, "process_start_time_seconds", "gauge",
	    "start of the process, in seconds since 1970", start_us(env));
	if (descriptors > 0)
		put_number(out, "process_open_fds", "gauge",
		    "open file descriptors", descriptors);
	put_limit(out, "process_max_fds", "limit on open file descriptors",
	    RLIMIT_NOFILE);
	put_limit(out, "process_virtual_memory_max_bytes",
	    "limit on virtual memory in bytes", RLIMIT_AS);
	if (!system_process(&facts))
		return;
	put_number(out, "process_virtual_memory_bytes", "gauge",
	    "virtual memory in bytes", facts.virtual_bytes);
	put_number(out, "process_resident_memory_bytes", "gauge",
	    "resident memory in bytes", facts.resident_bytes);
	put_number(out, "process_threads", "gauge", "threads of the process",
	    facts.threads);
}
