/* SPDX-License-Identifier: MIT
 * See limit_lookup.h.
 */
#include "model/limit_lookup.h"

#include <string.h>

#include "model/model.h"

/* Returns the limit of that number, else NULL with *number reduced.  Of limits
 * that share a table only the first counts. */
static const struct limit *
limit_at(const struct limits *limits, size_t *number)
{
	for (size_t i = 0; limits && i < limits->n; i++)
		if (!limits->all[i].shared && (*number)-- == 0)
			return &limits->all[i];
	return NULL;
}

const struct limit *
model_limit_at(const struct model *model, size_t number)
{
	const struct limit *l;

	model_for_each_frontend (f, model) {
		l = limit_at(f->limits, &number);
		if (l)
			return l;
	}
	model_for_each_backend (b, model) {
		l = limit_at(b->limits, &number);
		if (!l)
			l = limit_at(b->sticky, &number);
		if (l)
			return l;
	}
	return NULL;
}

static const struct limit *
find_limit(const struct limits *limits, const char *name)
{
	for (size_t i = 0; limits && i < limits->n; i++)
		if (strcmp(limits->all[i].name, name) == 0)
			return &limits->all[i];
	return NULL;
}

const struct limit *
model_find_limit(const struct model *model, const char *name)
{
	const struct limit *l;

	model_for_each_frontend (f, model) {
		l = find_limit(f->limits, name);
		if (l)
			return l;
	}
	model_for_each_backend (b, model) {
		l = find_limit(b->limits, name);
		if (!l)
			l = find_limit(b->sticky, name);
		if (l)
			return l;
	}
	return NULL;
}
