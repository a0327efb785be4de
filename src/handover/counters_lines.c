/* SPDX-License-Identifier: MIT
 * See counters_lines.h.
 */
#include "handover/counters_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* -- writing -- */

/* Receives each object, with its line of successor.h. */
typedef void counted_visitor(
    void *arg, const struct counters *counters, const char *line);

static void
visit_counted(const struct model *model, counted_visitor *visit, void *arg)
{
	char line[SUCCESSOR_LINE_MAX];

	model_for_each_frontend (f, model)
		visit(arg, f->counters, successor_frontend_line(f, line));
	model_for_each_backend (b, model)
		visit(arg, b->counters, successor_backend_line(b, line));
	model_for_each_server (s, model)
		visit(arg, s->counters, successor_server_line(s, line));
}

/* Writes a line for each counter that is above its sum in sums, and updates the
 * sums.  sums NULL: they are 0.  `clear counters` may have reset a counter. */
static void
write_counters(const struct counters *counters, const char *object,
    uint64_t *sums, FILE *out)
{
	for (enum counter c = 0; c < COUNTERS; c++) {
		uint64_t sum = counters_sum(counters, c);
		uint64_t before = sums ? sums[c] : 0;

		if (sum > before)
			fprintf(out, "%s %s %" PRIu64 "\n", object,
			    counter_name(c), sum - before);
		if (sums)
			sums[c] = sum;
	}
}

static void
count_object(void *arg, const struct counters *counters, const char *line)
{
	size_t *n = arg;

	(void)counters;
	(void)line;
	++*n;
}

struct numbered_writer {
	const struct successor *to;
	uint64_t *sums; /* of the next object */
	FILE *out;
};

static void
write_numbered(void *arg, const struct counters *counters, const char *line)
{
	struct numbered_writer *w = arg;
	uint32_t number = successor_find(w->to, line);
	char object[16];

	snprintf(object, sizeof(object), "%" PRIu32, number);
	if (number > 0)
		write_counters(counters, object, w->sums, w->out);
	w->sums += COUNTERS;
}

bool
counters_write_numbered(struct counters_sent *sent, const struct model *model,
    const struct successor *to, FILE *out)
{
	size_t n = 0;

	if (!sent->sums) {
		visit_counted(model, count_object, &n);
		sent->sums = calloc(n + 1, COUNTERS * sizeof(uint64_t));
	}
	if (!sent->sums)
		return false;
	visit_counted(model, write_numbered,
	    &(struct numbered_writer){
	        .to = to, .sums = sent->sums, .out = out});
	return true;
}

static void
write_named(void *arg, const struct counters *counters, const char *line)
{
	char object[sizeof(COUNTERS_LINE) + SUCCESSOR_LINE_MAX];
	size_t n = strlen(line);

	/* A server's line is `server BACKEND NAME ADDRESS`.  A server at
	 * another address goes on with its counters. */
	if (strncmp(line, "server ", 7) == 0)
		n = (size_t)(strchr(strchr(line + 7, ' ') + 1, ' ') - line);
	snprintf(object, sizeof(object), COUNTERS_LINE "%.*s", (int)n, line);
	write_counters(counters, object, NULL, arg);
}

void
counters_write_named(const struct model *model, FILE *out)
{
	visit_counted(model, write_named, out);
}

void
counters_sent_fini(struct counters_sent *sent)
{
	free(sent->sums);
	sent->sums = NULL;
}

/* -- reading -- */

/* Adds to a counter of the object what follows its name in a line.  counters
 * NULL: there is no such object. */
static void
read_counter(struct counters *counters, char *line)
{
	const char *name = strsep(&line, " ");
	enum counter which;

	if (counters && name && line && counter_find(name, &which))
		counters_add(counters, 0, which, strtoull(line, NULL, 10));
}

void
counters_read_numbered(const struct names_known *names, char *lines)
{
	char *line;

	while ((line = strsep(&lines, "\n"))) {
		const char *number = strsep(&line, " ");
		const struct named *of =
		    names_known_find(names, strtoull(number, NULL, 10));

		read_counter(of ? of->counters : NULL, line);
	}
}

/* Returns the counters of the object whose name begins at *line, and moves
 * *line behind the name; NULL if there is none. */
static struct counters *
find_counters(const struct model *model, char **line)
{
	const char *kind = strsep(line, " "), *name = strsep(line, " ");
	struct frontend *f;
	struct backend *b;
	struct server *s;

	if (!name || !*line)
		return NULL;
	if (strcmp(kind, "frontend") == 0) {
		f = model_find_frontend(model, name);
		return f ? f->counters : NULL;
	}
	b = model_find_backend(model, name);
	if (!b || strcmp(kind, "backend") == 0)
		return b ? b->counters : NULL;
	name = strsep(line, " ");
	s = *line && name ? backend_find_server(b, name) : NULL;
	return s ? s->counters : NULL;
}

void
counters_read_named(const struct model *model, char *line)
{
	struct counters *counters;

	line += sizeof(COUNTERS_LINE) - 1;
	counters = find_counters(model, &line);
	read_counter(counters, line);
}
