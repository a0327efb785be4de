/* SPDX-License-Identifier: MIT
 * See server_addr.h.
 */
#include "config/server_addr.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/draft.h"

/* Returns what stands behind the host: `:80`, `:+1000`, or nothing. */
static const char *
behind_host(const char *text)
{
	const char *bracket = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = strrchr(text, ':');

	if (bracket)
		return bracket + 1;
	return colon ? colon : text + strlen(text);
}

/* Returns whether the text behind the host leaves the port to the client. */
static bool
is_map(const char *behind)
{
	return !*behind ||
	       (behind[0] == ':' && (behind[1] == '+' || behind[1] == '-'));
}

static bool
parse_offset(const char *behind, int *ret_offset, struct err *err)
{
	uint64_t n = 0;

	if (*behind && !text_parse_number(behind + 2, 0, UINT16_MAX, &n, NULL))
		return err_set(err,
		    "'%s' is not a difference of ports; write +N or -N, up to "
		    "65535, as in 10.0.0.1:+1000",
		    behind + 1);
	*ret_offset = *behind && behind[1] == '-' ? -(int)n : (int)n;
	return true;
}

bool
server_addr_parse(const char *text, struct server_spec *server,
    struct addr_name *ret_name, struct err *err)
{
	const char *behind = behind_host(text);
	char with_port[DRAFT_VALUE_MAX + 8];
	struct addr_name name = {.host = ""};
	struct addr addr;
	int offset = 0;
	bool maps = is_map(behind) && strncmp(text, "unix:", 5) != 0 &&
	            !strstr(text, "://");

	/* Any port will do: a HOST alone has the same errors as HOST:PORT. */
	if (maps)
		snprintf(with_port, sizeof(with_port), "%.*s:1",
		    (int)(behind - text), text);
	if ((maps && !parse_offset(behind, &offset, err)) ||
	    !addr_parse_name(maps ? with_port : text, &addr, &name, err))
		return false;
	if (maps) {
		name.port = 0;
		addr_set_port(&addr, 0);
	}
	server->addr = addr;
	server->port = name.port;
	server->port_offset = offset;
	*ret_name = name;
	return true;
}
