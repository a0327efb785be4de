/* SPDX-License-Identifier: MIT
 * See info.h.
 */
#include "stats/info.h"

#include "process/capabilities.h"
#include "process/root.h"
#include "process/syscall_filter.h"
#include "servers/server_names.h"

#include <inttypes.h>
#include <malloc.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text_out.h"
#include "proxy/proxy.h"
#include "watch/tls_upkeep.h"

#define RELEASE_DATE "2026/11/21"
#define MB           (1024 * 1024)

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

static unsigned
count_listeners(const struct model *model, const struct info_facts *facts)
{
	unsigned n = facts->admin_sockets;

	for (size_t i = 0; i < model->spec->frontends_n; i++)
		n += (unsigned)model->spec->frontends[i].listens_n;
	return n;
}

/* Returns the key `node` of the configuration, or the host name. */
static const char *
node_name(const struct model *model, char *out, size_t size)
{
	if (model->spec->global.node)
		return model->spec->global.node;
	return gethostname(out, size - 1) == 0 && out[0] ? out : "localhost";
}

static void
set_seconds(struct field *field, uint64_t n, unsigned parts, bool floats)
{
	if (floats)
		field_float(field, (double)n / parts);
	else
		field_number(field, n / parts);
}

static uint64_t
percent_resumed(const struct tls_role_status *role)
{
	return role->done_rate > 0
	           ? (role->done_rate - role->full_rate) * 100 / role->done_rate
	           : 0;
}

/* Connections, sessions, requests and tasks are the same in a TCP proxy.
 * Sessions, their buffers and pipes are not on the heap; see `show memory`.
 * Keys of features that lfproxy does not have are 0. */
void
info_read(const struct model *model, const struct info_facts *facts,
    bool floats, struct field ret_fields[INFO_KEYS])
{
	const struct model_state *state = model->state;
	const struct rate *rate = &state->rate;
	const struct splice_status *pipes = &facts->pipes;
	const struct loop_status *loop = &facts->loop;
	const struct tls_role_status *tls_in = &facts->tls->roles[TLS_ACCEPTS];
	const struct tls_role_status *tls_out =
	    &facts->tls->roles[TLS_CONNECTS];
	uint64_t uptime_ms = clock_now_ms() - state->started_ms;
	uint64_t uptime_s = uptime_ms / 1000;
	uint32_t sessions = atomic_load_relaxed(&state->sessions.now);
	uint64_t total = sum_frontends(model, COUNTER_SESSIONS);
	unsigned listeners = count_listeners(model, facts);
	struct mallinfo2 m = mallinfo2();
	size_t heap = m.arena + m.hblkhd, heap_used = m.uordblks + m.hblkhd;
	char host[256] = "", uptime[64];
	const char *node = node_name(model, host, sizeof(host));
	struct field *f = ret_fields;

	snprintf(uptime, sizeof(uptime),
	    "%" PRIu64 "d %" PRIu64 "h%02" PRIu64 "m%02" PRIu64 "s",
	    uptime_s / 86400, uptime_s / 3600 % 24, uptime_s / 60 % 60,
	    uptime_s % 60);
#define NUMBER(n)         field_number(f++, (n));
#define TEXT(text)        field_text(f++, (text));
#define COUNTED(which)    NUMBER(atomic_load_relaxed(&facts->exhaustion->which))
#define SECONDS(n, parts) set_seconds(f++, (n), (parts), floats);

#define X(pos, name, tags, desc, value, ...) value
	INFO_KEYS_TABLE(X)
#undef X
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
	case FIELD_BRIEF:
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
		field_number(
		    &field, atomic_load_relaxed(&exhaustion->count[i]));
		put_key(out, &name, &field, form);
	}
}

#define METRIC(name)      .metric = (name)
#define OWN(name)         .metric = (name), .own = true
#define OWN_US(name)      .metric = (name), .own = true, .parts = 1000000
#define NO_METRIC(reason) .no_metric = (reason)
#define FRACTION(tags)    .float_tags = (tags)

const struct info_key info_keys[INFO_KEYS] = {
#define X(pos, name, tags, desc, value, ...)                                   \
	{{pos, name, tags, desc}, __VA_ARGS__},
    INFO_KEYS_TABLE(X)
#undef X
};

void
info_render(FILE *out, const struct model *model,
    const struct info_facts *facts, enum field_form form, bool floats)
{
	struct field fields[INFO_KEYS];

	info_read(model, facts, floats, fields);
	for (size_t i = 0; i < INFO_KEYS; i++) {
		struct field_name name = info_keys[i].field;

		if (floats && info_keys[i].float_tags)
			name.tags = info_keys[i].float_tags;
		put_key(out, &name, &fields[i], form);
	}
	put_exhaustion(out, facts->exhaustion, form);
	if (form == FIELD_JSON)
		fputs("]\n", out);
	else if (form == FIELD_FLAT)
		fputs("}\n", out);
}

void
info_gather(const struct command_env *env, struct info_facts *ret_facts)
{
	struct pools *pools = env->pools;
	const struct proxy *proxy = &env->instance->proxy;
	const struct proxy_limits *limits = &proxy->limits;

	*ret_facts = (struct info_facts){
	    .name = env->instance->model->spec->global.info_name,
	    .descriptors = env->orders->limits.budget.descriptors,
	    .sessions_max = env->orders->limits.budget.sessions,
	    .maxconn = session_limits_maxconn(&env->orders->limits),
	    .connect_rate = atomic_load_relaxed(&limits->connect_rate),
	    .session_rate = atomic_load_relaxed(&limits->session_rate),
	    .stopping = control_stopping(env->control),
	    .pipes = splice_pool_status(&proxy->pipes),
	    .exhaustion = &proxy->exhaustion,
	    .tls = env->tls_status,
	    .failed_resolutions = names_failures(env->names->names),
	    .former = session_receiver_status(env->lineage->predecessor),
	};
	if (env->admin_view)
		env->admin_view->facts(env->admin, ret_facts);
	else
		ret_facts->idle_percent = 100;
	control_loop_status(env->control, &ret_facts->loop);
	for (size_t i = 0; i < pools_count(pools); i++) {
		struct pool_status status;

		pool_status(pools_at(pools, i), &status);
		ret_facts->threads += status.threads;
		ret_facts->waiting += status.in_batch + status.long_waiting;
	}
}
