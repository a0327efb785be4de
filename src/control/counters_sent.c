/* SPDX-License-Identifier: MIT
 * See counters_sent.h.
 */
#include "control/counters_sent.h"

#include <inttypes.h>
#include <stdlib.h>

static size_t
count_objects(const struct model *model)
{
	size_t n = 0;

	model_for_each_frontend (f, model)
		n += f != NULL;
	model_for_each_backend (b, model)
		n += 1 + b->spec->servers_n;
	return n;
}

/* Writes the lines of one object.  Returns the sums of the next object. */
static uint64_t *
write_object(const struct counters *counters, const char *line,
    const struct successor *to, uint64_t *sums, FILE *out)
{
	uint32_t number = successor_find(to, line);

	for (enum counter c = 0; number > 0 && c < COUNTERS; c++) {
		uint64_t sum = counters_sum(counters, c);

		/* `clear counters` may have reset the counter meanwhile. */
		if (sum > sums[c])
			fprintf(out, "%" PRIu32 " %s %" PRIu64 "\n", number,
			    counter_name(c), sum - sums[c]);
		sums[c] = sum;
	}
	return sums + COUNTERS;
}

bool
counters_sent_write(struct counters_sent *sent, const struct model *model,
    const struct successor *to, FILE *out)
{
	char line[SUCCESSOR_LINE_MAX];
	uint64_t *at;

	if (!sent->sums)
		sent->sums = calloc(
		    count_objects(model) + 1, COUNTERS * sizeof(uint64_t));
	at = sent->sums;
	if (!at)
		return false;
	model_for_each_frontend (f, model)
		at = write_object(
		    f->counters, successor_frontend_line(f, line), to, at, out);
	model_for_each_backend (b, model)
		at = write_object(
		    b->counters, successor_backend_line(b, line), to, at, out);
	model_for_each_server (s, model)
		at = write_object(
		    s->counters, successor_server_line(s, line), to, at, out);
	return true;
}

void
counters_sent_fini(struct counters_sent *sent)
{
	free(sent->sums);
	sent->sums = NULL;
}
