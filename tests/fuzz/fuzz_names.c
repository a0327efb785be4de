/* SPDX-License-Identifier: MIT
 * In the place of the resolver, which is not asked: numbers are what they are,
 * names that begin with a letter from a to m are this host's, others nobody's.
 */
#include <netdb.h>

int __wrap_getaddrinfo(const char *node, const char *service,
    const struct addrinfo *hints, struct addrinfo **ret_found);
int __real_getaddrinfo(const char *node, const char *service,
    const struct addrinfo *hints, struct addrinfo **ret_found);
int
__wrap_getaddrinfo(const char *node, const char *service,
    const struct addrinfo *hints, struct addrinfo **ret_found)
{
	struct addrinfo numeric = *hints;
	int rc;

	numeric.ai_flags |= AI_NUMERICHOST;
	rc = __real_getaddrinfo(node, service, &numeric, ret_found);
	if (rc != EAI_NONAME || (hints->ai_flags & AI_NUMERICHOST) || !node ||
	    *node < 'a' || *node > 'm')
		return rc;
	return __real_getaddrinfo("127.0.0.1", service, &numeric, ret_found);
}
