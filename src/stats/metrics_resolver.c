/* SPDX-License-Identifier: MIT
 * See metrics_resolver.h.
 */
#include "stats/metrics_resolver.h"

#include "base/clock.h"
#include "stats/metrics_text.h"

static uint64_t
read_resolved(const struct renewal *n)
{
	return n->known;
}

static uint64_t
read_failing(const struct renewal *n)
{
	return n->error != DNS_OK;
}

static uint64_t
read_answers(const struct renewal *n)
{
	return n->answers;
}

static uint64_t
read_failures(const struct renewal *n)
{
	return n->failures;
}

/* Returns the age of the last good answer; 0 before the first one. */
static uint64_t
read_age_s(const struct renewal *n)
{
	return n->ever ? (clock_now_ms() - n->good_at_ms) / 1000 : 0;
}

static const struct name_metric {
	const char *name, *type, *help;
	uint64_t (*read)(const struct renewal *renewal);
	bool errors; /* with the last error as a label, where there is one */
} name_metrics[] = {
    {"lfproxy_name_resolved", "gauge",
        "1 if the name has an address, or a former answer is kept",
        read_resolved, false},
    {"lfproxy_name_error", "gauge",
        "1 for a name whose last look-up failed, with the error", read_failing,
        true},
    {"lfproxy_name_age_seconds", "gauge",
        "time since the last good answer for the name", read_age_s, false},
    {"lfproxy_name_answers_total", "counter", "good answers for the name",
        read_answers, false},
    {"lfproxy_name_failures_total", "counter",
        "look-ups of the name that failed", read_failures, false},
};

#define NAME_METRICS (sizeof(name_metrics) / sizeof(name_metrics[0]))

static void
put_sample(FILE *out, const struct name_metric *m, const struct name *n)
{
	const char *of = n->family == AF_INET    ? "ipv4"
	                 : n->family == AF_INET6 ? "ipv6"
	                                         : "any";
	const struct name_mode_texts *mode = &name_modes[n->mode];
	struct metric_labels labels = {{"name", n->host, "resolve",
	    name_mode_is_servers(n->mode) ? mode->resolve : mode->kind,
	    "family", of, NULL}};

	if (m->errors && n->renewal.error == DNS_OK)
		return;
	if (m->errors)
		labels = metric_labels_with(
		    &labels, "error", dns_error_name(n->renewal.error));
	metric_number(out, m->name, &labels, m->read(&n->renewal));
}

static void
put_name_metric(
    FILE *out, const struct server_names *names, const struct name_metric *m)
{
	metric_begin(out, m->name, m->type, m->help);
	names_for_each (n, names->names)
		put_sample(out, m, n);
}

static void
put_server_metric(FILE *out, const struct server_names *names, size_t row)
{
	const struct dns_server *server;
	char metric[80];

	snprintf(metric, sizeof(metric), "lfproxy_nameserver_%s_total",
	    dns_counts_rows[row].name);
	metric_begin(out, metric, "counter", dns_counts_rows[row].help);
	for (size_t i = 0; (server = dns_server_at(names->dns, i)); i++) {
		const struct metric_labels labels = {
		    {"nameserver", server->text, NULL}};

		metric_number(
		    out, metric, &labels, dns_counts_at(&server->counts, row));
	}
}

size_t
metrics_resolver_count(const struct server_names *names)
{
	return names_count(names->names) > 0 ? DNS_COUNTS + NAME_METRICS : 0;
}

void
metrics_put_resolver(FILE *out, const struct server_names *names, size_t number)
{
	if (number < DNS_COUNTS)
		put_server_metric(out, names, number);
	else
		put_name_metric(out, names, &name_metrics[number - DNS_COUNTS]);
}
