/* SPDX-License-Identifier: MIT
 * `resolve now`: looks names up at once, whatever their TTL.
 */
#include "commands/commands.h"

#include <string.h>

#include "base/text.h"
#include "sets/sets.h"
#include "servers/server_names.h"

bool
run_resolve_now(struct call *call)
{
	const char *word = call_arg(call, 0), *name = call_arg(call, 1);
	const struct backend *backend = NULL;
	size_t n;

	if (*word && (strcmp(word, "backend") != 0 || !*name))
		return err_set(call->err,
		    "Unexpected argument '%.60s'; allowed is 'backend "
		    "<backend>'.",
		    word);
	if (!call_backend(call, name, &backend))
		return false;
	n = server_names_refresh(call->env->names, backend) +
	    sets_refresh(call->env->sets, backend);
	fprintf(call->out,
	    "%zu name%s %s looked up now; see 'show resolvers'.\n", n,
	    text_s(n), text_are(n));
	return true;
}
