/* SPDX-License-Identifier: MIT
 * See discovery_etcd.h.
 */
#include "resolve/discovery_etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "resolve/discovery_http.h"
#include "resolve/etcd_keys.h"
#include "resolve/etcd_text.h"
#include "resolve/json_split.h"

/* A page of keys, and a message of the watch, are read in one turn of the loop,
 * so both are bounded: 256 keys of usual size take less than 1 ms. */
#define ETCD_PAGE_KEYS  256
#define ETCD_OBJECT_MAX (1024 * 1024)
#define ETCD_ANSWER_MAX (ETCD_OBJECT_MAX + 4096)

/* Changes within this time are reported together. */
#define ETCD_REPORT_S .05

/* The pause before keys are read again after a compaction. */
#define ETCD_COMPACTED_S .1

enum etcd_stage { ETCD_PAUSED, ETCD_LOGIN, ETCD_READING, ETCD_WATCHING };

struct etcd_source {
	struct discovery discovery;
	struct ev_loop *loop;
	struct discovery_http http;
	struct discovery_call call;  /* of the stage */
	struct discovery_call probe; /* beside the watch */
	enum etcd_stage stage;
	/* ETCD_PAUSED: the end of the pause.  ETCD_WATCHING: the time at which
	 * the watch must have begun.  The timer does not run in other stages.
	 */
	ev_timer due;
	ev_timer probe_due;
	ev_timer report_due; /* runs while changes have not been reported */
	double reported_at;
	char *header; /* with the token; NULL: none */
	struct json_split split;
	struct etcd_keys keys; /* reported, with all changes since */
	int64_t revision;      /* of what was read; 0: nothing was */
	bool page_read, more;
	bool compacted;
	bool renews; /* the token has expired, and no watch has begun since */
};

/* -- Reports -- */

/* Reports the members.  When memory is short, the changes are reported with
 * those that follow. */
static void
etcd_report(struct etcd_source *source)
{
	const struct discovery_owner *owner = &source->discovery.owner;
	struct discovered *members;
	size_t n;

	ev_timer_stop(source->loop, &source->report_due);
	members = member_set_list(source->keys.members, &n);
	if (!members)
		return;
	source->reported_at = ev_now(source->loop);
	owner->on_members(owner->arg, members, n);
	free(members);
}

static void
etcd_on_report_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	etcd_report(timer->data);
}

static void
etcd_set_timer(struct etcd_source *source, ev_timer *timer, double seconds)
{
	ev_timer_stop(source->loop, timer);
	ev_now_update(source->loop);
	ev_timer_set(timer, seconds, 0.);
	ev_timer_start(source->loop, timer);
}

static void
etcd_report_soon(struct etcd_source *source)
{
	double wait =
	    source->reported_at + ETCD_REPORT_S - ev_now(source->loop);

	if (!ev_is_active(&source->report_due))
		etcd_set_timer(
		    source, &source->report_due, wait > 0. ? wait : 0.);
}

/* -- The end of a stage -- */

static void
etcd_stop(struct etcd_source *source)
{
	discovery_call_stop(&source->call);
	discovery_call_stop(&source->probe);
	ev_timer_stop(source->loop, &source->due);
	ev_timer_stop(source->loop, &source->probe_due);
	etcd_keys_drop(&source->keys);
	source->stage = ETCD_PAUSED;
}

static void
etcd_pause(struct etcd_source *source, double seconds)
{
	etcd_stop(source);
	etcd_set_timer(source, &source->due, seconds);
}

static bool
etcd_logs_in(const struct etcd_source *source)
{
	const char *token = source->http.settings.token;

	return token && strchr(token, ':');
}

/* Returns whether the token of the last login does not hold any more: tokens
 * expire, and changes of users and roles end them. */
static bool
etcd_token_has_ended(const struct etcd_source *source, const char *why)
{
	return source->stage != ETCD_LOGIN && etcd_logs_in(source) &&
	       (strstr(why, "invalid auth token") ||
	           strstr(why, "revision of auth store is old"));
}

/* Reports a failure, after the changes that came before it, and pauses.  The
 * ordinary end of a token is no failure: logs in again, once until a watch has
 * begun. */
static void
etcd_fail(struct etcd_source *source, const char *why)
{
	const struct discovery_owner *owner = &source->discovery.owner;

	if (!source->renews && etcd_token_has_ended(source, why)) {
		source->renews = true;
		etcd_pause(source, 0.);
		return;
	}
	if (ev_is_active(&source->report_due))
		etcd_report(source);
	etcd_pause(source, discovery_http_failed(&source->http));
	owner->on_error(owner->arg, why);
}

/* Fails with a sentence that does not name the endpoint yet. */
static void
etcd_fail_here(struct etcd_source *source, const char *why)
{
	const struct discovery_http *http = &source->http;
	char text[800];

	snprintf(text, sizeof(text), "%s: %s",
	    http->target.endpoints[http->endpoint].url, why);
	etcd_fail(source, text);
}

static void
etcd_probe_later(struct etcd_source *source)
{
	double timeout_s = (double)source->http.settings.timeout_ms / 1e3;

	etcd_set_timer(source, &source->probe_due,
	    discovery_http_vary(
	        &source->http, ETCD_PROBE_TIMEOUTS * timeout_s));
}

/* -- Answers -- */

static bool
etcd_take_page(
    struct etcd_source *source, const char *text, size_t n, struct err *err)
{
	const struct etcd_sink sink = etcd_keys_sink(&source->keys);
	struct etcd_page page;

	if (!etcd_page_read(text, n, &sink, &page, err))
		return false;
	if (page.more && page.n == 0)
		return err_set(err, "etcd's answer is a page without keys");
	source->page_read = true;
	source->more = page.more;
	if (source->revision == 0)
		source->revision = page.revision;
	return true;
}

static bool
etcd_take_news(
    struct etcd_source *source, const char *text, size_t n, struct err *err)
{
	const struct etcd_sink sink = etcd_keys_sink(&source->keys);
	struct etcd_news news;
	bool ok = etcd_news_read(text, n, &sink, &news, err);

	if (etcd_keys_changed(&source->keys))
		etcd_report_soon(source);
	if (!ok)
		return false;
	if (news.compact_revision > 0) {
		source->compacted = true;
		return err_set(err, "the watch was compacted");
	}
	if (news.created && ev_is_active(&source->due)) {
		ev_timer_stop(source->loop, &source->due);
		discovery_http_succeeded(&source->http);
		source->renews = false;
		etcd_probe_later(source);
	}
	return true;
}

static bool
etcd_take_login(
    struct etcd_source *source, const char *text, size_t n, struct err *err)
{
	char *token = etcd_login_read(text, n, err);
	bool ok;

	if (!token)
		return false;
	free(source->header);
	ok = asprintf(&source->header, "Authorization: %s", token) >= 0;
	if (!ok)
		source->header = NULL;
	free(token);
	return ok || err_oom(err);
}

/* Reads an object of the answer.  Runs within libcurl, so it must not end a
 * call and makes no report. */
static bool
etcd_on_object(void *arg, const char *text, size_t n, struct err *err)
{
	struct etcd_source *source = arg;

	switch (source->stage) {
	case ETCD_LOGIN:
		return etcd_take_login(source, text, n, err);
	case ETCD_READING:
		return etcd_take_page(source, text, n, err);
	case ETCD_WATCHING:
		return etcd_take_news(source, text, n, err);
	case ETCD_PAUSED:
		break;
	}
	return true;
}

static bool
etcd_on_data(void *arg, const char *data, size_t n, struct err *err)
{
	struct etcd_source *source = arg;

	return json_split_feed(&source->split, data, n, err);
}

/* -- Requests -- */

static void
etcd_ask(
    struct etcd_source *source, const char *target, char *body, bool bounded)
{
	const struct discovery_request request = {.target = target,
	    .body = body,
	    .header = source->header,
	    .timeout_ms = bounded ? source->http.settings.timeout_ms : 0,
	    .answer_max = bounded ? ETCD_ANSWER_MAX : SIZE_MAX};
	struct err err;

	if (!body)
		err_oom(&err);
	json_split_begin(&source->split);
	if (!body || !discovery_call_start(&source->call, &request, &err))
		etcd_fail_here(source, err.text);
	free(body);
}

static void
etcd_ask_page(struct etcd_source *source)
{
	source->page_read = source->more = false;
	etcd_ask(source, "/v3/kv/range",
	    etcd_range_body(source->keys.prefix, source->keys.from,
	        source->revision, ETCD_PAGE_KEYS),
	    true);
}

static void
etcd_read(struct etcd_source *source)
{
	source->revision = 0;
	source->stage = ETCD_READING;
	if (etcd_keys_begin(&source->keys))
		etcd_ask_page(source);
	else
		etcd_fail_here(source, "out of memory");
}

static void
etcd_watch(struct etcd_source *source)
{
	source->compacted = false;
	source->stage = ETCD_WATCHING;
	etcd_set_timer(source, &source->due,
	    (double)source->http.settings.timeout_ms / 1e3);
	etcd_ask(source, "/v3/watch",
	    etcd_watch_body(source->keys.prefix, source->revision + 1), false);
}

static void
etcd_attempt(struct etcd_source *source)
{
	if (!etcd_logs_in(source)) {
		etcd_read(source);
		return;
	}
	free(source->header);
	source->header = NULL;
	source->stage = ETCD_LOGIN;
	etcd_ask(source, "/v3/auth/authenticate",
	    etcd_login_body(source->http.settings.token), true);
}

/* Asks for the next page, or else reports the keys that were read and begins to
 * watch. */
static void
etcd_read_ended(struct etcd_source *source)
{
	if (source->more) {
		etcd_ask_page(source);
		return;
	}
	etcd_keys_take(&source->keys);
	etcd_watch(source);
	if (source->stage == ETCD_WATCHING)
		etcd_report(source);
}

static void
etcd_on_end(void *arg, const char *why)
{
	struct etcd_source *source = arg;
	struct err err;

	if (source->stage == ETCD_WATCHING && source->compacted)
		etcd_pause(source,
		    discovery_http_vary(&source->http, ETCD_COMPACTED_S));
	else if (why)
		etcd_fail(source, why);
	else if (!json_split_ended(&source->split, &err))
		etcd_fail_here(source, err.text);
	else if (source->stage == ETCD_LOGIN && source->header)
		etcd_read(source);
	else if (source->stage == ETCD_READING && source->page_read)
		etcd_read_ended(source);
	else
		etcd_fail_here(source, source->stage == ETCD_WATCHING
		                           ? "etcd ended the watch"
		                           : "the answer is empty");
}

/* -- Beside the watch -- */

static bool
etcd_on_probe_data(void *arg, const char *data, size_t n, struct err *err)
{
	(void)arg;
	(void)data;
	(void)n;
	(void)err;
	return true;
}

static void
etcd_on_probe_end(void *arg, const char *why)
{
	struct etcd_source *source = arg;

	if (why)
		etcd_fail(source, why);
	else
		etcd_probe_later(source);
}

static void
etcd_on_probe_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct etcd_source *source = timer->data;
	const char *prefix = source->keys.prefix;
	char *body = etcd_range_body(
	    prefix, (struct etcd_bytes){prefix, strlen(prefix)}, 0, 0);
	const struct discovery_request request = {.target = "/v3/kv/range",
	    .body = body,
	    .header = source->header,
	    .timeout_ms = source->http.settings.timeout_ms,
	    .answer_max = ETCD_ANSWER_MAX};
	struct err err;

	(void)loop;
	(void)events;
	/* When memory is short, the next probe tries again. */
	if (!body || !discovery_call_start(&source->probe, &request, &err))
		etcd_on_probe_end(source, NULL);
	free(body);
}

static void
etcd_on_due(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct etcd_source *source = timer->data;

	(void)loop;
	(void)events;
	if (source->stage == ETCD_WATCHING)
		etcd_fail_here(source, "etcd did not begin the watch in time");
	else
		etcd_attempt(source);
}

/* -- The source -- */

static void
etcd_refresh(struct discovery *discovery)
{
	etcd_pause(container_of(discovery, struct etcd_source, discovery), 0.);
}

static void
etcd_free(struct discovery *discovery)
{
	struct etcd_source *source =
	    container_of(discovery, struct etcd_source, discovery);

	etcd_stop(source);
	ev_timer_stop(source->loop, &source->report_due);
	json_split_fini(&source->split);
	etcd_keys_fini(&source->keys);
	discovery_http_fini(&source->http);
	free(source->header);
	free(source);
}

static const struct discovery_ops etcd_ops = {
    .kind = "etcd", .refresh = etcd_refresh, .free = etcd_free};

bool
discovery_etcd_check_url(const char *url, struct err *err)
{
	struct discovery_target target;
	bool ok;

	if (!discovery_target_parse(url, &target, err))
		return false;
	ok = etcd_target_prefix(&target, err) != NULL;
	discovery_target_fini(&target);
	return ok;
}

bool
discovery_etcd_check(const struct discovery_settings *settings, struct err *err)
{
	return discovery_etcd_check_url(settings->url, err) &&
	       discovery_http_check(settings, err);
}

static bool
etcd_copy_settings(struct etcd_source *source)
{
	const char *token = source->http.settings.token;
	const char *prefix = etcd_target_prefix(&source->http.target, NULL);

	if (!prefix || !etcd_keys_init(&source->keys, prefix))
		return false;
	if (!token || etcd_logs_in(source))
		return true;
	if (asprintf(&source->header, "Authorization: %s", token) >= 0)
		return true;
	source->header = NULL;
	return false;
}

static void
etcd_init(struct etcd_source *source)
{
	source->call = (struct discovery_call){.on_data = etcd_on_data,
	    .on_end = etcd_on_end,
	    .arg = source,
	    .http = &source->http};
	source->probe = (struct discovery_call){.on_data = etcd_on_probe_data,
	    .on_end = etcd_on_probe_end,
	    .arg = source,
	    .http = &source->http};
	source->split = (struct json_split){.kind = JSON_OBJECTS,
	    .object_max = ETCD_OBJECT_MAX,
	    .on_object = etcd_on_object,
	    .arg = source};
	ev_init(&source->due, etcd_on_due);
	ev_init(&source->probe_due, etcd_on_probe_due);
	ev_init(&source->report_due, etcd_on_report_due);
	source->due.data = source->probe_due.data = source->report_due.data =
	    source;
}

struct discovery *
discovery_etcd_new(struct ev_loop *loop, struct curl_loop *curl,
    const struct discovery_settings *settings, struct discovery_owner owner)
{
	struct etcd_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->discovery = (struct discovery){&etcd_ops, owner};
	source->loop = loop;
	if (!discovery_http_init(&source->http, curl, settings)) {
		free(source);
		return NULL;
	}
	etcd_init(source);
	if (!etcd_copy_settings(source)) {
		etcd_free(&source->discovery);
		return NULL;
	}
	etcd_pause(source, 0.);
	return &source->discovery;
}
