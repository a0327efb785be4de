/* SPDX-License-Identifier: MIT
 * See member.h.
 */
#include "config/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ensure.h"
#include "config/build.h"
#include "config/server_addr.h"
#include "config/values.h"

/* Reads the address, and sets what depends on it. */
static bool
read_address(
    const struct value *v, const char *address, struct server_spec *server)
{
	struct addr_name name = {.host = ""};
	char text[ADDR_TEXT_SIZE];
	struct err err;

	if (strlen(address) > DRAFT_VALUE_MAX || strpbrk(address, " \t"))
		return value_fail(v, "'%.60s...' is not an address", address);
	free(server->host);
	server->host = NULL;
	if (!server_addr_parse(address, server, &name, &err))
		return value_fail(v, "%s", err.text);
	if (server->addr.sa.sa_family == AF_UNIX) {
		/* Source and socket options are for TCP only. */
		server->source = (struct source_spec){.kind = SOURCE_NONE};
		server->sock = (struct sock_options){.mss = 0};
	}
	if (name.host[0] && !value_set_string(v, &server->host, name.host))
		return false;
	/* An address can be written in several ways, a name in one way. */
	return value_set_string(v, &server->address, address) &&
	       value_set_string(v, &server->hash_name,
	           server->host || server->port_offset != 0
	               ? address
	               : addr_text(&server->addr, text));
}

static bool
read_member(const struct value *v, const struct config_member *member,
    struct server_spec *server)
{
	struct words words;
	unsigned allowed;

	if (!read_address(v, member->address, server))
		return false;
	if (strlen(member->options) > DRAFT_VALUE_MAX)
		return value_fail(v, "the options have more than %d characters",
		    DRAFT_VALUE_MAX);
	words_split(&words, member->options);
	allowed = server->addr.sa.sa_family == AF_UNIX ? 0 : KEY_TCP_ONLY;
	return options_read_over(v, &words, 0, server, allowed, "TCP only") &&
	       value_set_string(v, &server->name, member->name) &&
	       value_set_string(v, &server->key, member->key) &&
	       value_set_string(v, &server->note, member->note);
}

/* Checks the server by the rules for servers of a file; label: the place of
 * errors. */
static bool
check_member(struct spec *spec, const struct backend_spec *backend,
    const char *label, struct server_spec *server, struct err_list *errors)
{
	const struct spec_place place = server->place;
	size_t errors_before = errors->n;

	server->place = (struct spec_place){.file = label};
	build_check_server(backend, server, errors);
	build_tls_server(spec, backend, server, errors);
	if (server->track)
		build_track_server(
		    spec, (size_t)(backend - spec->backends), server, errors);
	server->place = place;
	return errors->n == errors_before;
}

bool
config_member_read(struct spec *spec, struct backend_spec *backend, size_t set,
    const struct config_member *member, struct server_spec **ret_server,
    struct err_list *errors)
{
	char label[NAME_MAX_LEN + 8 + NAME_MAX_LEN], key[] = "servers";
	struct draft_entry entry = {.label = label, .name = key};
	struct value v = {.key = key_find(SECTION_BACKEND, "server"),
	    .text = "",
	    .object = backend,
	    .spec = spec,
	    .entry = &entry,
	    .errors = errors};
	struct server_spec server, *made;

	snprintf(label, sizeof(label), "%s/%s", backend->name, member->name);
	if (!server_spec_copy(&backend->sets[set].member, &server))
		return value_fail(&v, "out of memory");
	server.set = (struct optional){.is_set = true, .value = (unsigned)set};
	server.since_ms = member->since_ms;
	server.joined = member->joined;
	if (!read_member(&v, member, &server)) {
		server_spec_clear(&server);
		return false;
	}
	if (!check_member(spec, backend, label, &server, errors)) {
		server_spec_clear(&server);
		return false;
	}
	/* A member that has joined gets no session before a check has
	 * passed. */
	if (member->joined && !server.check.init.is_set)
		server.check.init =
		    (struct optional){.is_set = true, .value = CHECK_INIT_DOWN};
	made = malloc(sizeof(*made));
	if (!made) {
		server_spec_clear(&server);
		return value_fail(&v, "out of memory");
	}
	*made = server;
	*ret_server = made;
	return true;
}

void
config_set_members(
    struct backend_spec *backend, struct server_spec **servers, size_t n)
{
	struct backend_spec *b = backend;

	ENSURE(b->servers_n == b->singles_n);
	free(b->servers);
	b->servers = servers;
	b->servers_n = b->servers_room = n;
	INDEX_POINTERS(b, servers);
}
