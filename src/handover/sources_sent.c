/* SPDX-License-Identifier: MIT
 * See sources_sent.h.
 */
#include "handover/sources_sent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/limit_lookup.h"
#include "model/source_facts.h"
#include "net/handover.h"

/* The size of the longest line: a name and eight numbers. */
#define SOURCE_LINE_MAX 320
#define TABLE_NAME_MAX  120

/* -- sending -- */

static size_t
write_source(const struct limit *l, const struct source_facts *f, char *out)
{
	uint64_t in = l->backend ? f->choice.name : f->bytes[BAND_IN];

	return (size_t)snprintf(out, SOURCE_LINE_MAX,
	    "%s %" PRIx64 " %" PRIx64 " %u %u %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 "\n",
	    l->name, f->key.ip[0], f->key.ip[1], f->accepted, f->refused,
	    f->due_ns, in, f->bytes[BAND_OUT], f->bytes_due_ns);
}

/* Fills the message with lines until it is full or until_ns has come. */
static void
fill_message(struct sources_sent *s, const struct model *model,
    struct handover *m, uint64_t until_ns)
{
	const struct limit *l = model_limit_at(model, s->table);
	struct source_facts facts;
	size_t len = 0;
	bool found;

	while (l && s->n < SOURCES_SENT_MAX &&
	       len + SOURCE_LINE_MAX < sizeof(m->text)) {
		if (!source_table_next(l->table, &s->at, &facts, &found)) {
			l = model_limit_at(model, ++s->table);
			s->at = 0;
		} else if (found && strlen(l->name) <= TABLE_NAME_MAX) {
			len += write_source(l, &facts, m->text + len);
			s->n++;
		} else if (clock_now_ns() > until_ns) {
			break;
		}
	}
	s->done = !l || s->n >= SOURCES_SENT_MAX;
	m->text[len] = '\0';
}

int
sources_sent_step(struct sources_sent *sent, const struct model *model,
    int channel, bool *ret_full)
{
	static struct handover m;
	uint64_t until_ns = clock_now_ns() + SOURCES_STEP_NS;

	*ret_full = false;
	m.version = HANDOVER_VERSION;
	m.kind = HANDOVER_SOURCES;
	m.n = 0;
	while (!sent->done && clock_now_ns() < until_ns) {
		struct sources_sent before = *sent;
		int rc;

		fill_message(sent, model, &m, until_ns);
		rc = *m.text ? handover_send(channel, &m) : 0;
		if (rc == -EAGAIN) {
			*sent = before;
			*ret_full = true;
			break;
		}
		if (rc < 0)
			sent->done = true;
	}
	return sent->done ? 0 : -EAGAIN;
}

/* -- taking -- */

void
sources_take(const struct model *model, const char *lines)
{
	char name[TABLE_NAME_MAX + 1], last[TABLE_NAME_MAX + 1] = "";
	const struct limit *l = NULL;
	struct source_facts f = {.sessions = 0};
	uint64_t now_ns = clock_now_ns();
	int used;

	while (sscanf(lines,
	           "%120s %" SCNx64 " %" SCNx64 " %" SCNu32 " %" SCNu32
	           " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "\n%n",
	           name, &f.key.ip[0], &f.key.ip[1], &f.accepted, &f.refused,
	           &f.due_ns, &f.bytes[BAND_IN], &f.bytes[BAND_OUT],
	           &f.bytes_due_ns, &used) == 9) {
		if (strcmp(name, last) != 0) {
			l = model_find_limit(model, name);
			strcpy(last, name);
		}
		f.choice = (struct source_choice){.name = f.bytes[BAND_IN]};
		if (l)
			source_table_add(l->table, &f, now_ns);
		lines += used;
	}
}
