/* SPDX-License-Identifier: MIT
 * See info.h.
 */
#include "stats/info.h"

#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text_out.h"
#include "proxy/proxy.h"

#define RELEASE_DATE "2026/11/21"
#define MB           (1024 * 1024)

static void
set_number(struct info *info, enum info_key key, uint64_t value)
{
	field_number(&info->fields[key], value);
}

static void
set_text(struct info *info, enum info_key key, const char *value)
{
	field_text(&info->fields[key], value);
}

static void
read_identity(struct info *info, const struct info_facts *facts)
{
	set_text(info, INFO_NAME, facts->name);
	set_text(info, INFO_VERSION, API_VERSION);
	set_text(info, INFO_RELEASE_DATE, RELEASE_DATE);
	set_text(info, INFO_BUILD, LFPROXY_VERSION);
	set_text(info, INFO_LF_VERSION, LFPROXY_VERSION);
	set_number(info, INFO_NBTHREAD, facts->threads);
	set_number(info, INFO_NBPROC, 1);
	set_number(info, INFO_PROCESS_NUM, 1);
	set_number(info, INFO_PID, (uint64_t)getpid());
	set_number(info, INFO_STOPPING, facts->stopping);
	set_number(info, INFO_DROPPED_LOGS, log_dropped());
	set_number(info, INFO_LF_FAILED_ANSWERS, text_out_failures());
	set_text(info, INFO_TAINTED, "0");
}

static void
read_times(struct info *info, const struct model_state *state)
{
	uint64_t s = (clock_now_ms() - state->started_ms) / 1000;
	char uptime[64];

	snprintf(uptime, sizeof(uptime),
	    "%" PRIu64 "d %" PRIu64 "h%02" PRIu64 "m%02" PRIu64 "s", s / 86400,
	    s / 3600 % 24, s / 60 % 60, s % 60);
	set_text(info, INFO_UPTIME, uptime);
	set_number(info, INFO_UPTIME_SEC, s);
	set_number(info, INFO_START, state->started_wall_us / 1000000);
}

/* Sessions, their buffers and pipes are not on the heap; see `show memory`. */
static void
read_memory(struct info *info)
{
	struct mallinfo2 heap = mallinfo2();
	size_t from_system = heap.arena + heap.hblkhd;
	size_t used = heap.uordblks + heap.hblkhd;

	set_number(info, INFO_POOL_ALLOC_MB, from_system / MB);
	set_number(info, INFO_POOL_USED_MB, used / MB);
	set_number(info, INFO_POOL_ALLOC, from_system);
	set_number(info, INFO_POOL_USED, used);
}

static void
read_limits(struct info *info, const struct info_facts *facts)
{
	set_number(info, INFO_ULIMIT_N, facts->descriptors);
	set_number(info, INFO_MAXSOCK, facts->descriptors);
	set_number(info, INFO_MAXCONN, facts->maxconn);
	set_number(info, INFO_HARD_MAXCONN, facts->sessions_max);
	set_number(info, INFO_MAXPIPES, facts->pipes.max);
	set_number(
	    info, INFO_PIPES_USED, facts->pipes.open - facts->pipes.idle);
	set_number(info, INFO_PIPES_FREE, facts->pipes.idle);
	set_number(info, INFO_LF_PIPES_CREATED, facts->pipes.made);
	set_number(info, INFO_LF_PIPES_SMALL, facts->pipes.small);
	set_number(info, INFO_LF_PIPES_REFUSED, facts->pipes.refused);
	set_number(
	    info, INFO_LF_MAXCONN_REACHED, facts->exhaustion.maxconn_reached);
	set_number(info, INFO_CONN_RATE_LIMIT, facts->connect_rate);
	set_number(info, INFO_SESS_RATE_LIMIT, facts->session_rate);
	set_number(
	    info, INFO_POOL_FAILED, facts->exhaustion.count[RESOURCE_MEMORY]);
}

static uint64_t
sum_frontends(const struct model *model, enum counter counter)
{
	uint64_t n = 0;

	for (size_t i = 0; i < model->spec->frontends_n; i++)
		n += counters_sum(model->frontends[i]->counters, counter);
	return n;
}

uint64_t
info_bytes(const struct model *model)
{
	return sum_frontends(model, COUNTER_BYTES_IN) +
	       sum_frontends(model, COUNTER_BYTES_OUT);
}

/* Connections, sessions and requests are the same in a TCP proxy. */
static void
read_sessions(struct info *info, const struct model *model)
{
	const struct rate *rate = &model->state->rate;
	uint64_t so_far = sum_frontends(model, COUNTER_SESSIONS);
	uint32_t now = atomic_load_relaxed(&model->state->sessions.now);

	set_number(info, INFO_CURR_CONNS, now);
	set_number(info, INFO_TASKS, now);
	set_number(info, INFO_CUM_CONNS, so_far);
	set_number(info, INFO_CUM_REQ, so_far);
	set_number(info, INFO_CONN_RATE, rate->per_second);
	set_number(info, INFO_MAX_CONN_RATE, rate->peak);
	set_number(info, INFO_SESS_RATE, rate->per_second);
	set_number(info, INFO_MAX_SESS_RATE, rate->peak);
	set_number(info, INFO_BYTES_OUT, info_bytes(model));
	set_number(
	    info, INFO_SPLICED_OUT, sum_frontends(model, COUNTER_SPLICED));
}

static void
read_activity(struct info *info, const struct model *model,
    const struct info_facts *facts)
{
	unsigned listeners = facts->admin_sockets;

	for (size_t i = 0; i < model->spec->frontends_n; i++)
		listeners += (unsigned)model->spec->frontends[i].listens_n;
	set_number(info, INFO_RUN_QUEUE, facts->waiting);
	set_number(info, INFO_IDLE_PCT, facts->idle_percent);
	set_number(info, INFO_BYTES_OUT_RATE, facts->bytes_rate);
	set_number(info, INFO_LISTENERS, listeners);
	set_number(info, INFO_JOBS,
	    listeners + facts->admin_clients +
	        atomic_load_relaxed(&model->state->sessions.now));
}

static void
read_loop(struct info *info, const struct loop_status *loop)
{
	set_number(info, INFO_LF_LOOP_ITERATIONS, loop->turns);
	set_number(info, INFO_LF_LOOP_MAX, loop->longest_ns / NS_PER_US);
	set_number(
	    info, INFO_LF_LOOP_MAX_CPU, loop->longest_cpu_ns / NS_PER_US);
	set_number(info, INFO_LF_CHECKS, loop->checks.begun);
	set_number(
	    info, INFO_LF_CHECKS_LATE, loop->checks.longest_ns / NS_PER_US);
}

/* The node is the key `node` of the configuration, or the host name. */
static void
read_node(struct info *info, const char *node)
{
	char host[256] = "";

	if (!node && gethostname(host, sizeof(host) - 1) == 0)
		node = host;
	set_text(info, INFO_NODE, node && node[0] ? node : "localhost");
}

/* Keys of features that lfproxy does not have are 0. */
static void
read_missing_features(struct info *info)
{
	for (enum info_key i = 0; i < INFO_KEYS; i++) {
		if (!info->fields[i].present)
			set_number(info, i, 0);
	}
}

static void
put_key(FILE *out, const struct field_name *name, const struct field *field,
    enum field_form form)
{
	switch (form) {
	case FIELD_PLAIN:
		fprintf(out, "%s: %s\n", name->name, field->text);
		break;
	case FIELD_DESC:
		fprintf(out, "%s: %s:\"%s\"\n", name->name, field->text,
		    name->desc);
		break;
	case FIELD_TYPED:
	case FIELD_TYPED_DESC:
		field_put_typed(out, name, field, form == FIELD_TYPED_DESC);
		break;
	case FIELD_JSON:
		fputs(name->pos == 0 ? "[{" : ",{", out);
		field_put_json(out, name, field);
		break;
	case FIELD_FLAT:
		fputs(name->pos == 0 ? "{" : ",", out);
		field_put_flat(out, name, field);
		break;
	}
}

static void
put_exhaustion(
    FILE *out, const struct exhaustion *exhaustion, enum field_form form)
{
	for (enum resource i = 0; i < RESOURCES; i++) {
		char key[64], desc[96];
		struct field_name name = {
		    .pos = INFO_EXHAUSTION_POS + (unsigned)i,
		    .name = key,
		    .tags = "MCP:u64",
		    .desc = desc,
		};
		struct field field;

		snprintf(key, sizeof(key), "Exhausted_%s", resource_name(i));
		snprintf(desc, sizeof(desc), "times that %s were exhausted",
		    resource_name(i));
		field_number(&field, exhaustion->count[i]);
		put_key(out, &name, &field, form);
	}
}

#define METRIC(name)      .metric = (name)
#define OWN(name)         .metric = (name), .own = true
#define OWN_US(name)      .metric = (name), .own = true, .parts = 1000000
#define NO_METRIC(reason) .no_metric = (reason)
#define NOT_HERE          .no_metric = "lfproxy does not have the feature"

const struct info_key_spec info_keys[INFO_KEYS] = {
#define X(id, pos, name, tags, desc, metric) {{pos, name, tags, desc}, metric},
    INFO_KEYS_TABLE(X)
#undef X
};

void
info_read(const struct model *model, const struct info_facts *facts,
    struct info *ret_info)
{
	memset(ret_info, 0, sizeof(*ret_info));
	read_identity(ret_info, facts);
	read_times(ret_info, model->state);
	read_memory(ret_info);
	read_limits(ret_info, facts);
	read_sessions(ret_info, model);
	read_activity(ret_info, model, facts);
	read_loop(ret_info, &facts->loop);
	read_node(ret_info, model->spec->global.node);
	read_missing_features(ret_info);
}

/* The keys that `show info float` shows as fractions, as in HAProxy, with the
 * tags that they have then. */
static const struct float_key {
	enum info_key key;
	const char *tags;
} float_keys[] = {
    {INFO_UPTIME_SEC, "MDP:flt"},
    {INFO_CONN_RATE, "MRP:flt"},
    {INFO_SESS_RATE, "MRP:flt"},
    {INFO_SSL_RATE, "MRP:flt"},
    {INFO_SSL_FE_KEY_RATE, "MRP:flt"},
    {INFO_SSL_FE_REUSE, "MRP:flt"},
    {INFO_SSL_BE_KEY_RATE, "MRP:flt"},
    {INFO_COMP_IN, "MRP:flt"},
    {INFO_COMP_OUT, "MRP:flt"},
    {INFO_START, "MDP:flt"},
};

/* Rates are counts of whole seconds, so only the times get a fraction. */
static void
use_floats(struct info *info, struct field_name *names,
    const struct model_state *state)
{
	for (size_t i = 0; i < sizeof(float_keys) / sizeof(float_keys[0]); i++)
		names[float_keys[i].key].tags = float_keys[i].tags;
	field_float(&info->fields[INFO_UPTIME_SEC],
	    (double)(clock_now_ms() - state->started_ms) / 1e3);
	field_float(
	    &info->fields[INFO_START], (double)state->started_wall_us / 1e6);
}

void
info_render(FILE *out, const struct model *model,
    const struct info_facts *facts, enum field_form form, bool floats)
{
	struct field_name names[INFO_KEYS];
	struct info info;

	for (enum info_key i = 0; i < INFO_KEYS; i++)
		names[i] = info_keys[i].field;
	info_read(model, facts, &info);
	if (floats)
		use_floats(&info, names, model->state);
	for (enum info_key i = 0; i < INFO_KEYS; i++)
		put_key(out, &names[i], &info.fields[i], form);
	put_exhaustion(out, &facts->exhaustion, form);
	if (form == FIELD_JSON)
		fputs("]\n", out);
	else if (form == FIELD_FLAT)
		fputs("}\n", out);
}

static struct exhaustion
read_exhaustion(const struct exhaustion *shared)
{
	struct exhaustion exhaustion;

	exhaustion.maxconn_reached =
	    atomic_load_relaxed(&shared->maxconn_reached);
	for (enum resource i = 0; i < RESOURCES; i++)
		exhaustion.count[i] = atomic_load_relaxed(&shared->count[i]);
	return exhaustion;
}

void
info_gather(const struct command_env *env, struct info_facts *ret_facts)
{
	struct control *control = env->control;
	struct pools *pools = control_pools(control);
	const struct proxy_limits *limits = &control_proxy(control)->limits;

	*ret_facts = (struct info_facts){
	    .name = control_model(control)->spec->global.info_name,
	    .descriptors = control_descriptor_limit(control),
	    .sessions_max = control_session_limit(control),
	    .maxconn = control_maxconn(control),
	    .connect_rate = atomic_load_relaxed(&limits->connect_rate),
	    .session_rate = atomic_load_relaxed(&limits->session_rate),
	    .stopping = control_stopping(control),
	    .pipes = control_pipes(control),
	    .exhaustion = read_exhaustion(control_exhaustion(control)),
	};
	if (env->admin_view)
		env->admin_view->facts(env->admin, ret_facts);
	else
		ret_facts->idle_percent = 100;
	control_loop_status(control, &ret_facts->loop);
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool_status status;

		pool_status(pools_at(pools, i), &status);
		ret_facts->threads += status.threads;
		ret_facts->waiting += status.in_batch;
	}
}
