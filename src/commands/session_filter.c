/* SPDX-License-Identifier: MIT
 * See session_filter.h.
 */
#include "commands/session_filter.h"

#include <string.h>

#include "base/text.h"
#include "model/backend.h"
#include "proxy/close_reasons.h"

/* Sets a name of the filter.  Longer names are cut: they are not in the
 * configuration. */
static bool
set_filter_name(
    struct call *call, char name[CALL_NAME_SIZE], const char *text, size_t len)
{
	snprintf(name, CALL_NAME_SIZE, "%.*s", (int)len, text);
	return len > 0 || err_set(call->err, "A name is expected.");
}

/* Reads `BACKEND/SERVER`, which is two names of the filter. */
static bool
take_server(struct call *call, struct session_filter *filter, const char *text)
{
	size_t len = call_backend_len(call, text);

	return len > 0 && set_filter_name(call, filter->backend, text, len) &&
	       set_filter_name(
	           call, filter->server, text + len + 1, strlen(text) - len);
}

_Static_assert(CLOSE_REASONS <= 64, "a bit for each");

/* Reads the code or the name of a close reason; several reasons share a code.
 */
static bool
take_cause(struct call *call, struct session_filter *filter, const char *cause)
{
	char all[4 * CLOSE_REASONS + 1] = "", name[CLOSE_NAME_SIZE];
	uint64_t before = filter->causes;

	filter->causes = 0;
	for (enum close_reason i = 0; i < CLOSE_REASONS; i++) {
		const char *code = close_reason_code(i);

		if (strcmp(cause, code) == 0 ||
		    strcmp(cause, close_reason_name(i, name)) == 0)
			filter->causes |= UINT64_C(1) << i;
		if (!strstr(all, code))
			snprintf(all + strlen(all), sizeof(all) - strlen(all),
			    " %s", code);
	}
	filter->causes |= filter->causes > 0 ? before : 0;
	if (!*cause)
		return err_set(call->err,
		    "A cause is expected; name it as `show failures` does, or "
		    "by its code; these are:%s.",
		    all);
	return filter->causes > 0 ||
	       err_set(call->err,
	           "No session ends with '%s'; name the cause as "
	           "`show failures` does, or by its code; these are:%s.",
	           cause, all);
}

/* Reads the value of `client` or of `min-bytes`. */
static bool
take_traffic(struct call *call, struct session_filter *filter, const char *word,
    const char *value, bool *ret_taken)
{
	bool is_client = strcmp(word, "client") == 0;
	struct err why;

	*ret_taken = is_client || strcmp(word, "min-bytes") == 0;
	if (!*ret_taken)
		return true;
	if (is_client ? cidr_parse(value, &filter->client, &why)
	              : text_parse_size(
	                    value, 0, UINT64_MAX, &filter->min_bytes, &why))
		return true;
	return err_set(call->err, "%s: %s.", word, why.text);
}

static bool
take_word(struct call *call, struct session_filter *filter, const char *word,
    const char *value, bool *ret_taken)
{
	char *name = strcmp(word, "frontend") == 0  ? filter->frontend
	             : strcmp(word, "backend") == 0 ? filter->backend
	                                            : NULL;

	*ret_taken = name || strcmp(word, "server") == 0;
	if (name)
		return set_filter_name(call, name, value, strlen(value));
	if (*ret_taken)
		return take_server(call, filter, value);
	*ret_taken = filter->has_causes && strcmp(word, "cause") == 0;
	if (*ret_taken)
		return take_cause(call, filter, value);
	return !filter->has_traffic ||
	       take_traffic(call, filter, word, value, ret_taken);
}

/* Returns the bit of the word in session_filter.given, or 0 for words that may
 * be repeated. */
static unsigned
bit_of(const char *word)
{
	static const char *const words[] = {"frontend", "backend", "server",
	    "client", "min-bytes", "last", "older", "sort"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return 1u << i;
	return 0;
}

bool
session_filter_once(
    struct call *call, struct session_filter *filter, const char *word)
{
	return call_once(call, word, &filter->given, bit_of(word));
}

bool
session_filter_take(struct call *call, struct session_filter *filter,
    const char *word, const char *value, bool *ret_taken)
{
	return take_word(call, filter, word, value, ret_taken) &&
	       (!*ret_taken || session_filter_once(call, filter, word));
}

bool
session_filter_is_empty(const struct session_filter *filter)
{
	return !*filter->frontend && !*filter->backend && !*filter->server &&
	       filter->causes == 0;
}

bool
session_filter_check(struct call *call, const struct session_filter *filter)
{
	const struct model *m = call->env->instance->model;
	const struct backend *b;

	if (*filter->frontend && !model_find_frontend(m, filter->frontend))
		return call_no_such_of(call, "No such frontend.",
		    filter->frontend, FRONTEND_NAMES(m->spec));
	b = model_find_backend(m, filter->backend);
	if (*filter->backend && !b)
		return call_no_such_of(call, "No such backend.",
		    filter->backend, BACKEND_NAMES(m->spec));
	if (*filter->server && !backend_find_server(b, filter->server))
		return call_no_such_of(call, "No such server.", filter->server,
		    SERVER_TABLE(b->spec));
	return true;
}

static bool
is_named(const char *wanted, const char *name)
{
	return !*wanted || strcmp(wanted, name) == 0;
}

bool
session_filter_matches(const struct session_filter *filter,
    const char *frontend, const char *backend, const char *server)
{
	return is_named(filter->frontend, frontend) &&
	       is_named(filter->backend, backend) &&
	       is_named(filter->server, server);
}

bool
session_filter_has_cause(const struct session_filter *filter, unsigned reason)
{
	return filter->causes == 0 || filter->causes >> reason & 1;
}

bool
session_filter_has_traffic(const struct session_filter *filter,
    const struct endpoint *client, uint64_t bytes)
{
	return bytes >= filter->min_bytes &&
	       (filter->client.family == 0 ||
	           cidr_has(&filter->client, client));
}
