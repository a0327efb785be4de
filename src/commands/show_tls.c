/* SPDX-License-Identifier: MIT
 * `show tls`: the [tls] sections in each of their roles, who uses them, what
 * they have counted, and their certificates.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "commands/listing.h"
#include "commands/tls_sections.h"
#include "tls/context.h"
#include "tls/counters.h"
#include "tls/facts.h"
#include "tls/tickets.h"
#include "tls/x509_text.h"
#include "watch/section_watch.h"

/* Users of a section that are listed in text; JSON has all. */
#define USERS_SHOWN 8

struct tls_listing {
	struct listing listing;
	char only[CALL_NAME_SIZE]; /* "": all sections */
	size_t at;                 /* where tls_section_next finds this one */
	bool begun;                /* its head is written */
	size_t cert;               /* the next of its certificates */
};

/* -- the users of a section -- */

struct users {
	struct report *report;
	size_t n;
};

static void
put_user(struct users *users, const char *first, const char *second)
{
	struct report *r = users->report;

	report_object(r, NULL);
	report_json_string(r, "proxy", first);
	report_json_string(r, "name", second);
	report_close(r);
	if (users->n < USERS_SHOWN)
		report_text(
		    r, "%s%s/%s", users->n > 0 ? ", " : "", first, second);
	users->n++;
}

static void
put_user_listens(struct users *users, const struct spec *spec,
    const struct tls_section *section)
{
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; j < f->listens_n; j++)
			if (f->listens[j].tls.is_set &&
			    !f->listens[j].in_range &&
			    &spec->tls[f->listens[j].tls.value] == section->tls)
				put_user(users, f->name, f->listens[j].text);
	}
}

static void
put_user_servers(struct users *users, const struct spec *spec,
    const struct tls_section *section)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		for (size_t j = 0; j < b->servers_n; j++)
			if (server_spec_tls(spec, b, b->servers[j]) ==
			    section->context)
				put_user(users, b->name, b->servers[j]->name);
	}
}

static void
put_users(struct report *r, const struct spec *spec,
    const struct tls_section *section)
{
	struct users users = {r, 0};
	bool accepts = section->role == TLS_ACCEPTS;

	report_text(r, "\n  %-13s", accepts ? "listens" : "servers");
	report_list(r, accepts ? "listens" : "servers");
	if (accepts)
		put_user_listens(&users, spec, section);
	else
		put_user_servers(&users, spec, section);
	report_close(r);
	if (users.n > USERS_SHOWN)
		report_text(r, " and %zu more", users.n - USERS_SHOWN);
	else if (users.n == 0)
		report_text(r, "none");
}

/* -- counters -- */

/* Returns how many handshakes are under way.  The counters are read one after
 * the other, so more may seem to have ended than to have begun. */
static uint64_t
count_under_way(const struct tls_counts *n)
{
	uint64_t ended = n->done + n->failed;

	return n->begun > ended ? n->begun - ended : 0;
}

static void
put_alert_counts(struct report *r, const char *name, const char *label,
    const uint64_t counts[TLS_ALERTS])
{
	bool any = false;

	report_object(r, name);
	/* 0 is close_notify, with which connections end. */
	for (unsigned i = 1; i < TLS_ALERTS; i++) {
		char alert[TLS_ALERT_NAME_SIZE];

		if (counts[i] == 0)
			continue;
		tls_alert_name(i, alert);
		if (!any)
			report_text(r, "\n  %-13s", label);
		report_json(r, alert, "%" PRIu64, counts[i]);
		report_text(
		    r, "%s%s %" PRIu64, any ? ", " : "", alert, counts[i]);
		any = true;
	}
	report_close(r);
}

static void
put_group_counts(
    struct report *r, const struct tls_group_count counts[TLS_GROUPS])
{
	report_object(r, "groups");
	for (unsigned i = 0; i < TLS_GROUPS && counts[i].group != 0; i++) {
		const char *name = tls_group_name(counts[i].group);

		if (!name)
			continue;
		if (i == 0)
			report_text(r, "\n  %-13s", "groups");
		report_json(r, name, "%" PRIu64, counts[i].done);
		report_text(r, "%s%s %" PRIu64, i > 0 ? ", " : "", name,
		    counts[i].done);
	}
	report_close(r);
}

static void
put_counts(struct report *r, const struct tls_context *context)
{
	struct tls_counts n;
	char percent[32];

	tls_context_counts(context, &n);
	report_put(
	    r, "handshakes", "\n  handshakes   %" PRIu64 " done", n.done);
	report_put(r, "resumed", ", %" PRIu64 " resumed", n.resumed);
	snprintf(percent, sizeof(percent), "%.1f%%",
	    n.done > 0 ? 100. * (double)n.resumed / (double)n.done : 0.);
	report_text(r, " (%s)", percent);
	report_put(r, "failed", ", %" PRIu64 " failed", n.failed);
	report_put(
	    r, "under_way", ", %" PRIu64 " under way", count_under_way(&n));
	report_put(
	    r, "signatures", ", %" PRIu64 " signatures", n.key_operations);
	put_group_counts(r, n.groups);
	put_alert_counts(r, "alerts_sent", "alerts sent", n.alerts_sent);
	put_alert_counts(r, "alerts_received", "received", n.alerts_received);
}

static void
put_ticket_key(void *arg, const struct tls_ticket_key_facts *key)
{
	struct users *keys = arg;
	struct report *r = keys->report;
	char age[SPAN_TEXT_SIZE];

	report_object(r, NULL);
	report_json_string(r, "name", key->name);
	report_json_bool(r, "encrypts", key->encrypts);
	report_json_bool(r, "from_file", key->from_file);
	report_json(r, "bits", "%u", key->bits);
	report_json(r, "age_ms", "%" PRIu64, key->age_ms);
	report_close(r);
	if (keys->n++ == 0)
		report_text(r, "\n  %-13s%s, ", "ticket keys",
		    key->from_file ? "from a file" : "own");
	else
		report_text(r, ", ");
	report_text(r, "%s old", span_text(key->age_ms / 1000, age));
}

/* -- certificates -- */

static const char *const ocsp_texts[] = {
    [TLS_OCSP_NONE] = NULL,
    [TLS_OCSP_SENT] = "sent",
    [TLS_OCSP_STALE] = "too old, not sent",
    [TLS_OCSP_NOT_YET] = "not valid yet, not sent",
    [TLS_OCSP_NOT_GOOD] = "not good, not sent",
    [TLS_OCSP_OTHER] = "about another certificate, not sent",
};

static void
put_names(struct report *r, const struct tls_cert_facts *f)
{
	report_list(r, "names");
	for (unsigned i = 0; i < f->names_n; i++) {
		report_json_string(r, NULL, f->names[i]);
		if (i < USERS_SHOWN)
			report_text(r, "%s%s", i > 0 ? " " : "", f->names[i]);
	}
	report_close(r);
	if (f->names_n == 0)
		report_text(r, "no host name");
	else if (f->names_n > USERS_SHOWN)
		report_text(r, " and %u more", f->names_n - USERS_SHOWN);
}

static void
put_tls_cert(void *arg, const struct tls_cert_facts *f)
{
	struct report *r = arg;
	char key[TLS_KEY_TEXT_SIZE], day[TLS_DAY_SIZE];
	int64_t days = (f->not_after - (int64_t)time(NULL)) / 86400;

	report_object(r, NULL);
	report_put(r, "file", "  certificate  %s\n    ", f->file);
	report_json_string(r, "key_file", f->key_file);
	put_names(r, f);
	report_put(r, "key", ", %s", tls_key_text(f, key));
	report_json_string(r, "subject", f->subject);
	report_json_string(r, "issuer", f->issuer);
	report_json_string(r, "serial", f->serial);
	report_json_string(r, "sha256", f->fingerprint);
	report_json(r, "chain", "%u", f->chain_n);
	report_json(r, "not_before", "%" PRId64, f->not_before);
	report_json(r, "not_after", "%" PRId64, f->not_after);
	report_text(r, ", until %s (%" PRId64 " days)",
	    tls_day_text(f->not_after, day), days);
	report_json_string(r, "ocsp", ocsp_texts[f->ocsp]);
	if (ocsp_texts[f->ocsp])
		report_text(r, ", OCSP %s", ocsp_texts[f->ocsp]);
	report_json_bool(r, "default", f->is_default);
	report_json_bool(r, "in_memory", f->in_memory);
	report_json_bool(r, "staged", f->staged);
	report_text(r, "%s%s%s\n", f->is_default ? ", default" : "",
	    f->in_memory ? ", set in memory" : "",
	    f->staged ? ", another is staged" : "");
	report_close(r);
}

/* -- the listing -- */

static void
put_section_head(struct report *r, const struct command_env *env,
    const struct tls_section *section)
{
	const struct spec *spec = env->instance->model->spec;
	const char *failure =
	    section_watch_failure(env->tls_watch, section->tls->name);
	struct users keys = {r, 0};

	report_row(r);
	report_put(r, "name", "tls %s", section->tls->name);
	report_put(r, "peers", ", with %s",
	    section->role == TLS_ACCEPTS ? "clients" : "servers");
	put_users(r, spec, section);
	put_counts(r, section->context);
	report_list(r, "ticket_keys");
	tls_context_each_ticket_key(section->context, put_ticket_key, &keys);
	report_close(r);
	report_json_string(r, "failure", failure);
	if (failure)
		report_text(r, "\n  %-13snot read: %s", "files", failure);
	report_text(r, "\n");
	report_list(r, "certificates");
}

/* Finds the present section. */
static bool
find_present(struct tls_listing *l, const struct spec *spec,
    struct tls_section *ret_section, size_t *ret_next)
{
	for (;;) {
		*ret_next = l->at;
		if (!tls_section_next(spec, ret_next, ret_section))
			return false;
		if (!l->only[0] || strcmp(ret_section->tls->name, l->only) == 0)
			return true;
		l->at = *ret_next;
	}
}

static bool
tls_listing_step(void *listing, const struct command_env *env)
{
	struct tls_listing *l = listing;
	struct report *r = &l->listing.report;
	struct tls_section section;
	size_t next;

	if (!find_present(l, env->instance->model->spec, &section, &next))
		return false;
	if (!l->begun) {
		put_section_head(r, env, &section);
		l->begun = true;
		l->cert = 0;
	} else if (l->cert < tls_context_certs(section.context)) {
		tls_context_cert_at(
		    section.context, l->cert++, put_tls_cert, r);
	} else {
		report_close(r);
		report_close(r);
		l->begun = false;
		l->at = next;
	}
	return true;
}

bool
run_show_tls(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct tls_listing),
	    .head = "",
	    .step = tls_listing_step,
	};
	bool json = call_take_json(call);
	const char *name = call_arg(call, 0);
	struct tls_listing *l;

	if (*name && !tls_section_named(call, name))
		return false;
	l = listing_new(call, &kind, json);
	if (!l)
		return false;
	snprintf(l->only, sizeof(l->only), "%s", name);
	return listing_answer(call, &l->listing, true);
}
