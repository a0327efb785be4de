/* SPDX-License-Identifier: MIT
 * `show resolvers`: the name servers, and the names that are looked up.  The
 * counters of name servers are HAProxy's, as far as they mean the same.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "commands/report.h"
#include "servers/server_names.h"

#define ADDRS_SHOWN 8

/* -- name servers -- */

static void
put_name_server(struct report *r, const struct dns_server *server, bool first)
{
	const struct dns_counts *counts = &server->counts;

	if (first)
		report_text(r, "Resolvers section resolver\n");
	report_row(r);
	report_json_string(r, "type", "nameserver");
	report_put(r, "name", " nameserver %s:", server->text);
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
put_addrs(struct report *r, const struct dns_answer *answer)
{
	char text[ADDR_TEXT_SIZE];

	report_text(r, ", ");
	report_list(r, "addresses");
	for (size_t i = 0; i < answer->addrs_n; i++) {
		addr_host(&answer->addrs[i], text);
		report_json_string(r, NULL, text);
		if (i < ADDRS_SHOWN)
			report_text(r, "%s%s", i > 0 ? " " : "", text);
	}
	report_close(r);
	if (answer->addrs_n == 0)
		report_text(r, "no address");
	else if (answer->addrs_n > ADDRS_SHOWN)
		report_text(r, " and %zu more", answer->addrs_n - ADDRS_SHOWN);
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
put_name(struct report *r, const struct name *name)
{
	const struct renewal *n = &name->renewal;
	bool of_set =
	    name->mode == NAME_OF_MEMBERS || name->mode == NAME_OF_SERVICE;

	report_row(r);
	report_json_string(r, "type", "name");
	report_put(r, "name", " name %s:", name->host);
	report_put(r, "state", " %s", name_state(n));
	report_put(r, "kind", ", %s", name_modes[name->mode].kind);
	report_put(r, "resolve", " resolve=%s", name_modes[name->mode].resolve);
	report_json_string(r, "family", family_name(name->family));
	report_json(
	    r, "servers", "%zu", of_set ? name->answer.addrs_n : name->users_n);
	put_addrs(r, &name->answer);
	put_times(r, n);
	report_json_string(
	    r, "error", n->error ? dns_error_name(n->error) : NULL);
	report_json_string(
	    r, "error_text", n->error ? dns_error_text(n->error) : NULL);
	if (n->error)
		report_text(r, ", last error: %s", dns_error_text(n->error));
	report_row_end(r);
}

bool
run_show_resolvers(struct call *call)
{
	const struct server_names *sn = call->env->names;
	const struct dns_server *server;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_head(&r, "");
	for (size_t i = 0; (server = dns_server_at(sn->dns, i)); i++)
		put_name_server(&r, server, i == 0);
	names_for_each (n, sn->names)
		put_name(&r, n);
	report_end(&r);
	return true;
}
