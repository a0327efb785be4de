/* SPDX-License-Identifier: MIT
 * See close_reasons.h.
 */
#include "proxy/close_reasons.h"

#include <ctype.h>
#include <stddef.h>

static const struct {
	const char *name;
	const char *code;
	enum close_blame blame;
	const char *text;
} reasons[CLOSE_REASONS] = {
#define X(id, code, blame, text)                                               \
	[CLOSE_##id] = {#id, code, BLAME_##blame, text},
    CLOSE_REASONS_TABLE(X)
#undef X
};

#define X(id, code, blame, text)                                               \
	_Static_assert(sizeof(#id) <= CLOSE_NAME_SIZE, "room for the name");
CLOSE_REASONS_TABLE(X)
#undef X

const char *
close_reason_name(enum close_reason reason, char out[CLOSE_NAME_SIZE])
{
	size_t i = 0;

	do
		out[i] = (char)tolower(reasons[reason].name[i]);
	while (out[i++]);
	return out;
}

const char *
close_reason_code(enum close_reason reason)
{
	return reasons[reason].code;
}

const char *
close_reason_text(enum close_reason reason)
{
	return reasons[reason].text;
}

enum close_blame
close_reason_blame(enum close_reason reason)
{
	return reasons[reason].blame;
}

const char *
close_blame_name(enum close_blame blame)
{
	static const char *const names[] = {[BLAME_NOBODY] = "rule",
	    [BLAME_CLIENT] = "client",
	    [BLAME_SERVER] = "server",
	    [BLAME_US] = "lfproxy"};

	return names[blame];
}

enum close_reason
close_reason_in(enum close_phase phase, enum close_cause cause)
{
	static const enum close_reason by_phase[CLOSE_CAUSES][CLOSE_PHASES] = {
#define X(cause, hello, queued, connect, data)                                 \
	[CAUSE_##cause] = {                                                    \
	    CLOSE_##hello, CLOSE_##queued, CLOSE_##connect, CLOSE_##data},
#define ONE(cause) X(cause, cause, cause, cause, cause)
	    CLOSE_CAUSES_TABLE(X, ONE)
#undef ONE
#undef X
	};

	return by_phase[cause][phase];
}
