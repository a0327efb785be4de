/* SPDX-License-Identifier: MIT
 * See command_args.h.
 */
#include "commands/command_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *
call_arg(const struct call *call, unsigned i)
{
	for (unsigned n = 0; n <= i; n++)
		if (!call->args[n])
			return "";
	return call->args[i];
}

/* That of the first so many bytes. */
static struct backend *
backend_named(const struct model *m, const char *name, size_t len)
{
	for (size_t i = 0; i < m->spec->backends_n; i++) {
		const char *other = m->spec->backends[i].name;

		if (strlen(other) == len && memcmp(other, name, len) == 0)
			return m->backends[i];
	}
	return NULL;
}

struct server *
call_server(struct call *call, const char *name)
{
	const struct model *m = control_model(call->env->control);
	size_t len = strcspn(name, "/");
	struct backend *b;
	struct server *s;

	if (len == 0 || !name[len] || !name[len + 1]) {
		err_set(call->err, "Require 'backend/server'.");
		return NULL;
	}
	b = backend_named(m, name, len);
	s = b ? backend_find_server(b, name + len + 1) : NULL;
	if (!s)
		err_set(call->err, b ? "No such server." : "No such backend.");
	return s;
}

struct frontend *
call_frontend(struct call *call, const char *name)
{
	struct frontend *f =
	    model_find_frontend(control_model(call->env->control), name);

	if (!*name)
		err_set(call->err, "A frontend name is expected.");
	else if (!f)
		err_set(call->err, "No such frontend.");
	return f;
}

bool
call_backend(
    struct call *call, const char *name, const struct backend **ret_backend)
{
	const struct backend *b = NULL;

	if (*name) {
		b = backend_named(
		    control_model(call->env->control), name, strlen(name));
		if (!b)
			return err_set(call->err, "Can't find backend.");
	}
	*ret_backend = b;
	return true;
}

bool
call_number(struct call *call, const char *text, const char *missing,
    uint64_t max, uint64_t *ret_n)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end)
		return err_set(call->err, "%s", missing);
	if (errno || n < 0 || (uint64_t)n > max)
		return err_set(call->err, "Value out of range.");
	*ret_n = (uint64_t)n;
	return true;
}

bool
call_age(struct call *call, const char *text, uint64_t *ret_ms)
{
	uint64_t seconds;
	struct err why;

	if (text_parse_number(text, 0, UINT32_MAX, &seconds, &why))
		*ret_ms = seconds * 1000;
	else if (!text_parse_duration(
	             text, 0, UINT32_MAX * UINT64_C(1000), ret_ms, &why))
		return err_set(call->err, "Invalid age.");
	return true;
}

bool
call_take_json(struct call *call)
{
	size_t n = 0;

	while (call->args[n])
		n++;
	if (n == 0 || strcmp(call->args[n - 1], "json") != 0)
		return false;
	call->args[n - 1] = NULL;
	return true;
}
