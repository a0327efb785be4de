/* SPDX-License-Identifier: MIT
 * See show_info.h.
 */
#include "admin/show_info.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

/* The version of the runtime API that is followed: tools look for 2.x and
 * decide what to ask.  Ours has a key of its own. */
#define API_VERSION  "2.6.0-lfproxy"
#define RELEASE_DATE "2026/11/21"

static void
put(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, "%s: %" PRIu64 "\n", key, value);
}

static void
put_names(FILE *out)
{
	fputs("Name: lfproxy\n"
	      "Version: " API_VERSION "\n"
	      "Release_date: " RELEASE_DATE "\n"
	      "Lfproxy_version: " LFPROXY_VERSION "\n",
	    out);
}

static void
put_uptime(FILE *out, uint64_t s)
{
	fprintf(out,
	    "Uptime: %" PRIu64 "d %" PRIu64 "h%02" PRIu64 "m%02" PRIu64 "s\n",
	    s / 86400, s / 3600 % 24, s / 60 % 60, s % 60);
	put(out, "Uptime_sec", s);
}

static void
put_limits(FILE *out, const struct info_facts *facts)
{
	put(out, "Memmax_MB", 0);
	put(out, "Ulimit-n", facts->descriptors);
	put(out, "Maxsock", facts->descriptors);
	put(out, "Maxconn", facts->sessions_max);
	put(out, "Hard_maxconn", facts->sessions_max);
}

static uint64_t
sessions_so_far(const struct model *model)
{
	uint64_t n = 0;

	for (size_t i = 0; i < model->spec->frontends_n; i++)
		n += counters_sum(
		    model->frontends[i]->counters, COUNTER_SESSIONS);
	return n;
}

/* A connection, a session and a request are the same thing here. */
static void
put_sessions(FILE *out, const struct model *model)
{
	uint64_t so_far = sessions_so_far(model);

	put(out, "CurrConns", atomic_load_relaxed(&model->sessions.now));
	put(out, "CumConns", so_far);
	put(out, "CumReq", so_far);
	put(out, "Maxpipes", 0);
	put(out, "PipesUsed", 0);
	put(out, "PipesFree", 0);
	put(out, "ConnRate", model->rate.per_second);
	put(out, "ConnRateLimit", 0);
	put(out, "MaxConnRate", model->rate.peak);
	put(out, "SessRate", model->rate.per_second);
	put(out, "SessRateLimit", 0);
	put(out, "MaxSessRate", model->rate.peak);
}

/* spec.global.node, or the host's name up to its first dot: a single word. */
static void
put_node(FILE *out, const char *node)
{
	char host[256] = "";

	if (!node && gethostname(host, sizeof(host) - 1) == 0)
		node = host;
	fprintf(out, "node: %s\n", node && node[0] ? node : "localhost");
}

void
show_info_render(
    FILE *out, const struct model *model, const struct info_facts *facts)
{
	put_names(out);
	put(out, "Nbthread", facts->threads);
	put(out, "Nbproc", 1);
	put(out, "Process_num", 1);
	put(out, "Pid", (uint64_t)getpid());
	put_uptime(out, (clock_now_ms() - model->started_ms) / 1000);
	put_limits(out, facts);
	put_sessions(out, model);
	put(out, "Tasks", atomic_load_relaxed(&model->sessions.now));
	put(out, "Run_queue", facts->waiting);
	put_node(out, model->spec->global.node);
	put(out, "Stopping", facts->stopping);
	put(out, "DroppedLogs", log_dropped());
	put(out, "Start_time_sec", model->started_wall_us / 1000000);
}

void
show_info(struct control *control, FILE *out)
{
	struct pools *pools = control_pools(control);
	struct info_facts facts = {
	    .descriptors = control_descriptor_limit(control),
	    .sessions_max = control_session_limit(control),
	    .stopping = control_draining(control),
	};

	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool_status status;

		pool_status(pools_at(pools, i), &status);
		facts.threads += status.threads;
		facts.waiting += status.in_batch;
	}
	show_info_render(out, control_model(control), &facts);
}
