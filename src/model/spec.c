/* SPDX-License-Identifier: MIT
 * See spec.h.
 */
#include "model/spec.h"

#include <stdlib.h>

static void
free_backend(struct backend_spec *b)
{
	for (size_t i = 0; i < b->servers_n; i++) {
		free(b->servers[i].name);
		free(b->servers[i].address);
	}
	free(b->servers);
	free(b->check.path);
	free(b->check.host);
	free(b->check.method);
	free(b->name);
}

static void
free_frontend(struct frontend_spec *f)
{
	for (size_t i = 0; i < f->listens_n; i++)
		free(f->listens[i].text);
	free(f->listens);
	free(f->name);
}

void
spec_free(struct spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->backends_n; i++)
		free_backend(&spec->backends[i]);
	for (size_t i = 0; i < spec->frontends_n; i++)
		free_frontend(&spec->frontends[i]);
	for (size_t i = 0; i < spec->pools_n; i++)
		free(spec->pools[i].name);
	for (size_t i = 0; i < spec->files_n; i++)
		free(spec->files[i]);
	free(spec->backends);
	free(spec->frontends);
	free(spec->pools);
	free(spec->files);
	free(spec->global.admin);
	free(spec->global.user);
	free(spec->global.group);
	free(spec->global.node);
	free(spec);
}
