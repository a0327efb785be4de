/* SPDX-License-Identifier: MIT
 * See tls_upkeep.h.
 */
#include "watch/tls_upkeep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/spec.h"
#include "tls/context.h"
#include "tls/counters.h"
#include "tls/x509_text.h"

/* The interval at which the certificates are looked at.  A change by a file or
 * a command is noticed within this time. */
#define UPKEEP_MS 5000

struct tls_warned {
	char *file;
	int64_t end;       /* of the certificate's validity */
	int64_t warned_at; /* since 1970 */
};

/* -- rates -- */

static void
add_counts(struct tls_role_status *sum, const struct tls_context *context)
{
	struct tls_counts n;

	tls_context_counts(context, &n);
	sum->begun += n.begun;
	sum->done += n.done;
	sum->resumed += n.resumed;
	sum->ended += n.ended;
	sum->cache_hits += n.cache_hits;
	sum->cache_misses += n.cache_misses;
}

/* Returns the increase, or 0 if the sum has decreased: the counters of a
 * section go when a reload removes it. */
static uint64_t
difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t
full_handshakes(const struct tls_role_status *n)
{
	return difference(n->done, n->resumed);
}

static void
set_rates(struct tls_role_status *status, const struct tls_role_status *sum)
{
	uint64_t done = difference(sum->done, status->done);
	uint64_t full =
	    difference(full_handshakes(sum), full_handshakes(status));

	status->begun = sum->begun;
	status->done = sum->done;
	status->resumed = sum->resumed;
	status->ended = sum->ended;
	status->cache_hits = sum->cache_hits;
	status->cache_misses = sum->cache_misses;
	status->done_rate = done;
	status->full_rate = full;
	if (done > status->done_peak)
		status->done_peak = done;
	if (full > status->full_peak)
		status->full_peak = full;
}

static void
count_handshakes(struct tls_upkeep *upkeep, const struct spec *spec)
{
	for (enum tls_role role = 0; role < TLS_ROLES; role++) {
		struct tls_role_status sum = {.begun = 0};

		for (size_t i = 0; i < spec->tls_n; i++)
			if (spec->tls[i].context[role])
				add_counts(&sum, spec->tls[i].context[role]);
		set_rates(&upkeep->status.roles[role], &sum);
	}
}

/* -- expiry -- */

/* A look at all certificates, which makes a new list of those that were warned
 * of. */
struct expiry_round {
	struct tls_upkeep *upkeep;
	struct tls_warned *warned; /* the new list */
	size_t n, room;
	size_t
	    hint; /* in the former list: where the next one is likely to be */
	int64_t now;
};

/* Returns when the certificate was last warned of, or 0. */
static int64_t
last_warning(struct expiry_round *round, const char *file, int64_t end)
{
	const struct tls_upkeep *upkeep = round->upkeep;

	for (size_t i = 0; i < upkeep->warned_n; i++) {
		size_t at = (round->hint + i) % upkeep->warned_n;
		const struct tls_warned *warned = &upkeep->warned[at];

		if (warned->end != end || strcmp(warned->file, file) != 0)
			continue;
		round->hint = at + 1;
		return warned->warned_at;
	}
	return 0;
}

static void
warn_of_expiry(const char *section, const char *file, int64_t end, int64_t now)
{
	uint64_t days = end > now ? (uint64_t)(end - now) / 86400 : 0;
	char day[TLS_DAY_SIZE];

	tls_day_text(end, day);
	if (end > now)
		event_add(EVENT_CERTIFICATE_EXPIRES, LOG_LEVEL_WARNING, "tls",
		    section,
		    "tls %s: certificate '%s' expires in %" PRIu64
		    " day%s, on %s",
		    section, file, days, text_s(days), day);
	else
		event_add(EVENT_CERTIFICATE_EXPIRES, LOG_LEVEL_WARNING, "tls",
		    section,
		    "tls %s: certificate '%s' has expired on %s; it is "
		    "refused by peers that verify it",
		    section, file, day);
}

/* Adds the certificate to the new list.  Without memory, the warning comes once
 * more. */
static void
note_warned(struct expiry_round *round, const char *file, int64_t end,
    int64_t warned_at)
{
	struct tls_warned *grown =
	    grow(round->warned, round->n, &round->room, sizeof(*grown));
	char *copy = grown ? strdup(file) : NULL;

	if (grown)
		round->warned = grown;
	if (copy)
		grown[round->n++] = (struct tls_warned){
		    .file = copy, .end = end, .warned_at = warned_at};
}

static void
check_context(struct expiry_round *round, const char *section,
    const struct tls_context *context)
{
	struct tls_status *status = &round->upkeep->status;
	size_t n = tls_context_certs(context);

	for (size_t i = 0; i < n; i++) {
		int64_t end = tls_context_cert_end(context, i), warned_at;
		const char *file;
		bool staged;

		if (!status->any || end < status->first_end)
			status->first_end = end;
		status->any = true;
		if (end - round->now >= TLS_EXPIRY_WARNING_S)
			continue;
		status->expiring++;
		file = tls_context_cert_file(context, i, &staged);
		warned_at = last_warning(round, file, end);
		if (round->now - warned_at >= TLS_EXPIRY_REPEAT_S) {
			warn_of_expiry(section, file, end, round->now);
			warned_at = round->now;
		}
		note_warned(round, file, end, warned_at);
	}
}

static void
warned_free(struct tls_upkeep *upkeep)
{
	for (size_t i = 0; i < upkeep->warned_n; i++)
		free(upkeep->warned[i].file);
	free(upkeep->warned);
}

static void
check_expiry(struct tls_upkeep *upkeep, const struct spec *spec)
{
	struct expiry_round round = {
	    .upkeep = upkeep, .now = (int64_t)time(NULL)};

	upkeep->status.expiring = 0;
	upkeep->status.any = false;
	for (size_t i = 0; i < spec->tls_n; i++) {
		const struct tls_spec *tls = &spec->tls[i];

		/* The contexts of both roles have the same certificates. */
		if (tls->context[TLS_ACCEPTS])
			check_context(
			    &round, tls->name, tls->context[TLS_ACCEPTS]);
		else if (tls->context[TLS_CONNECTS])
			check_context(
			    &round, tls->name, tls->context[TLS_CONNECTS]);
	}
	warned_free(upkeep);
	upkeep->warned = round.warned;
	upkeep->warned_n = round.n;
}

/* Rotates the ticket keys that are due.  Handshakes do this as well, but
 * without any, old keys would stay. */
static void
rotate_tickets(const struct spec *spec)
{
	for (size_t i = 0; i < spec->tls_n; i++)
		if (spec->tls[i].context[TLS_ACCEPTS])
			tls_context_rotate_tickets(
			    spec->tls[i].context[TLS_ACCEPTS]);
}

void
tls_upkeep_second(struct tls_upkeep *upkeep, const struct spec *spec)
{
	uint64_t now_ms = clock_now_ms();

	if (spec->tls_n == 0 && !upkeep->status.any)
		return;
	count_handshakes(upkeep, spec);
	if (upkeep->looked_ms > 0 && now_ms - upkeep->looked_ms < UPKEEP_MS)
		return;
	upkeep->looked_ms = now_ms;
	check_expiry(upkeep, spec);
	rotate_tickets(spec);
}

void
tls_upkeep_fini(struct tls_upkeep *upkeep)
{
	warned_free(upkeep);
	*upkeep = (struct tls_upkeep){.warned = NULL};
}
