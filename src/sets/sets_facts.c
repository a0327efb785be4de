/* SPDX-License-Identifier: MIT
 * See sets.h: facts about the sets, and the check of a configuration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/keys.h"
#include "config/member.h"
#include "sets/sets_internal.h"
#include "resolve/file_members.h"

static const struct set_spec *
spec_of_set(const struct spec *spec, const struct server_set *set)
{
	for (size_t i = 0; i < spec->backends_n; i++) {
		const struct backend_spec *b = &spec->backends[i];

		if (strcmp(b->name, set->backend) != 0)
			continue;
		for (size_t j = 0; j < b->sets_n; j++)
			if (strcmp(b->sets[j].prefix, set->prefix) == 0)
				return &b->sets[j];
	}
	return NULL;
}

static void
set_facts_fill(const struct sets *sets, const struct server_set *set,
    struct set_facts *ret)
{
	const struct set_source *source = set->source;
	const struct set_spec *spec =
	    spec_of_set(sets->instance->model->spec, set);
	size_t used = set_members_used(&set->members);
	/* Members beyond max, or reported twice. */
	size_t beyond =
	    source->n > set->members.live && set->state == SET_SETTLED
	        ? source->n - set->members.live
	        : 0;

	*ret = (struct set_facts){.backend = set->backend,
	    .prefix = set->prefix,
	    .kind = discovery_kinds[source->what.kind].name,
	    .source = source->what.source,
	    .max = spec ? spec->max : 0,
	    .members = used,
	    .left_out = set->members.live - used + beyond + source->wrong_n,
	    .reports = source->reports,
	    .errors = source->errors,
	    .updates = set->updates,
	    .is_known = source->report != NULL,
	    .reported_ms = source->reported_ms,
	    .error = source->error,
	    .waits = set->state == SET_UNCONFIRMED};
}

bool
sets_facts(const struct sets *sets, size_t i, struct set_facts *ret_facts)
{
	list_for_each (node, &sets->sets) {
		if (i-- > 0)
			continue;
		set_facts_fill(sets,
		    container_of(node, struct server_set, node), ret_facts);
		return true;
	}
	return false;
}

/* -- lfproxy -t -- */

static void
write_set_warning(FILE *out, const struct set_spec *set, const char *text)
{
	fprintf(out, "%slfproxy: warning: ", log_severity(LOG_LEVEL_WARNING));
	if (set->place.file && set->place.line > 0)
		fprintf(out, "%s:%u: ", set->place.file, set->place.line);
	fprintf(out, "servers %s: %s\n", set->prefix, text);
}

/* Returns whether the member could be used.  If not, writes a warning. */
static bool
check_set_member(struct spec *spec, struct backend_spec *b, size_t set,
    const struct discovered *m, FILE *out)
{
	const struct config_member member = {.name = b->sets[set].prefix,
	    .key = m->key,
	    .address = m->address,
	    .options = m->options,
	    .note = m->note};
	struct server_spec *server;
	struct err_list errors;
	char text[sizeof(struct err) + 200 + SET_TEXT_SIZE];
	char source[SET_TEXT_SIZE];
	bool ok;

	err_list_init(&errors);
	if (m->wrong)
		err_list_add(&errors, NULL, 0, "%s", m->wrong);
	ok = !m->wrong &&
	     config_member_read(spec, b, set, &member, &server, &errors);
	if (ok) {
		server_spec_free(server);
	} else {
		snprintf(text, sizeof(text),
		    "member %s (%s) would be left out: %s (source: %s)", m->key,
		    m->note,
		    errors.n > 0 && errors.entries ? errors.entries[0].text
		                                   : "out of memory",
		    set_source_text(&b->sets[set], source));
		write_set_warning(out, &b->sets[set], text);
	}
	err_list_fini(&errors);
	return ok;
}

static void
check_set(struct spec *spec, struct backend_spec *b, size_t i, FILE *out)
{
	const struct set_spec *set = &b->sets[i];
	struct file_members members;
	struct err err;
	char text[160];
	size_t good = 0;

	if (set->kind != DISCOVERY_FILE)
		return;
	if (!file_members_read(set->source, &members, &err)) {
		write_set_warning(out, set, err.text);
		return;
	}
	for (size_t j = 0; j < members.n; j++)
		good += check_set_member(spec, b, i, &members.all[j], out);
	snprintf(text, sizeof(text),
	    "the file has %zu servers, and there would be %u at most", good,
	    set->max);
	if (good > set->max)
		write_set_warning(out, set, text);
	file_members_fini(&members);
}

void
sets_check(struct spec *spec, FILE *out)
{
	for (size_t i = 0; i < spec->backends_n; i++)
		for (size_t j = 0; j < spec->backends[i].sets_n; j++)
			check_set(spec, &spec->backends[i], j, out);
}
