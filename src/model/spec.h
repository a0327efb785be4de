/* SPDX-License-Identifier: MIT
 * The spec: the configuration as plain values, after defaults were filled in
 * and references were checked.
 *
 * src/config builds it on the control thread, from a file or from the command
 * line.  Afterwards only the lists of the backends' servers change, with those
 * of the model (backend_servers.h).  So any thread may read the spec, but only
 * the control thread may read these lists: others have the specs of servers
 * from the servers.  All durations are milliseconds and finite.
 *
 * Each kind of section has its own spec_NAME.h; this header includes them all
 * and defines the whole spec.
 */
#ifndef MODEL_SPEC_H
#define MODEL_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/name_table.h"
#include "model/spec_access.h"
#include "model/spec_backend.h"
#include "model/spec_check.h"
#include "model/spec_frontend.h"
#include "model/spec_global.h"
#include "model/spec_list.h"
#include "model/spec_listen.h"
#include "model/spec_log.h"
#include "model/spec_place.h"
#include "model/spec_pool.h"
#include "model/spec_rule.h"
#include "model/spec_server.h"
#include "net/addr.h"
#include "tls/settings.h"

struct tls_context;

/* `[tls NAME]`. */
struct tls_spec {
	char *name;
	struct spec_place place;
	struct tls_settings settings;
	/* By enum tls_role; NULL: nothing uses the section in that role.
	 * Shared and counted. */
	struct tls_context *context[TLS_ROLES];
};

/* hold = forever. */
#define HOLD_FOREVER UINT64_MAX

/* `[resolver]`. */
struct resolver_spec {
	struct addr *nameservers; /* with ports */
	size_t nameservers_n;     /* 0: the system's */
	uint64_t timeout_ms;      /* 0: the system's */
	struct optional retries;  /* unset: the system's */
	uint64_t ttl_min_ms, ttl_max_ms;
	uint64_t hold_ms; /* or HOLD_FOREVER */
};

struct spec {
	char **files; /* every file that was read; places point here */
	size_t files_n;
	struct global_spec global;
	struct pool_spec *pools; /* at least one */
	size_t pools_n;
	struct name_index pools_index;
	struct frontend_spec *frontends; /* at least one */
	size_t frontends_n;
	struct name_index frontends_index;
	/* At least one; a backend may be without servers. */
	struct backend_spec *backends;
	size_t backends_n;
	struct name_index backends_index;
	struct tls_spec *tls;
	size_t tls_n;
	struct name_index tls_index;
	struct list_spec *lists;
	size_t lists_n;
	struct name_index lists_index;
	struct resolver_spec resolver;
};

/* Returns the context for connections to the server, or NULL: plain TCP.
 * Borrowed from the spec. */
struct tls_context *server_spec_tls(const struct spec *spec,
    const struct backend_spec *backend, const struct server_spec *server);

/* Returns the [tls] section of that name, or NULL. */
const struct tls_spec *spec_tls_named(
    const struct spec *spec, const char *name);

/* Makes the TLS contexts take over the counters and the ticket keys of the
 * contexts that they replace: those of the section with the same name in old,
 * in the same role.  Called before the new contexts have a connection. */
void spec_adopt_tls(struct spec *spec, const struct spec *old);

/* Frees the spec and all that it owns.  NULL is allowed. */
void spec_free(struct spec *spec);

#endif
