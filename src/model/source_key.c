/* SPDX-License-Identifier: MIT
 * See source_key.h.
 */
#include "model/source_key.h"

#include <string.h>
#include <sys/socket.h>

/* Clears all but the first bits. */
static void
keep_bits(uint8_t *ip, size_t len, unsigned bits)
{
	for (size_t i = 0; i < len; i++, bits -= bits < 8 ? bits : 8)
		if (bits < 8)
			ip[i] &= (uint8_t)(0xff00u >> bits);
}

struct source_key
source_key_of(const struct endpoint *client, unsigned prefix4, unsigned prefix6)
{
	struct source_key key = {.ip = {0}};
	uint8_t ip[16];

	if (client->family == AF_INET) {
		memcpy(ip, addr_v4_mapped, 12);
		memcpy(ip + 12, client->ip, 4);
		keep_bits(ip + 12, 4, prefix4);
	} else if (client->family == AF_INET6) {
		memcpy(ip, client->ip, 16);
		keep_bits(ip, 16, prefix6);
	} else {
		return key;
	}
	memcpy(key.ip, ip, sizeof(ip));
	return key;
}

void
source_key_endpoint(const struct source_key *key, struct endpoint *ret_endpoint)
{
	uint8_t ip[16];

	memcpy(ip, key->ip, sizeof(ip));
	*ret_endpoint = (struct endpoint){.family = AF_UNIX};
	if (memcmp(ip, addr_v4_mapped, 12) == 0)
		endpoint_set_ip(ret_endpoint, AF_INET, ip + 12, 0);
	else if ((key->ip[0] | key->ip[1]) != 0)
		endpoint_set_ip(ret_endpoint, AF_INET6, ip, 0);
}
