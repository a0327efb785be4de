/* SPDX-License-Identifier: MIT
 * See discovery_name.h.
 */
#include "resolve/discovery_name.h"

#include <ctype.h>
#include <string.h>

bool
discovery_name_read(
    const char *source, struct addr_name *ret_name, struct err *err)
{
	struct addr addr;
	struct addr_name name = {.host = ""};

	if (!addr_parse_name(source, &addr, &name, err))
		return false;
	if (!*name.host || name.port == 0)
		return err_set(err,
		    "'%.80s' is not HOST:PORT with a host's name, as in "
		    "app.internal:8080; for one address write server =",
		    source);
	*ret_name = name;
	return true;
}

bool
discovery_name_check(const char *source, struct err *err)
{
	struct addr_name name;

	return discovery_name_read(source, &name, err);
}

/* Returns whether all labels have 1 to 63 letters, digits, hyphens and
 * underscores, and the first two, which must be there, begin with an
 * underscore. */
static bool
is_srv_name(const char *name)
{
	size_t labels = 0, len;

	if (strlen(name) >= ADDR_HOST_SIZE - 2)
		return false;
	for (const char *p = name; *p; p += len + (p[len] == '.')) {
		len = strcspn(p, ".");
		if (len == 0 || len > 63 || (labels < 2 && *p != '_'))
			return false;
		for (size_t i = 0; i < len; i++)
			if (!isalnum((unsigned char)p[i]) && p[i] != '-' &&
			    p[i] != '_')
				return false;
		labels++;
	}
	return labels >= 2;
}

bool
discovery_srv_name_check(const char *source, struct err *err)
{
	return is_srv_name(source) ||
	       err_set(err,
	           "'%.80s' is not the name of SRV records; write "
	           "_SERVICE._PROTOCOL.DOMAIN, as in _http._tcp.app.internal",
	           source);
}
