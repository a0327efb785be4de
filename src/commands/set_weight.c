/* SPDX-License-Identifier: MIT
 * `set weight` and `get weight`.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "model/backend.h"
#include "model/server_operator.h"

/* Reads `N`, or `N%` of base, the weight in the file. */
static bool
parse_weight(
    struct call *call, const char *text, unsigned base, unsigned *ret_weight)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text)
		return err_set(call->err, "Require <weight> or <weight%%>.");
	if (end == text)
		return err_set(call->err,
		    "Empty weight string empty or preceded by garbage");
	if (end[0] == '%' && !end[1]) {
		if (n < 0)
			return err_set(
			    call->err, "Relative weight must be positive.");
		n = n < 100L * WEIGHT_MAX ? (long)base * n / 100 : WEIGHT_MAX;
		n = base == 0 ? 0 : n < WEIGHT_MAX ? n : WEIGHT_MAX;
	} else if (n < 0 || n > WEIGHT_MAX) {
		return err_set(call->err,
		    "Absolute weight can only be between 0 and 256 inclusive.");
	} else if (*end) {
		return err_set(call->err, "Trailing garbage in weight string");
	}
	*ret_weight = (unsigned)n;
	return true;
}

bool
run_set_weight(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	unsigned before, weight = 0;

	if (!s ||
	    !parse_weight(call, call_arg(call, 1), s->spec->weight, &weight))
		return false;
	before = server_weight(s);
	operator_set_weight(s, weight);
	call_audit_number(call, before, weight, "server %s/%s weight",
	    s->backend->spec->name, s->spec->name);
	return true;
}

bool
run_get_weight(struct call *call)
{
	const struct server *s = call_server(call, call_arg(call, 0));

	if (!s)
		return false;
	fprintf(
	    call->out, "%u (initial %u)\n", server_weight(s), s->spec->weight);
	return true;
}
