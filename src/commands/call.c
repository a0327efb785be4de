/* SPDX-License-Identifier: MIT
 * See call.h.
 */
#include "commands/call.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "handover/takeover.h"

#define NUMBER_SIZE 24

const char *
command_level_name(enum admin_level level)
{
	static const char *const names[] = {
	    [LEVEL_USER] = "user",
	    [LEVEL_OPERATOR] = "operator",
	    [LEVEL_ADMIN] = "admin",
	};
	_Static_assert(
	    LEVEL_ADMIN + 1 == sizeof(names) / sizeof(names[0]), "a name each");

	return names[level];
}

size_t
words_count(char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

bool
words_cut(char *text, char *words[WORDS_MAX + 1])
{
	size_t n = 0;
	char *to = text;

	for (;;) {
		char last;

		text += strspn(text, " \t");
		if (!*text)
			break;
		if (n == WORDS_MAX)
			return false;
		words[n++] = to;
		for (; *text && *text != ' ' && *text != '\t'; text++) {
			if (*text == '\\' && text[1])
				text++;
			*to++ = *text;
		}
		last = *text;
		*to++ = '\0';
		if (!last)
			break;
		text++;
	}
	words[n] = NULL;
	return true;
}

/* -- answers -- */

void
call_fail(const struct call *call)
{
	call->mode->failed = true;
}

void
call_severity(const struct call *call, enum severity severity)
{
	static const char *const names[] = {
	    [SEVERITY_ERR] = "err",
	    [SEVERITY_WARNING] = "warning",
	    [SEVERITY_NOTICE] = "notice",
	    [SEVERITY_INFO] = "info",
	};
	_Static_assert(SEVERITY_INFO + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	if (severity <= SEVERITY_ERR)
		call_fail(call);
	if (call->mode->severity == SEVERITY_NUMBER)
		fprintf(call->out, "[%d]: ", severity);
	else if (call->mode->severity == SEVERITY_STRING)
		fprintf(call->out, "[%s]: ", names[severity]);
}

void
call_say(const struct call *call, enum severity severity, const char *fmt, ...)
{
	va_list ap;

	call_severity(call, severity);
	va_start(ap, fmt);
	vfprintf(call->out, fmt, ap);
	va_end(ap);
	putc('\n', call->out);
}

static void
audit_call(const struct call *call, const char *before, const char *after,
    const char *what, va_list ap)
{
	char middle[256], text[320];

	vsnprintf(middle, sizeof(middle), what, ap);
	snprintf(text, sizeof(text), "%s%s%s",
	    call->audit_prefix ? call->audit_prefix : "", middle,
	    call->audit_suffix ? call->audit_suffix : "");
	audit_note(call->env->audit, &call->mode->peer, text, before, after);
}

void
call_audit(const struct call *call, const char *before, const char *after,
    const char *what, ...)
{
	va_list ap;

	va_start(ap, what);
	audit_call(call, before, after, what, ap);
	va_end(ap);
}

void
call_audit_number(const struct call *call, uint64_t before, uint64_t after,
    const char *what, ...)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE];
	va_list ap;

	snprintf(from, sizeof(from), "%" PRIu64, before);
	snprintf(to, sizeof(to), "%" PRIu64, after);
	va_start(ap, what);
	audit_call(call, from, to, what, ap);
	va_end(ap);
}

void
call_audit_server(const struct call *call, const struct server *server,
    const char *what, const char *before, const char *after)
{
	call_audit(call, before, after, "server %s/%s %s",
	    server->backend->spec->name, server->spec->name, what);
}

bool
call_ended_before(struct call *call, const char *again)
{
	struct err why = *call->err;

	return takeover_first_number() > 0 &&
	       err_set(call->err,
	           "%.300s\nWhat was not committed before the upgrade to this "
	           "process has ended; begin again with '%s'.",
	           why.text, again);
}

bool
err_as_sentence(struct err *err)
{
	size_t len = strlen(err->text);

	err->text[0] = (char)toupper((unsigned char)err->text[0]);
	if (len + 1 < sizeof(err->text))
		strcpy(err->text + len, ".");
	return false;
}

/* -- arguments -- */

const char *
call_arg(const struct call *call, unsigned i)
{
	return i < words_count(call->args) ? call->args[i] : "";
}

bool
call_is_strict(const struct call *call)
{
	return call->mode->severity == SEVERITY_STATUS;
}

/* Returns whether the argument fits the word: is one of its alternatives, or
 * any text if one of them has a `<`.  A word that begins with `@` takes a text
 * that does so, too. */
static bool
fits_word(const char *word, size_t word_len, const char *arg)
{
	size_t len = strlen(arg), n;

	if (memchr(word, '<', word_len))
		return *word != '@' || *arg == '@';
	for (size_t i = 0; i < word_len; i += n + 1) {
		const char *bar = memchr(word + i, '|', word_len - i);

		n = bar ? (size_t)(bar - word) - i : word_len - i;
		if (n == len && memcmp(word + i, arg, n) == 0)
			return true;
	}
	return false;
}

/* Takes off the arguments that fit the words up to end.  Returns false if one
 * does not fit, unless it is the first one of an optional group. */
static bool
take_group(const char *word, const char *end, bool optional, char *const **args)
{
	char *const *first = *args;

	while (**args) {
		size_t len;

		word += strspn(word, " ");
		if (word >= end)
			return true;
		len = strcspn(word, " ");
		if (len > (size_t)(end - word))
			len = (size_t)(end - word);
		if (!fits_word(word, len, **args))
			return optional && *args == first;
		(*args)++;
		word += len;
	}
	return true;
}

const char *
usage_unexpected(const char *usage, char *const *args)
{
	while (*args && *(usage += strspn(usage, " "))) {
		bool optional = *usage == '[';
		const char *end = usage + strcspn(usage, optional ? "]" : " ");
		bool repeated = optional && *end && end[1] == '*';
		char *const *before;

		do {
			before = args;
			if (!take_group(usage + optional, end, optional, &args))
				return *args;
		} while (repeated && args != before);
		usage = end + (optional && *end) + repeated;
	}
	return *args;
}

bool
call_fits(struct call *call, const char *usage, unsigned from)
{
	const char *word = usage_unexpected(usage, call->args + from);

	if (!word)
		return true;
	if (!*usage)
		return err_set(call->err,
		    "Unexpected argument '%s'; this command takes none.", word);
	return err_set(call->err, "Unexpected argument '%s'; the usage is: %s",
	    word, usage);
}

bool
call_take_json(struct call *call)
{
	size_t n = words_count(call->args);

	if (n == 0 || strcmp(call->args[n - 1], "json") != 0)
		return false;
	call->args[n - 1] = NULL;
	return true;
}

bool
call_no_such(struct call *call, const char *words, const struct hint *hint)
{
	const char *stop = words[strlen(words) - 1] == '.' ? "" : ".";

	if (!call_is_strict(call))
		return err_set(call->err, "%s", words);
	if (hint->near)
		return err_set(call->err, "%s%s Did you mean '%s'?", words,
		    stop, hint->near);
	return err_set(call->err, "%s%s There %s %.400s.", words, stop,
	    hint->offered == 1 ? "is" : "are",
	    hint->offered > 0 ? hint->listed : "none");
}

bool
call_no_such_of(struct call *call, const char *words, const char *name,
    const struct name_table *names)
{
	struct hint hint;

	(void)hint_table(&hint, name, names, "there");
	return call_no_such(call, words, &hint);
}

bool
call_no_such_proxy(struct call *call, const char *name)
{
	const struct spec *spec = call->env->instance->model->spec;
	struct hint hint;

	hint_init(&hint, name);
	for (size_t i = 0; i < spec->frontends_n; i++)
		hint_offer(&hint, spec->frontends[i].name);
	for (size_t i = 0; i < spec->backends_n; i++)
		hint_offer(&hint, spec->backends[i].name);
	return call_no_such(call, "No such proxy.", &hint);
}

size_t
call_backend_len(struct call *call, const char *name)
{
	size_t len = strcspn(name, "/");

	if (len > 0 && name[len] && name[len + 1])
		return len;
	err_set(call->err, "Require 'backend/server'.");
	return 0;
}

struct backend *
call_server_backend(
    struct call *call, const char *name, const char **ret_server)
{
	const struct model *m = call->env->instance->model;
	size_t len = call_backend_len(call, name);
	char backend[CALL_NAME_SIZE];
	struct backend *b;

	if (len == 0)
		return NULL;
	*ret_server = name + len + 1;
	snprintf(backend, sizeof(backend), "%.*s", (int)len, name);
	b = model_find_backend(m, backend);
	if (!b)
		call_no_such_of(
		    call, "No such backend.", backend, BACKEND_NAMES(m->spec));
	return b;
}

struct server *
call_server(struct call *call, const char *name)
{
	const char *server_name;
	struct backend *b = call_server_backend(call, name, &server_name);
	struct server *s = b ? backend_find_server(b, server_name) : NULL;

	if (b && !s)
		call_no_such_of(call, "No such server.", server_name,
		    SERVER_TABLE(b->spec));
	return s;
}

struct frontend *
call_frontend(struct call *call, const char *name)
{
	const struct model *m = call->env->instance->model;
	struct frontend *f = model_find_frontend(m, name);

	if (!*name)
		err_set(call->err, "A frontend name is expected.");
	else if (!f)
		call_no_such_of(
		    call, "No such frontend.", name, FRONTEND_NAMES(m->spec));
	return f;
}

bool
call_backend(
    struct call *call, const char *name, const struct backend **ret_backend)
{
	const struct model *m = call->env->instance->model;

	*ret_backend = *name ? model_find_backend(m, name) : NULL;
	return !*name || *ret_backend ||
	       call_no_such_of(
	           call, "Can't find backend.", name, BACKEND_NAMES(m->spec));
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
call_time(const char *text, uint64_t unit_ms, uint64_t min_ms, uint64_t max_ms,
    uint64_t *ret_ms)
{
	struct err why;
	uint64_t n;

	if (!text_parse_number(
	        text, min_ms / unit_ms, max_ms / unit_ms, &n, &why))
		return text_parse_duration(text, min_ms, max_ms, ret_ms, &why);
	*ret_ms = n * unit_ms;
	return true;
}

bool
call_once(struct call *call, const char *option, unsigned *given, unsigned bit)
{
	if (*given & bit)
		return err_set(call->err, "%s: given twice; keep one.", option);
	*given |= bit;
	return true;
}

bool
call_age(
    struct call *call, const char *option, const char *text, uint64_t *ret_ms)
{
	return call_time(text, 1000, 0, UINT32_MAX * UINT64_C(1000), ret_ms) ||
	       err_set(call->err,
	           "%s: '%s' is not an age; write a duration such as 10m "
	           "(units are ms, s, m, h, d), or a number of seconds.",
	           option, text);
}

bool
call_duration(struct call *call, const char *option, const char *text,
    uint64_t min_ms, uint64_t max_ms, uint64_t *ret_ms)
{
	struct err why;

	if (!*text)
		return err_set(call->err,
		    "'%s' needs a duration, as in '%s 10m' (units are ms, s, "
		    "m, h, d).",
		    option, option);
	return text_parse_duration(text, min_ms, max_ms, ret_ms, &why) ||
	       err_set(call->err, "%s: %s.", option, why.text);
}
