/* SPDX-License-Identifier: MIT
 * Members of sets: makes servers of the spec from the report of a source.
 *
 * The caller gives them to a spec that was just read, or to the present model
 * (model/backend_servers.h).  Control thread.
 */
#ifndef CONFIG_MEMBER_H
#define CONFIG_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/spec.h"

/* A member, with its name in the backend.  All texts are borrowed; options and
 * note may be empty. */
struct config_member {
	const char *name, *key, *address, *options, *note;
	uint64_t since_ms;
	bool joined; /* see struct server_spec */
};

/* Makes a server of the member's address and options, with the options of the
 * set whose index in the backend is given as defaults.  Checks the server by
 * the rules for the servers of a file.  `track` names a server of the file, so
 * it does not depend on other members.  Returns false after an error, which
 * begins with BACKEND/NAME.  Caller owns *ret_server. */
bool config_member_read(struct spec *spec, struct backend_spec *backend,
    size_t set, const struct config_member *member,
    struct server_spec **ret_server, struct err_list *errors) MUST_CHECK;

/* Gives a backend that has no members yet its list of servers: its single ones
 * and behind them the members of its sets, in the order of the sets.  Takes
 * ownership of the list. */
void config_set_members(
    struct backend_spec *backend, struct server_spec **servers, size_t n);

#endif
