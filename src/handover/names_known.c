/* SPDX-License-Identifier: MIT
 * See names_known.h.
 */
#include "handover/names_known.h"

#include <stdlib.h>

#include "base/grow.h"
#include "proxy/successor.h"

static bool
add_name(struct names_known *names, const struct named *name)
{
	struct named *grown =
	    grow(names->all, names->n, &names->room, sizeof(*grown));

	if (!grown)
		return false;
	names->all = grown;
	grown[names->n++] = *name;
	return true;
}

static bool
list_frontend(struct names_known *names, struct frontend *f, FILE *out)
{
	char line[SUCCESSOR_LINE_MAX];
	struct named name = {
	    .frontend = f, .route = f->backends_n, .counters = f->counters};

	fprintf(out, "%s\n", successor_frontend_line(f, line));
	if (!add_name(names, &name))
		return false;
	name.counters = NULL;
	for (name.route = 0; name.route < f->backends_n; name.route++) {
		fprintf(out, "%s\n", successor_route_line(f, name.route, line));
		if (!add_name(names, &name))
			return false;
	}
	return true;
}

static bool
list_server(struct names_known *names, struct server *s, FILE *out)
{
	char line[SUCCESSOR_LINE_MAX];

	fprintf(out, "%s\n", successor_server_line(s, line));
	if (!add_name(
	        names, &(struct named){.server = s, .counters = s->counters}))
		return false;
	server_pin(s);
	return true;
}

static bool
list_backend(struct names_known *names, struct backend *b, FILE *out)
{
	char line[SUCCESSOR_LINE_MAX];

	fprintf(out, "%s\n", successor_backend_line(b, line));
	return add_name(names, &(struct named){.counters = b->counters});
}

bool
names_known_list(
    struct names_known *names, const struct model *model, FILE *out)
{
	bool ok = true;

	model_for_each_frontend (f, model)
		ok = ok && list_frontend(names, f, out);
	model_for_each_backend (b, model)
		ok = ok && list_backend(names, b, out);
	model_for_each_server (s, model)
		ok = ok && list_server(names, s, out);
	return ok;
}

void
names_known_free(struct names_known *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->all[i].server)
			server_unpin(names->all[i].server);
	free(names->all);
	*names = (struct names_known){.n = 0};
}

struct named *
names_known_find(const struct names_known *names, uint64_t number)
{
	return number > 0 && number <= names->n ? &names->all[number - 1]
	                                        : NULL;
}

bool
names_known_find_route(const struct names_known *names,
    const struct frontend *frontend, uint64_t number, unsigned *ret_route)
{
	const struct frontend *f = frontend;
	const struct named *route = names_known_find(names, number);

	*ret_route = number == 0 ? f->backends_n : route ? route->route : 0;
	return number == 0 ||
	       (route && route->frontend == f && route->route < f->backends_n);
}
