/* SPDX-License-Identifier: MIT
 * `show resolvers`: the name servers, and the names that are looked up.  The
 * counters of name servers are HAProxy's, as far as they mean the same.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "commands/listing.h"
#include "control/server_names.h"

#define ADDRS_SHOWN 8

struct resolver_listing {
	struct listing listing;
	size_t server, name, follower; /* the next of each */
};

/* A row: a name, of a server or of a set. */
struct name_row {
	const char *name, *kind, *resolve;
	int family;
	const struct renewal *renewal;
	const struct addr *addrs;
	size_t addrs_n, users;
};

static const char *const mode_names[] = {
    [NAME_ONCE] = "start",
    [NAME_ON_RELOAD] = "reload",
    [NAME_FOLLOWED] = "ttl",
};

/* -- name servers -- */

static void
put_name_server(struct report *r, const struct dns_server *server, bool first)
{
	const struct dns_counts *counts = dns_server_counts(server);

	if (first)
		report_text(r, "Resolvers section resolver\n");
	report_row(r);
	report_json_string(r, "type", "nameserver");
	report_put(r, "name", " nameserver %s:", dns_server_text(server));
	for (size_t i = 0; i < DNS_COUNTS; i++) {
		const char *name = dns_counts_rows[i].name;

		report_text(r, "\n  %s:%*s", name, 12 - (int)strlen(name), "");
		report_put(r, name, "%" PRIu64, dns_counts_at(counts, i));
	}
	report_row_end(r);
}

/* -- names -- */

static const char *
name_state(const struct renewal *renewal)
{
	if (renewal->known)
		return renewal->error ? "kept" : "resolved";
	if (renewal->ever)
		return "lapsed";
	return renewal->error ? "failed" : "asked";
}

static const char *
family_name(int family)
{
	return family == AF_INET ? "ipv4" : family == AF_INET6 ? "ipv6" : "any";
}

static void
put_addrs(struct report *r, const struct name_row *row)
{
	char text[ADDR_TEXT_SIZE];

	report_text(r, ", ");
	report_list(r, "addresses");
	for (size_t i = 0; i < row->addrs_n; i++) {
		addr_host(&row->addrs[i], text);
		report_json_string(r, NULL, text);
		if (i < ADDRS_SHOWN)
			report_text(r, "%s%s", i > 0 ? " " : "", text);
	}
	report_close(r);
	if (row->addrs_n == 0)
		report_text(r, "no address");
	else if (row->addrs_n > ADDRS_SHOWN)
		report_text(r, " and %zu more", row->addrs_n - ADDRS_SHOWN);
}

static void
put_times(struct report *r, const struct renewal *n)
{
	uint64_t now_ms = clock_now_ms();
	uint64_t age_ms = now_ms - n->good_at_ms;
	bool due = !n->asked && n->ask_at_ms > now_ms;
	char age[SPAN_TEXT_SIZE], ttl[SPAN_TEXT_SIZE];

	report_json_known(r, "age_ms", n->ever, age_ms);
	report_json_known(r, "ttl_ms", n->ever, n->ttl_ms);
	report_json_known(r, "next_ms", due, n->ask_at_ms - now_ms);
	report_json(r, "answers", "%" PRIu64, n->answers);
	report_json(r, "failures", "%" PRIu64, n->failures);
	if (n->ever)
		report_text(r, ", age %s, ttl %s", left_text(age_ms, age),
		    left_text(n->ttl_ms, ttl));
}

static void
put_name(struct report *r, const struct name_row *row)
{
	const struct renewal *n = row->renewal;

	report_row(r);
	report_json_string(r, "type", "name");
	report_put(r, "name", " name %s:", row->name);
	report_put(r, "state", " %s", name_state(n));
	report_put(r, "kind", ", %s", row->kind);
	report_put(r, "resolve", " resolve=%s", row->resolve);
	report_json_string(r, "family", family_name(row->family));
	report_json(r, "servers", "%zu", row->users);
	put_addrs(r, row);
	put_times(r, n);
	report_json_string(
	    r, "error", n->error ? dns_error_name(n->error) : NULL);
	report_json_string(
	    r, "error_text", n->error ? dns_error_text(n->error) : NULL);
	if (n->error)
		report_text(r, ", last error: %s", dns_error_text(n->error));
	report_row_end(r);
}

static bool
put_server_name(struct report *r, const struct names *names, size_t i)
{
	const struct name *n = names_first(names);
	struct name_row row = {.kind = "server"};

	for (; n && i > 0; i--)
		n = n->next;
	if (!n)
		return false;
	row.name = n->host;
	row.resolve = mode_names[n->mode];
	row.family = n->family;
	row.renewal = &n->renewal;
	row.addrs = n->addrs;
	row.addrs_n = n->addrs_n;
	row.users = n->users_n;
	put_name(r, &row);
	return true;
}

struct nth_follower {
	size_t left;
	struct dns_follower *found;
};

static void
count_follower(void *arg, struct dns_follower *follower)
{
	struct nth_follower *nth = arg;

	if (nth->left-- == 0)
		nth->found = follower;
}

static bool
put_follower(struct report *r, const struct dns *dns, size_t i)
{
	struct nth_follower nth = {.left = i};
	const struct dns_follower *f;
	struct name_row row = {.resolve = "ttl", .family = AF_UNSPEC};

	dns_each_follower(dns, count_follower, &nth);
	f = nth.found;
	if (!f)
		return false;
	row.name = f->name;
	row.kind = f->kind;
	row.renewal = &f->renewal;
	row.addrs = f->addrs;
	row.addrs_n = row.users = f->addrs_n;
	put_name(r, &row);
	return true;
}

/* -- the answer -- */

/* Writes the next row.  Names that come or go meanwhile may be left out, or
 * shown twice. */
static bool
resolver_listing_step(void *listing, const struct command_env *env)
{
	struct resolver_listing *l = listing;
	const struct server_names *sn = control_names(env->control);
	const struct dns_server *server = dns_server_at(sn->dns, l->server);
	struct report *r = &l->listing.report;

	if (server) {
		put_name_server(r, server, l->server++ == 0);
		return true;
	}
	if (put_server_name(r, sn->names, l->name)) {
		l->name++;
		return true;
	}
	return put_follower(r, sn->dns, l->follower++);
}

bool
run_show_resolvers(struct call *call)
{
	static const struct listing_kind kind = {
	    .size = sizeof(struct resolver_listing),
	    .head = "",
	    .step = resolver_listing_step,
	};
	struct resolver_listing *l =
	    listing_new(call, &kind, call_take_json(call));

	return l && listing_answer(call, &l->listing, true);
}
