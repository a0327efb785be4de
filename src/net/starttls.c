/* SPDX-License-Identifier: MIT
 * See starttls.h.
 */
#include "net/starttls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REQUEST(code)                                                          \
	{                                                                      \
		0, 0, 0, PGSQL_REQUEST_SIZE, 0x04, 0xd2, 0x16, (code)          \
	}

const uint8_t pgsql_tls_request[PGSQL_REQUEST_SIZE] = REQUEST(0x2f);

static const uint8_t gss_request[PGSQL_REQUEST_SIZE] = REQUEST(0x30);

enum pgsql_request
pgsql_request_read(const uint8_t *data, size_t size)
{
	size_t n = size < PGSQL_REQUEST_SIZE ? size : PGSQL_REQUEST_SIZE;
	/* The requests differ in their last byte. */
	bool tls = memcmp(data, pgsql_tls_request, n) == 0;
	bool gss = memcmp(data, gss_request, n) == 0;

	if (!tls && !gss)
		return PGSQL_NONE;
	if (n < PGSQL_REQUEST_SIZE)
		return PGSQL_MORE;
	return tls ? PGSQL_TLS : PGSQL_GSS;
}

size_t
pgsql_error_make(
    const char *state, const char *text, uint8_t out[PGSQL_ERROR_MAX])
{
	char *fields = (char *)out + 5;
	const size_t room = PGSQL_ERROR_MAX - 5;
	int max = (int)(room - sizeof("SFATALxVFATALxCxxxxxxMxx"));
	int n = snprintf(fields, room, "SFATAL%cVFATAL%cC%.5s%cM%.*s%c", 0, 0,
	    state, 0, max, text, 0);
	/* The NUL behind the last field ends the message. */
	size_t length = 4 + (size_t)n + 1;

	out[0] = 'E';
	out[1] = out[2] = 0;
	out[3] = (uint8_t)(length >> 8);
	out[4] = (uint8_t)length;
	return 1 + length;
}
