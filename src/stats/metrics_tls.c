/* SPDX-License-Identifier: MIT
 * See metrics_tls.h.
 */
#include "stats/metrics_tls.h"

#include "stats/metrics_text.h"
#include "tls/context.h"
#include "tls/counters.h"

static uint64_t
read_done(const struct tls_counts *n)
{
	return n->done;
}

static uint64_t
read_resumed(const struct tls_counts *n)
{
	return n->resumed;
}

static uint64_t
read_failed(const struct tls_counts *n)
{
	return n->failed;
}

static uint64_t
read_signatures(const struct tls_counts *n)
{
	return n->key_operations;
}

static uint64_t
read_under_way(const struct tls_counts *n)
{
	uint64_t ended = n->done + n->failed;

	return n->begun > ended ? n->begun - ended : 0;
}

/* The metrics of a section.  read is NULL for alerts. */
static const struct section_metric {
	const char *name, *type, *help;
	uint64_t (*read)(const struct tls_counts *n);
} section_metrics[] = {
    {"lfproxy_tls_handshakes_total", "counter", "TLS handshakes completed",
        read_done},
    {"lfproxy_tls_resumptions_total", "counter",
        "completed handshakes that resumed a session", read_resumed},
    {"lfproxy_tls_failures_total", "counter",
        "handshakes that have failed or were abandoned", read_failed},
    {"lfproxy_tls_handshakes", "gauge", "handshakes under way", read_under_way},
    {"lfproxy_tls_signatures_total", "counter",
        "signatures made with the keys of the section", read_signatures},
    {"lfproxy_tls_alerts_total", "counter",
        "alerts, without close_notify, by name and sender", NULL},
};

size_t
metrics_tls_count(void)
{
	return sizeof(section_metrics) / sizeof(section_metrics[0]);
}

static struct metric_labels
section_labels(const struct tls_spec *tls, enum tls_role role)
{
	return (struct metric_labels){{"tls", tls->name, "peers",
	    role == TLS_ACCEPTS ? "clients" : "servers", NULL}};
}

static void
put_alerts(FILE *out, const char *name, const struct metric_labels *labels,
    const char *sender, const uint64_t counts[TLS_ALERTS])
{
	const struct metric_labels by =
	    metric_labels_with(labels, "sender", sender);

	for (unsigned i = 1; i < TLS_ALERTS; i++) {
		char alert[TLS_ALERT_NAME_SIZE];
		struct metric_labels with;

		if (counts[i] == 0)
			continue;
		with =
		    metric_labels_with(&by, "alert", tls_alert_name(i, alert));
		metric_number(out, name, &with, counts[i]);
	}
}

static void
put_section(FILE *out, const struct section_metric *metric,
    const struct tls_spec *tls, enum tls_role role)
{
	const struct metric_labels labels = section_labels(tls, role);
	struct tls_counts n;

	tls_context_counts(tls->context[role], &n);
	if (metric->read) {
		metric_number(out, metric->name, &labels, metric->read(&n));
		return;
	}
	put_alerts(out, metric->name, &labels, "lfproxy", n.alerts_sent);
	put_alerts(out, metric->name, &labels, "peer", n.alerts_received);
}

void
metrics_put_tls(FILE *out, const struct spec *spec, size_t number)
{
	const struct section_metric *metric = &section_metrics[number];

	metric_begin(out, metric->name, metric->type, metric->help);
	for (size_t i = 0; i < spec->tls_n; i++)
		for (enum tls_role role = 0; role < TLS_ROLES; role++)
			if (spec->tls[i].context[role])
				put_section(out, metric, &spec->tls[i], role);
}

/* Returns a context of the section, or NULL.  Both roles have the same
 * certificates. */
static struct tls_context *
context_of(const struct tls_spec *tls)
{
	return tls->context[TLS_ACCEPTS] ? tls->context[TLS_ACCEPTS]
	                                 : tls->context[TLS_CONNECTS];
}

bool
metrics_put_certificates(FILE *out, const struct spec *spec, size_t *section,
    size_t *cert, bool (*full)(void *arg, FILE *out), void *arg)
{
	static const char name[] =
	    "lfproxy_tls_certificate_expiry_timestamp_seconds";

	if (*section == 0 && *cert == 0)
		metric_begin(out, name, "gauge",
		    "when the certificate expires, in seconds since 1970");
	for (; *section < spec->tls_n; (*section)++, *cert = 0) {
		const struct tls_spec *tls = &spec->tls[*section];
		const struct tls_context *context = context_of(tls);

		for (; context && *cert < tls_context_certs(context);
		     (*cert)++) {
			struct metric_labels labels = {
			    {"tls", tls->name, "file", NULL, NULL}};
			bool staged;

			if (full(arg, out))
				return false;
			labels.pairs[3] =
			    tls_context_cert_file(context, *cert, &staged);
			metric_number(out, name, &labels,
			    (uint64_t)tls_context_cert_end(context, *cert));
		}
	}
	return true;
}
