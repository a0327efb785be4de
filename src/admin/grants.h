/* SPDX-License-Identifier: MIT
 * Users and groups with more rights on a unix socket than its level grants.
 * The kernel reports them for each peer (SO_PEERCRED, SO_PEERGROUPS).
 */
#ifndef ADMIN_GRANTS_H
#define ADMIN_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "commands/call.h"
#include "base/err.h"

struct grant {
	bool is_group;
	id_t id;
	enum admin_level level;
};

struct grants {
	struct grant *all;
	size_t n;
};

/* Appends a grant for each of the names, as in `alice,@adm`; names may be NULL.
 * Looks the names up, which may block.  Returns false with err set; grants
 * appended before the error stay. */
bool grants_add(struct grants *grants, const char *names,
    enum admin_level level, struct err *err) MUST_CHECK;
/* Frees all grants. */
void grants_fini(struct grants *grants);

/* Returns the highest level that is granted to the peer of the unix socket, at
 * least `least`. */
enum admin_level grants_level(const struct grants *grants, int fd,
    const struct peer *peer, enum admin_level least);

#endif
