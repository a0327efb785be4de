/* SPDX-License-Identifier: MIT
 * See build.h: the automatic threads of pools, and where TLS handshakes are
 * made.
 */
#include "config/build.h"

#include "config/pool_text.h"

static bool
listens_with_tls(const struct frontend_spec *f)
{
	for (size_t i = 0; i < f->listens_n; i++)
		if (f->listens[i].tls.is_set)
			return true;
	return false;
}

/* Returns whether the backend has TLS with any server.  Servers may be added to
 * a backend that has none yet. */
static bool
backend_has_tls(const struct backend_spec *b)
{
	if (b->tls.is_set && b->tls.value != TLS_OFF)
		return true;
	for (size_t i = 0; i < b->servers_n; i++)
		if (server_spec_has_tls(b, b->servers[i]))
			return true;
	for (size_t i = 0; i < b->sets_n; i++)
		if (server_spec_has_tls(b, &b->sets[i].member))
			return true;
	return false;
}

static bool
refers_to(const struct frontend_spec *f, size_t backend)
{
	size_t b;

	for (size_t i = 0; (b = frontend_spec_backend(f, i)) != SIZE_MAX; i++)
		if (b == backend)
			return true;
	return false;
}

static bool
all_have_tls(const struct spec *spec)
{
	for (size_t i = 0; i < spec->pools_n; i++)
		if (!spec->pools[i].has_tls)
			return false;
	return true;
}

static void
find_tls(struct spec *spec)
{
	for (size_t i = 0; i < spec->pools_n; i++)
		spec->pools[i].has_tls = false;
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		spec->pools[f->pool].has_tls |= listens_with_tls(f);
	}
	for (size_t i = 0; i < spec->backends_n && !all_have_tls(spec); i++) {
		if (!backend_has_tls(&spec->backends[i]))
			continue;
		for (size_t j = 0; j < spec->frontends_n; j++) {
			const struct frontend_spec *f = &spec->frontends[j];
			struct pool_spec *pool = &spec->pools[f->pool];

			pool->has_tls = pool->has_tls || refers_to(f, i);
		}
	}
}

void
build_pools(struct spec *spec)
{
	find_tls(spec);
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pool_spec *p = &spec->pools[i];

		if (p->threads_auto > 0)
			p->classes[0].threads =
			    threads_for_cpus(p->threads_auto, p->has_tls);
	}
}
