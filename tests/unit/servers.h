/* SPDX-License-Identifier: MIT
 * Servers of a spec that no file describes.
 */
#ifndef UNIT_SERVERS_H
#define UNIT_SERVERS_H

#include "model/spec.h"
#include "unit.h"

/* Gives the backend n servers of zeros, which spec_free frees. */
static inline void
make_servers(struct backend_spec *backend, size_t n)
{
	backend->servers = calloc(n + 1, sizeof(*backend->servers));
	assert_non_null(backend->servers);
	backend->servers_n = n;
	for (size_t i = 0; i < n; i++) {
		backend->servers[i] = calloc(1, sizeof(struct server_spec));
		assert_non_null(backend->servers[i]);
	}
}

#endif
