/* SPDX-License-Identifier: MIT
 * See tls_watch.h.
 */
#include "watch/tls_watch.h"

#include <openssl/types.h>
#include <stdlib.h>
#include <string.h>

#include "model/spec.h"
#include "tls/changes.h"
#include "tls/context.h"

/* The most changes of a context that are described by texts. */
#define TEXTS_MAX 16

/* Single file: a reading's certificates are freed before the next begins. */
static struct work_queue readings = {.at_once = 1};

/* A [tls] section in one of its roles. */
struct watched_context {
	struct watched_section section;
	char *name;
	struct tls_context *context; /* a reference */
};

struct context_reading {
	struct section_reading reading;
	struct tls_context *context; /* a reference */
	SSL_CTX *present;            /* a reference */
	SSL_CTX *loaded;        /* a reference; NULL: nothing has changed */
	size_t changes;         /* how many there are, see tls_changes */
	char *texts[TEXTS_MAX]; /* the first changes */
};

static struct watched_context *
context_of(struct watched_section *section)
{
	return container_of(section, struct watched_context, section);
}

static struct context_reading *
context_reading_of(struct section_reading *reading)
{
	return container_of(reading, struct context_reading, reading);
}

static void
begin_context(struct watched_section *section, struct section_reading *reading)
{
	struct context_reading *r = context_reading_of(reading);

	r->context = tls_context_ref(context_of(section)->context);
	r->present = tls_context_take(r->context);
}

static void
add_path(void *arg, const char *path, bool is_directory)
{
	if (is_directory)
		interests_add_directory(arg, path);
	else
		interests_add_file(arg, path);
}

static void
find_context_files(
    struct section_reading *reading, struct interests_search *search)
{
	struct context_reading *r = context_reading_of(reading);

	tls_context_each_file_of(
	    r->context, r->loaded ? r->loaded : r->present, add_path, search);
}

static void
keep_change(void *arg, const char *text)
{
	struct context_reading *r = arg;

	if (r->changes < TEXTS_MAX)
		r->texts[r->changes] = strdup(text);
	r->changes++;
}

static void
drop_loaded(struct context_reading *r)
{
	for (size_t i = 0; i < TEXTS_MAX; i++) {
		free(r->texts[i]);
		r->texts[i] = NULL;
	}
	r->changes = 0;
	tls_context_give_back(r->loaded);
	r->loaded = NULL;
}

static void
read_context(struct section_reading *reading)
{
	struct context_reading *r = context_reading_of(reading);

	drop_loaded(r);
	r->loaded = tls_context_load(r->context, r->present, &reading->err);
	reading->ok = r->loaded;
	if (r->loaded &&
	    tls_changes(r->present, r->loaded, keep_change, r) == 0)
		drop_loaded(r);
}

static void
report_changes(const char *name, const struct context_reading *r)
{
	for (size_t i = 0; i < r->changes && i < TEXTS_MAX; i++)
		if (r->texts[i])
			event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls",
			    name, "tls %s: %s", name, r->texts[i]);
	if (r->changes > TEXTS_MAX)
		event_add(EVENT_CERTIFICATE, LOG_LEVEL_INFO, "tls", name,
		    "tls %s: and %zu changes more", name,
		    r->changes - TEXTS_MAX);
}

static bool
apply_context(struct watched_section *section, struct section_reading *reading)
{
	struct context_reading *r = context_reading_of(reading);
	SSL_CTX *loaded = r->loaded;

	if (!loaded)
		return false;
	r->loaded = NULL;
	if (tls_context_exchange(r->context, r->present, loaded))
		report_changes(section->name, r);
	else
		section->due = true; /* a command has changed it meanwhile */
	return true;
}

static void
drop_context_reading(struct section_reading *reading)
{
	struct context_reading *r = context_reading_of(reading);

	drop_loaded(r);
	tls_context_give_back(r->present);
	tls_context_unref(r->context);
}

static void
free_context(struct watched_section *section)
{
	struct watched_context *w = context_of(section);

	tls_context_unref(w->context);
	free(w->name);
	free(w);
}

/* Freeing thousands of certificates takes 100 ms. */
static const struct watched_kind contexts = {
    .section = "tls",
    .files = "certificates",
    .changed = EVENT_CERTIFICATE,
    .refused = EVENT_CERTIFICATE_REFUSED,
    .settle_ms = 1000,
    .queue = &readings,
    .drops_in_job = true,
    .reading_size = sizeof(struct context_reading),
    .begin = begin_context,
    .find = find_context_files,
    .read = read_context,
    .apply = apply_context,
    .drop = drop_context_reading,
    .free = free_context,
};

static struct watched_section *
context_new(const char *name, struct tls_context *context)
{
	struct watched_context *w = calloc(1, sizeof(*w));

	if (w)
		w->name = strdup(name);
	if (!w || !w->name) {
		free(w);
		return NULL;
	}
	w->section.name = w->name;
	w->section.source = w->context = tls_context_ref(context);
	return &w->section;
}

void
tls_watch_follow(struct section_watch *watch, const struct spec *spec)
{
	if (!watch->files.loop)
		return;
	section_watch_begin(watch);
	for (size_t i = 0; i < spec->tls_n; i++) {
		const struct tls_spec *tls = &spec->tls[i];

		for (enum tls_role role = 0; role < TLS_ROLES; role++) {
			struct tls_context *context = tls->context[role];

			if (context && section_watch_misses(watch, context))
				section_watch_add(
				    watch, context_new(tls->name, context));
		}
	}
	section_watch_end(watch);
}

void
tls_watch_start(struct section_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct spec *spec)
{
	section_watch_start(watch, &contexts, loop, timer);
	tls_watch_follow(watch, spec);
}
