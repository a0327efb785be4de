/* SPDX-License-Identifier: MIT
 * Who may more on a unix socket than its level says: users and groups, asked of
 * the kernel (SO_PEERCRED, SO_PEERGROUPS).
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
	enum command_level level;
};

struct grants {
	struct grant *all;
	size_t n;
};

/* Appends one for each of the names, `alice,@adm`; NULL: none.  Looks them up,
 * which may block.  False with err set; what was appended stays. */
bool grants_add(struct grants *grants, const char *names,
    enum command_level level, struct err *err);
void grants_fini(struct grants *grants);

/* The highest level that the peer of the unix socket has, least or more. */
enum command_level grants_level(const struct grants *grants, int fd,
    const struct peer *peer, enum command_level least);

#endif
