/* SPDX-License-Identifier: MIT
 * See metrics_text.h.
 */
#include "stats/metrics_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/printable.h"

/* The bounds of histograms, as exponents of 2: from 2 us to 34 s, each four
 * times the previous one. */
#define BOUND_FIRST 11
#define BOUND_LAST  35
#define BOUND_STEP  2

static void
put_escaped_text(FILE *out, const char *text)
{
	while (*text) {
		size_t len = printable_length(text);

		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else if (len > 0)
			fwrite(text, 1, len, out);
		else
			putc('?', out);
		text += len > 0 ? len : 1;
	}
}

struct metric_labels
metric_labels_with(
    const struct metric_labels *labels, const char *name, const char *value)
{
	struct metric_labels with = *labels;
	size_t n = 0;

	while (with.pairs[n])
		n += 2;
	with.pairs[n] = name;
	with.pairs[n + 1] = value;
	return with;
}

void
metric_begin(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s ", name);
	put_escaped_text(out, help);
	fprintf(out, "\n# TYPE %s %s\n", name, type);
}

/* Writes `name_suffix{a="1",b="2"} `, with the label le if bound is not NULL.
 */
static void
begin_sample(FILE *out, const char *name, const char *suffix,
    const struct metric_labels *labels, const char *bound)
{
	char separator = '{';

	fprintf(out, "%s%s", name, suffix);
	for (const char *const *p = labels->pairs; p[0]; p += 2) {
		fprintf(out, "%c%s=\"", separator, p[0]);
		put_escaped_text(out, p[1]);
		putc('"', out);
		separator = ',';
	}
	if (bound) {
		fprintf(out, "%cle=\"%s\"", separator, bound);
		separator = ',';
	}
	if (separator == ',')
		putc('}', out);
	putc(' ', out);
}

void
metric_number(FILE *out, const char *name, const struct metric_labels *labels,
    uint64_t value)
{
	begin_sample(out, name, "", labels, NULL);
	fprintf(out, "%" PRIu64 "\n", value);
}

void
metric_text(FILE *out, const char *name, const struct metric_labels *labels,
    const char *number, unsigned parts)
{
	uint64_t n = strtoull(number, NULL, 10);

	begin_sample(out, name, "", labels, NULL);
	if (parts > 1)
		fprintf(out, "%" PRIu64 ".%0*" PRIu64 "\n", n / parts,
		    parts == 1000 ? 3 : 6, n % parts);
	else
		fprintf(out, "%s\n", number);
}

void
metric_histogram(FILE *out, const char *name,
    const struct metric_labels *labels, const struct histogram *histogram)
{
	unsigned bucket = 0;
	uint64_t n = 0;
	char bound[32];

	for (unsigned e = BOUND_FIRST; e <= BOUND_LAST; e += BOUND_STEP) {
		unsigned end = histogram_bucket(UINT64_C(1) << e);

		for (; bucket < end; bucket++)
			n += histogram->n[bucket];
		snprintf(bound, sizeof(bound), "%.9g",
		    (double)(UINT64_C(1) << e) / 1e9);
		begin_sample(out, name, "_bucket", labels, bound);
		fprintf(out, "%" PRIu64 "\n", n);
	}
	for (; bucket < HISTOGRAM_BUCKETS; bucket++)
		n += histogram->n[bucket];
	begin_sample(out, name, "_bucket", labels, "+Inf");
	fprintf(out, "%" PRIu64 "\n", n);
	begin_sample(out, name, "_sum", labels, NULL);
	fprintf(out, "%.9f\n", (double)histogram->sum_ns / 1e9);
	begin_sample(out, name, "_count", labels, NULL);
	fprintf(out, "%" PRIu64 "\n", n);
}
