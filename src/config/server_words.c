/* SPDX-License-Identifier: MIT
 * See server_words.h.
 */
#include "config/server_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ensure.h"
#include "base/printable.h"
#include "base/text.h"
#include "vocabulary/options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct reading {
	const struct backend_spec *backend;
	char *const *words; /* not read yet */
	struct server_words *out;
	bool checks, agent, tracks; /* a word was about these */
	bool check_header;          /* check-send-proxy */
	const char *version;        /* of the server's own header */
	struct err *err;
};

static bool
begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns whether the option of the file has that name, with a value or
 * without. */
static bool
is_option(const char *option, const char *name)
{
	size_t len = strlen(name);

	return strncmp(option, name, len) == 0 &&
	       (option[len] == '=' || option[len] == '\0');
}

/* Appends an option.  If option is "", appends the value alone. */
static bool
append_option(struct reading *r, const char *option, const char *value)
{
	size_t len = strlen(r->out->value);
	int n;

	r->checks |= is_option(option, "check");
	r->agent |= is_option(option, "agent");
	r->tracks |= is_option(option, "track");
	n = snprintf(r->out->value + len, sizeof(r->out->value) - len,
	    "%s%s%s%s", len > 0 ? " " : "", option, *option && value ? "=" : "",
	    value ? value : "");

	return (n >= 0 && (size_t)n < sizeof(r->out->value) - len) ||
	       err_set(r->err,
	           "the server takes more than %d characters, its name, its "
	           "address and its options together",
	           DRAFT_VALUE_MAX);
}

/* Takes an address, also with HAProxy's `ipv4@`, `ipv6@` and `unix@`. */
static bool
take_server_address(struct reading *r, const char *address)
{
	char text[DRAFT_VALUE_MAX + 1];

	if (begins(address, "ipv4@") || begins(address, "ipv6@"))
		address += strlen("ipv4@");
	if (begins(address, "unix@") || address[0] == '/') {
		snprintf(text, sizeof(text), "unix:%s",
		    address + (address[0] == '/' ? 0 : strlen("unix@")));
		return append_option(r, "", text);
	}
	return append_option(r, "", address);
}

static const char *
next(struct reading *r)
{
	return *r->words ? *r->words++ : "";
}

/* Takes a source: `0.0.0.0 usesrc clientip` is the client's address. */
static bool
take_server_source(struct reading *r)
{
	const char *address = next(r);
	const char *whose;

	if (!*r->words || strcmp(*r->words, "usesrc") != 0)
		return append_option(r, "source", address);
	r->words++;
	whose = next(r);
	if (strcmp(whose, "clientip") != 0 ||
	    (strcmp(address, "0.0.0.0") != 0 && strcmp(address, "::") != 0 &&
	        strcmp(address, "*") != 0))
		return err_set(r->err,
		    "'source %s usesrc %s': there is only 'source 0.0.0.0 "
		    "usesrc clientip', or source=client",
		    address, whose);
	return append_option(r, "source", "client");
}

/* Takes a time, which HAProxy counts in milliseconds unless it has a unit. */
static bool
take_time(struct reading *r, const char *option)
{
	char text[TEXT_DURATION_SIZE];
	const char *word = next(r);
	size_t digits = strspn(word, "0123456789");
	uint64_t n;

	if (digits > 0 && !word[digits]) {
		snprintf(text, sizeof(text), "%.16sms", word);
		word = text;
	} else if (strcmp(word + digits, "us") == 0 && digits < 16 &&
	           sscanf(word, "%" SCNu64, &n) == 1) {
		snprintf(text, sizeof(text), "%" PRIu64 "ms", (n + 999) / 1000);
		word = text;
	}
	return append_option(r, option, word);
}

static bool
take_one(struct reading *r, const char *word, const struct option_words *row)
{
	const char *value = next(r);

	if (strcmp(value, row->one) == 0)
		return append_option(r, row->key, row->value);
	return err_set(
	    r->err, "'%s' expects '%s' but got '%s'.", word, row->one, value);
}

static bool
take_known(struct reading *r, const char *word, const struct option_words *row)
{
	if (begins(word, "send-proxy-v2"))
		r->version = "v2";
	switch (row->takes) {
	case TAKES_NOTHING:
		return append_option(
		    r, row->key, *row->value ? row->value : NULL);
	case TAKES_NUMBER:
	case TAKES_TEXT:
		return append_option(r, row->key, next(r));
	case TAKES_TIME:
		return take_time(r, row->key);
	case TAKES_ONE:
		return take_one(r, word, row);
	}
	return false;
}

/* Takes a value that only the backend can have here, so it must be the
 * backend's value.  backends_value NULL: the backend's value is none of
 * HAProxy's.  key: the key of the file. */
static bool
take_common(struct reading *r, const char *word, const char *key,
    const char *backends_value)
{
	const char *value = next(r);

	return (backends_value && strcmp(value, backends_value) == 0) ||
	       err_set(r->err,
	           "'%s %s' differs from [backend %s]; this belongs to the "
	           "backend here, see its key %s",
	           word, value, r->backend->name, key);
}

/* Returns whether the word is `ssl`, and the backend's servers have TLS. */
static bool
is_tls_of_backend(const struct reading *r, const char *word)
{
	const struct optional *tls = &r->backend->tls;

	return strcmp(word, "ssl") == 0 && tls->is_set && tls->value != TLS_OFF;
}

/* Takes a word that changes nothing here, with its value, which must not be
 * missing. */
static bool
take_ignored(
    struct reading *r, const char *word, const struct option_words *row)
{
	struct server_words *out = r->out;
	size_t i = 0;

	if (row->takes != TAKES_NOTHING && !*next(r))
		return err_set(r->err, "'%s' expects a value", word);
	while (i < out->ignored_n && strcmp(out->ignored[i].word, word) != 0)
		i++;
	if (i == out->ignored_n) {
		ENSURE(i < COUNT(out->ignored));
		out->ignored[out->ignored_n++] =
		    (struct ignored_word){word, row->reason};
	}
	return true;
}

/* Takes a word as the table has it.  A word that is not there may be an option
 * of the file, whose parser refuses an unknown one. */
static bool
take_by_table(struct reading *r, const char *word)
{
	const struct option_words *row = server_option_find(word);

	switch (row ? row->dynamic : DYNAMIC_UNKNOWN) {
	case DYNAMIC_TAKEN:
		return take_known(r, word, row);
	case DYNAMIC_IGNORED:
		return take_ignored(r, word, row);
	case DYNAMIC_NEVER:
		return err_set(r->err,
		    "'%s' option is not accepted for dynamic server", word);
	case DYNAMIC_REFUSED:
		return err_set(
		    r->err, "'%s' is not possible: %s", word, row->advice);
	case DYNAMIC_UNKNOWN:
		break;
	}
	return append_option(r, word, NULL);
}

static bool
take_word(struct reading *r)
{
	static const char *const on_errors[] = {
	    [ON_ERROR_FAST_CHECK] = "fastinter",
	    [ON_ERROR_FAIL_CHECK] = "fail-check",
	    [ON_ERROR_SUDDEN_DEATH] = "sudden-death",
	    [ON_ERROR_MARK_DOWN] = "mark-down",
	};
	_Static_assert(COUNT(on_errors) == ON_ERROR_MARK_DOWN + 1, "all");
	const struct backend_spec *b = r->backend;
	const char *word = next(r);
	char limit[12];

	if (strcmp(word, "enabled") == 0 || strcmp(word, "disabled") == 0) {
		r->out->enabled = word[0] == 'e';
		return true;
	}
	if (strcmp(word, "check-send-proxy") == 0) {
		r->check_header = true;
		return true;
	}
	if (strcmp(word, "source") == 0)
		return take_server_source(r);
	if (strcmp(word, "observe") == 0)
		return take_common(r, word, "observe",
		    b->observe == OBSERVE_CONNECT ? "layer4" : NULL);
	if (strcmp(word, "on-error") == 0)
		return take_common(r, word, "on_error", on_errors[b->on_error]);
	snprintf(limit, sizeof(limit), "%u", b->error_limit);
	if (strcmp(word, "error-limit") == 0)
		return take_common(r, word, "error_limit", limit);
	return is_tls_of_backend(r, word) || take_by_table(r, word);
}

static bool
is_printable(struct reading *r)
{
	const char *p = r->out->value;
	size_t len;

	while ((len = printable_length(p)) > 0)
		p += len;
	return *p == '\0' ||
	       err_set(r->err,
	           "there is a control character, or a byte that is not UTF-8, "
	           "0x%02x",
	           (unsigned char)*p);
}

bool
server_words_read(const struct backend_spec *backend, const char *name,
    char *const *words, struct server_words *ret_words, struct err *err)
{
	struct reading r = {.backend = backend,
	    .words = words,
	    .out = ret_words,
	    .version = "v1",
	    .err = err};

	*ret_words = (struct server_words){.enabled = false};
	if (!append_option(&r, "", name) || !take_server_address(&r, next(&r)))
		return false;
	while (*r.words)
		if (!take_word(&r))
			return false;
	if (r.check_header && !append_option(&r, "check_send_proxy", r.version))
		return false;
	/* A server that tracks another has neither a check nor an agent. */
	if (!r.tracks) {
		ret_words->unchecked =
		    !r.checks && backend->check.kind != CHECK_OFF;
		ret_words->unasked = !r.agent && backend->agent.on;
		if ((!r.checks && !append_option(&r, "check", "off")) ||
		    (!r.agent && !append_option(&r, "agent", "off")))
			return false;
	}
	return is_printable(&r);
}
