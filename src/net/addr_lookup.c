/* SPDX-License-Identifier: MIT
 * The blocking look-up of a name, see addr.h.
 */
#include "net/addr.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>

/* EAI_ numbers are negative, and errno's are not. */
int
addr_lookup(const char *host, int family, struct addr *ret_addr)
{
	struct addrinfo hints = {
	    .ai_family = family, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	struct addr a = {.len = 0};
	int rc = getaddrinfo(host, NULL, &hints, &found);

	if (rc == EAI_SYSTEM)
		return errno;
	if (rc != 0)
		return rc;
	memcpy(&a.sa, found->ai_addr, found->ai_addrlen);
	a.len = found->ai_addrlen;
	freeaddrinfo(found);
	*ret_addr = a;
	return 0;
}

const char *
addr_lookup_error(int error)
{
	return error < 0 ? gai_strerror(error) : strerror(error);
}
