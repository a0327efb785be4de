/* SPDX-License-Identifier: MIT
 * See sets_internal.h: sources of sets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "sets/sets_internal.h"
#include "resolve/discovery_consul.h"
#include "resolve/discovery_dns.h"
#include "resolve/discovery_etcd.h"
#include "resolve/discovery_file.h"
#include "resolve/discovery_name.h"
#include "resolve/file_members.h"

/* The most wrong entries of one report that become events, so that other events
 * are not displaced. */
#define WRONG_TOLD_MAX 20

static bool
same_or_none(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool
set_source_is_of(const struct set_source *source, const struct set_spec *set)
{
	const struct set_spec *of = &source->what;

	return of->kind == set->kind && strcmp(of->source, set->source) == 0 &&
	       same_or_none(of->token, set->token) &&
	       same_or_none(of->ca, set->ca) &&
	       same_or_none(of->cert, set->cert) &&
	       same_or_none(of->key, set->key) &&
	       of->common_name == set->common_name &&
	       of->timeout_ms == set->timeout_ms;
}

static bool
copy_or_none(char **ret, const char *text)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

static bool
copy_source(const struct set_spec *from, struct set_spec *to)
{
	to->kind = from->kind;
	to->common_name = from->common_name;
	to->timeout_ms = from->timeout_ms;
	return copy_or_none(&to->source, from->source) &&
	       copy_or_none(&to->token, from->token) &&
	       copy_or_none(&to->ca, from->ca) &&
	       copy_or_none(&to->cert, from->cert) &&
	       copy_or_none(&to->key, from->key);
}

static void
source_free(struct set_source *source)
{
	list_remove(&source->node);
	timed_task_cancel(&source->confirm);
	discovery_free(source->discovery);
	set_spec_clear(&source->what);
	free(source->report);
	free(source->error);
	free(source);
}

static void
on_confirm(struct timed_task *task, uint64_t now_ms)
{
	struct set_source *source =
	    container_of(task, struct set_source, confirm);

	(void)now_ms;
	if (source->discovery)
		discovery_refresh(source->discovery);
}

struct set_source *
set_source_take(struct sets *sets, const struct set_spec *set)
{
	struct set_source *source;

	list_for_each (node, &sets->sources) {
		source = container_of(node, struct set_source, node);
		if (set_source_is_of(source, set)) {
			source->users++;
			return source;
		}
	}
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	list_init(&source->node);
	source->sets = sets;
	source->users = 1;
	timed_task_init(&source->confirm, &sets->instance->timer, on_confirm);
	if (!copy_source(set, &source->what)) {
		source_free(source);
		return NULL;
	}
	list_append(&sets->sources, &source->node);
	return source;
}

void
set_source_drop(struct set_source *source)
{
	if (source && --source->users == 0)
		source_free(source);
}

/* -- reports -- */

static char *
put_report_text(char **at, const char *text)
{
	char *put = *at;

	*at = stpcpy(*at, text) + 1;
	return put;
}

/* Copies the entries of the report that are wrong, or those that are not.
 * Returns how many there are. */
static size_t
copy_entries(const struct discovered *report, size_t n, bool wrong, char **at,
    struct discovered *to)
{
	size_t copied = 0;

	for (size_t i = 0; i < n; i++) {
		const struct discovered *d = &report[i];

		if ((d->wrong != NULL) != wrong)
			continue;
		to[copied++] =
		    (struct discovered){.key = put_report_text(at, d->key),
		        .address = put_report_text(at, d->address),
		        .options = put_report_text(at, d->options),
		        .note = put_report_text(at, d->note),
		        .wrong = wrong ? put_report_text(at, d->wrong) : NULL};
	}
	return copied;
}

/* Returns a copy of the report in one block, with its members first, and their
 * number; or NULL when memory is short. */
static struct discovered *
copy_report(const struct discovered *report, size_t n, size_t *ret_members)
{
	size_t size = (n + 1) * sizeof(*report);
	struct discovered *copy;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += strlen(report[i].key) + strlen(report[i].address) +
		        strlen(report[i].options) + strlen(report[i].note) +
		        (report[i].wrong ? strlen(report[i].wrong) : 0) + 5;
	copy = malloc(size);
	if (!copy)
		return NULL;
	at = (char *)(copy + n + 1);
	*ret_members = copy_entries(report, n, false, &at, copy);
	(void)copy_entries(report, n, true, &at, copy + *ret_members);
	return copy;
}

/* Returns whether the report, the last one of the source, has the entry among
 * those that are wrong. */
static bool
was_wrong(const struct set_source *source, const struct discovered *entry)
{
	for (size_t i = 0; source->report && i < source->wrong_n; i++) {
		const struct discovered *d = &source->report[source->n + i];

		if (strcmp(d->key, entry->key) == 0 &&
		    strcmp(d->wrong, entry->wrong) == 0)
			return true;
	}
	return false;
}

/* Logs what is wrong in a report, and was not in the one before. */
static void
log_wrong(
    const struct set_source *source, const struct discovered *wrong, size_t n)
{
	size_t told = n < WRONG_TOLD_MAX ? n : WRONG_TOLD_MAX;
	char text[SET_TEXT_SIZE];

	set_source_text(&source->what, text);
	for (size_t i = 0; i < told; i++) {
		const struct discovered *d = &wrong[i];
		bool same = strcmp(d->key, d->note) == 0;

		if (!was_wrong(source, d))
			event_add(EVENT_SET_MEMBER, LOG_LEVEL_ERROR, "servers",
			    source->what.source,
			    "servers from %s: %s%s%s%s is left out: %s", text,
			    d->note, same ? "" : ", '", same ? "" : d->key,
			    same ? "" : "',", d->wrong);
	}
	if (n > told && n != source->wrong_n)
		log_error("servers from %s: %zu more lines are left out", text,
		    n - told);
}

/* Notes an error of the source.  Logs it once: usually the same error comes
 * again. */
static void
note_error(void *arg, const char *why)
{
	struct set_source *source = arg;
	char *copy = strdup(why), text[SET_TEXT_SIZE];

	source->errors++;
	if (!source->error || !copy || strcmp(source->error, why) != 0)
		event_add(EVENT_SET_FAILED, LOG_LEVEL_ERROR, "servers",
		    source->what.source,
		    "servers from %s cannot be read, and stay as they are: %s",
		    set_source_text(&source->what, text), why);
	free(source->error);
	source->error = copy;
}

static void
take_report(void *arg, const struct discovered *members, size_t n)
{
	struct set_source *source = arg;
	size_t good;
	struct discovered *copy = copy_report(members, n, &good);
	char text[SET_TEXT_SIZE];

	if (!copy) {
		note_error(source, "out of memory");
		return;
	}
	log_wrong(source, copy + good, n - good);
	free(source->report);
	source->report = copy;
	source->n = good;
	source->wrong_n = n - good;
	source->reported_ms = clock_now_ms();
	source->reports++;
	if (source->error)
		event_add(EVENT_SET, LOG_LEVEL_INFO, "servers",
		    source->what.source, "servers from %s can be read again",
		    set_source_text(&source->what, text));
	free(source->error);
	source->error = NULL;
	sets_note_report(source->sets, source);
}

/* Returns the HTTP transfers that all sources share, or NULL with err set. */
static struct curl_loop *
transfers(struct sets *sets, struct err *err)
{
	if (!sets->curl && curl_loop_new(sets->instance->loop, &sets->curl) < 0)
		err_oom(err);
	return sets->curl;
}

static struct discovery *
open_over_http(struct set_source *source, const struct discovery_owner *owner,
    struct err *err)
{
	struct ev_loop *loop = source->sets->instance->loop;
	struct discovery_settings settings = set_spec_settings(&source->what);
	struct curl_loop *curl = transfers(source->sets, err);

	if (!curl)
		return NULL;
	return source->what.kind == DISCOVERY_ETCD
	           ? discovery_etcd_new(loop, curl, &settings, *owner)
	           : discovery_consul_new(loop, curl, &settings, *owner);
}

static struct discovery *
open_kind(struct set_source *source, const struct discovery_owner *owner,
    struct err *err)
{
	const struct sets *sets = source->sets;
	const struct set_spec *what = &source->what;
	struct addr_name name;

	err_oom(err);
	switch (what->kind) {
	case DISCOVERY_FILE:
		return discovery_file_new(
		    sets->instance->loop, what->source, owner, err);
	case DISCOVERY_DNS:
		if (!discovery_name_read(what->source, &name, err))
			return NULL;
		return discovery_dns_new(
		    sets->names, name.host, name.port, AF_UNSPEC, *owner);
	case DISCOVERY_SRV:
		return discovery_srv_new(sets->names, what->source, *owner);
	case DISCOVERY_ETCD:
	case DISCOVERY_CONSUL:
		return open_over_http(source, owner, err);
	case DISCOVERY_KINDS:
		break;
	}
	return NULL;
}

void
set_source_open(struct set_source *source)
{
	const struct discovery_owner owner = {
	    .on_members = take_report, .on_error = note_error, .arg = source};
	struct err err;

	if (source->discovery)
		return;
	source->discovery = open_kind(source, &owner, &err);
	if (!source->discovery)
		note_error(source, err.text);
}

void
set_source_read(struct set_source *source)
{
	struct file_members members;
	struct err err;

	if (source->what.kind != DISCOVERY_FILE || source->report ||
	    source->errors > 0)
		return;
	if (!file_members_read(source->what.source, &members, &err)) {
		note_error(source, err.text);
		return;
	}
	take_report(source, members.all, members.n);
	file_members_fini(&members);
}
