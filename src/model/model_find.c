/* SPDX-License-Identifier: MIT
 * Frontends and backends of a model by name: see model.h.
 */
#include <string.h>

#include "model/model.h"

struct frontend *
model_find_frontend(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->spec->frontends_n; i++)
		if (strcmp(model->spec->frontends[i].name, name) == 0)
			return model->frontends[i];
	return NULL;
}

struct backend *
model_find_backend(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->spec->backends_n; i++)
		if (strcmp(model->spec->backends[i].name, name) == 0)
			return model->backends[i];
	return NULL;
}
