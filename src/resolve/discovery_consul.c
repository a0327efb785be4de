/* SPDX-License-Identifier: MIT
 * See discovery_consul.h.
 */
#include "resolve/discovery_consul.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/list.h"
#include "resolve/consul_text.h"
#include "resolve/discovery_http.h"
#include "resolve/json_split.h"

/* The most bytes of an instance and of an answer.  An instance has a few
 * kilobytes, and more if its checks have long outputs. */
#define CONSUL_OBJECT_MAX ((size_t)1024 * 1024)
#define CONSUL_ANSWER_MAX ((size_t)64 * 1024 * 1024)

/* An answer that takes less time did not wait for a change. */
#define CONSUL_QUICK_MS 1000

struct consul_source {
	struct discovery discovery;
	struct ev_loop *loop;
	struct discovery_http http;
	struct discovery_call call;
	ev_timer due; /* runs while no call is under way: when the next begins
	               */
	uint64_t asked_ms; /* when the last call began */
	double gap_s;
	char *query, *header;
	bool passing;
	struct json_split split;
	struct member_set *reading; /* members of the answer so far */
	uint64_t index;             /* 0: do not wait */
	uint64_t answer_index;      /* 0: the answer has none */
	bool filtered;              /* the answer, as the token lacks rights */
	uint64_t fingerprint;       /* of the last answer */
};

static void
consul_pause(struct consul_source *source, double seconds)
{
	discovery_call_stop(&source->call);
	ev_timer_stop(source->loop, &source->due);
	ev_now_update(source->loop);
	ev_timer_set(&source->due, seconds, 0.);
	ev_timer_start(source->loop, &source->due);
}

/* Reports a failure, and pauses.  The next query does not wait for a change, so
 * that it shows the end of the failure at once. */
static void
consul_fail(struct consul_source *source, const char *why)
{
	const struct discovery_owner *owner = &source->discovery.owner;

	source->index = 0;
	consul_pause(source, discovery_http_failed(&source->http));
	owner->on_error(owner->arg, why);
}

/* Fails with a sentence that does not name the endpoint yet. */
static void
consul_fail_here(struct consul_source *source, const char *why)
{
	const struct discovery_http *http = &source->http;
	char text[800];

	snprintf(text, sizeof(text), "%s: %s",
	    http->target.endpoints[http->endpoint].url, why);
	consul_fail(source, text);
}

/* -- The answer -- */

/* Returns the value of the header of that name in the line, or NULL. */
static const char *
header_value(const char *line, size_t n, const char *name)
{
	size_t len = strlen(name);

	if (n <= len || strncasecmp(line, name, len) != 0 || line[len] != ':')
		return NULL;
	line += len + 1;
	while (*line == ' ' || *line == '\t')
		line++;
	return line;
}

/* Reads a line of the head.  libcurl passes each line with its line end, where
 * a number ends. */
static void
consul_on_header(void *arg, const char *line, size_t n)
{
	struct consul_source *source = arg;
	const char *value;

	if (n == 0 || line[n - 1] != '\n')
		return;
	value = header_value(line, n, "X-Consul-Index");
	if (value && *value >= '0' && *value <= '9')
		source->answer_index = strtoull(value, NULL, 10);
	value = header_value(line, n, "X-Consul-Results-Filtered-By-ACLs");
	if (value && strncasecmp(value, "true", 4) == 0)
		source->filtered = true;
}

static bool
consul_on_object(void *arg, const char *text, size_t n, struct err *err)
{
	struct consul_source *source = arg;

	return consul_instance_read(
	    text, n, source->passing, source->reading, err);
}

static bool
consul_on_data(void *arg, const char *data, size_t n, struct err *err)
{
	struct consul_source *source = arg;

	return json_split_feed(&source->split, data, n, err);
}

/* Takes over the index of an answer, by the rules of Consul's documentation. */
static void
consul_take_index(struct consul_source *source)
{
	if (source->answer_index < source->index)
		source->index = 0;
	else
		source->index =
		    source->answer_index > 0 ? source->answer_index : 1;
}

/* Returns the time until the next query may begin, in seconds. */
static double
consul_next_gap(struct consul_source *source, bool changed)
{
	uint64_t took_ms = clock_now_ms() - source->asked_ms;
	double left;

	if (changed || took_ms >= CONSUL_QUICK_MS)
		source->gap_s = CONSUL_GAP_S;
	else if ((source->gap_s *= 2) > CONSUL_GAP_MAX_S)
		source->gap_s = CONSUL_GAP_MAX_S;
	left = discovery_http_vary(&source->http, source->gap_s) -
	       (double)took_ms / 1e3;
	return left > 0 ? left : 0;
}

static void
consul_report(struct consul_source *source)
{
	const struct discovery_owner *owner = &source->discovery.owner;
	uint64_t print = consul_fingerprint(source->reading);
	bool changed = print != source->fingerprint;
	struct discovered *members;
	size_t n;

	members = member_set_list(source->reading, &n);
	if (!members) {
		consul_fail_here(source, "out of memory");
		return;
	}
	source->fingerprint = print;
	consul_take_index(source);
	discovery_http_succeeded(&source->http);
	consul_pause(source, consul_next_gap(source, changed));
	owner->on_members(owner->arg, members, n);
	free(members);
}

static void
consul_on_end(void *arg, const char *why)
{
	struct consul_source *source = arg;
	struct err err;

	if (why)
		consul_fail(source, why);
	else if (!json_split_ended(&source->split, &err))
		consul_fail_here(source, err.text);
	else if (source->filtered && member_set_count(source->reading) == 0)
		consul_fail_here(source, "the token has no right to read the "
		                         "service or its nodes");
	else if (!consul_weights_scale(source->reading))
		consul_fail_here(source, "out of memory");
	else
		consul_report(source);
}

/* -- The request -- */

/* Returns the query with index and wait, or NULL when memory is short. */
static char *
consul_target(const struct consul_source *source)
{
	size_t n = strlen(source->query);
	char *target;

	if (source->index == 0)
		return strdup(source->query);
	if (asprintf(&target, "%s%sindex=%" PRIu64 "&wait=%ds", source->query,
	        source->query[n - 1] == '?' ? "" : "&", source->index,
	        CONSUL_WAIT_S) < 0)
		return NULL;
	return target;
}

static bool
consul_ask(struct consul_source *source, struct err *err)
{
	char *target = consul_target(source);
	const struct discovery_request request = {.target = target,
	    .header = source->header,
	    .timeout_ms =
	        source->http.settings.timeout_ms +
	        (source->index > 0 ? CONSUL_WAIT_S * 1000u / 16 * 17 : 0),
	    .answer_max = CONSUL_ANSWER_MAX};
	bool ok;

	member_set_free(source->reading);
	source->reading = member_set_new();
	source->answer_index = 0;
	source->filtered = false;
	source->asked_ms = clock_now_ms();
	json_split_begin(&source->split);
	ok = target && source->reading
	         ? discovery_call_start(&source->call, &request, err)
	         : err_oom(err);
	free(target);
	return ok;
}

static void
consul_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct consul_source *source = timer->data;
	struct err err;

	(void)loop;
	(void)events;
	if (!consul_ask(source, &err))
		consul_fail_here(source, err.text);
}

/* -- The source -- */

static void
consul_refresh(struct discovery *discovery)
{
	struct consul_source *source =
	    container_of(discovery, struct consul_source, discovery);

	source->index = 0;
	consul_pause(source, 0.);
}

static void
consul_free(struct discovery *discovery)
{
	struct consul_source *source =
	    container_of(discovery, struct consul_source, discovery);

	discovery_call_stop(&source->call);
	ev_timer_stop(source->loop, &source->due);
	json_split_fini(&source->split);
	member_set_free(source->reading);
	discovery_http_fini(&source->http);
	free(source->query);
	free(source->header);
	free(source);
}

static const struct discovery_ops consul_ops = {
    .kind = "consul", .refresh = consul_refresh, .free = consul_free};

bool
discovery_consul_check_url(const char *url, struct err *err)
{
	struct discovery_target target;
	char *query;

	if (!discovery_target_parse(url, &target, err))
		return false;
	query = consul_query(&target, err);
	discovery_target_fini(&target);
	free(query);
	return query != NULL;
}

bool
discovery_consul_check(
    const struct discovery_settings *settings, struct err *err)
{
	return discovery_consul_check_url(settings->url, err) &&
	       discovery_http_check(settings, err);
}

static bool
consul_copy_settings(struct consul_source *source)
{
	const char *token = source->http.settings.token;

	source->passing = consul_wants_passing(&source->http.target);
	source->query = consul_query(&source->http.target, NULL);
	if (!source->query)
		return false;
	if (!token ||
	    asprintf(&source->header, "X-Consul-Token: %s", token) >= 0)
		return true;
	source->header = NULL;
	return false;
}

static void
consul_init(struct consul_source *source)
{
	source->call = (struct discovery_call){.on_data = consul_on_data,
	    .on_header = consul_on_header,
	    .on_end = consul_on_end,
	    .arg = source,
	    .http = &source->http};
	source->split = (struct json_split){.kind = JSON_LIST,
	    .object_max = CONSUL_OBJECT_MAX,
	    .on_object = consul_on_object,
	    .arg = source};
	source->gap_s = CONSUL_GAP_S;
	ev_init(&source->due, consul_on_due);
	source->due.data = source;
}

struct discovery *
discovery_consul_new(struct ev_loop *loop, struct curl_loop *curl,
    const struct discovery_settings *settings, struct discovery_owner owner)
{
	struct consul_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->discovery = (struct discovery){&consul_ops, owner};
	source->loop = loop;
	if (!discovery_http_init(&source->http, curl, settings)) {
		free(source);
		return NULL;
	}
	consul_init(source);
	if (!consul_copy_settings(source)) {
		consul_free(&source->discovery);
		return NULL;
	}
	consul_pause(source, 0.);
	return &source->discovery;
}
