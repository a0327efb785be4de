/* SPDX-License-Identifier: MIT
 * See server_words.h.
 */
#include "config/server_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"
#include "config/hint.h"

enum takes { TAKES_NOTHING, TAKES_VALUE, TAKES_TIME, TAKES_ONE };

/* HAProxy's words, and the file's words for the same. */
static const struct word {
	const char *theirs;
	enum takes takes;
	const char *ours;
	const char *one; /* TAKES_ONE: the only value that it may have */
} known[] = {
    {"addr", TAKES_VALUE, "check_addr", NULL},
    {"agent-addr", TAKES_VALUE, "agent_addr", NULL},
    {"agent-check", TAKES_NOTHING, "agent=on", NULL},
    {"agent-inter", TAKES_TIME, "agent_interval", NULL},
    {"agent-port", TAKES_VALUE, "agent_port", NULL},
    {"agent-send", TAKES_VALUE, "agent_send", NULL},
    {"backup", TAKES_NOTHING, "backup", NULL},
    {"check", TAKES_NOTHING, "check=on", NULL},
    {"check-ssl", TAKES_NOTHING, "check_tls=on", NULL},
    {"downinter", TAKES_TIME, "check_down_interval", NULL},
    {"fall", TAKES_VALUE, "check_fall", NULL},
    {"fastinter", TAKES_TIME, "check_fast_interval", NULL},
    {"init-state", TAKES_VALUE, "check_init_state", NULL},
    {"inter", TAKES_TIME, "check_interval", NULL},
    {"interface", TAKES_VALUE, "interface", NULL},
    {"maxconn", TAKES_VALUE, "maxconn", NULL},
    {"no-backup", TAKES_NOTHING, "backup=off", NULL},
    {"no-send-proxy", TAKES_NOTHING, "send_proxy=off", NULL},
    {"no-send-proxy-v2", TAKES_NOTHING, "send_proxy=off", NULL},
    {"no-tfo", TAKES_NOTHING, "tfo=off", NULL},
    {"on-marked-down", TAKES_ONE, "on_down=close", "shutdown-sessions"},
    {"on-marked-up", TAKES_ONE, "on_up=close_backup",
        "shutdown-backup-sessions"},
    {"port", TAKES_VALUE, "check_port", NULL},
    {"rise", TAKES_VALUE, "check_rise", NULL},
    {"send-proxy", TAKES_NOTHING, "send_proxy=v1", NULL},
    {"send-proxy-v2", TAKES_NOTHING, "send_proxy=v2", NULL},
    {"send-proxy-v2-ssl", TAKES_NOTHING, "send_proxy=v2-tls", NULL},
    {"send-proxy-v2-ssl-cn", TAKES_NOTHING, "send_proxy=v2-tls", NULL},
    {"slowstart", TAKES_TIME, "slow_start", NULL},
    {"tfo", TAKES_NOTHING, "tfo=on", NULL},
    {"track", TAKES_VALUE, "track", NULL},
    {"weight", TAKES_VALUE, "weight", NULL},
};

/* Words that HAProxy accepts only in its file. */
static const char never[] =
    "cookie, init-addr, log-proto, max-reuse, namespace, no-agent-check, "
    "no-check, no-check-send-proxy, no-check-ssl, no-ssl, non-stick, "
    "redir, resolve-net, resolve-opts, resolve-prefer, resolvers, "
    "socks4, stick, tcp-ut";

/* Words that HAProxy accepts and for which lfproxy has no option. */
static const struct {
	const char *words, *why;
} not_here[] = {
    {"alpn, ca-file, ciphers, ciphersuites, crl-file, crt, "
     "client-sigalgs, curves, force-sslv3, force-tlsv10, force-tlsv11, "
     "force-tlsv12, force-tlsv13, no-tlsv10, no-tlsv11, no-tlsv12, "
     "no-tlsv13, npn, sigalgs, sni, ssl, ssl-max-ver, ssl-min-ver, verify, "
     "verifyhost",
        "write tls=NAME for TLS with the server, as its [tls NAME] says"},
    {"check-alpn, check-proto, check-sni, check-via-socks4, healthcheck",
        "how servers are checked is their backend's (check =)"},
    {"id", "a server gets the lowest id that is free"},
    {"minconn", "maxconn does not depend on the load"},
    {"hash-key", "the hash of a server's address or name is not a setting"},
    {"proto", "it is about HTTP, and this is TCP"},
    {"proxy-v2-options",
        "the PROXY header has the name of TLS where it is known"},
    {"usesrc", "it follows the address of source"},
};

/* Words without which clients and servers see the same sessions, so a server
 * is added without them.  value: a value follows.  The rows are at most 64. */
#define OF_HTTP "idle connections are for HTTP, and this is TCP."
#define OF_TLS  "the resumption of TLS sessions is not a setting of servers."
static const struct {
	const char *word;
	bool value;
	const char *text;
} ignored[] = {
#define IGNORED(word, value, why)                                              \
	{                                                                      \
		word, value, "'" word "' is ignored: " why                     \
	}
    IGNORED("allow-0rtt", false, "servers get no early data."),
    IGNORED("check-pool-conn-name", true, OF_HTTP),
    IGNORED("check-reuse-pool", false, OF_HTTP),
    IGNORED("guid", true, "servers are named BACKEND/SERVER."),
    IGNORED("idle-ping", true, OF_HTTP),
    IGNORED("maxqueue", true,
        "sessions queue for the backend, whose key maxqueue limits them."),
    IGNORED("no-ssl-reuse", false, OF_TLS),
    IGNORED("no-sslv3", false, "there is no SSLv3."),
    IGNORED("no-tls-tickets", false, OF_TLS),
    IGNORED("pool-conn-name", true, OF_HTTP),
    IGNORED("pool-low-conn", true, OF_HTTP),
    IGNORED("pool-max-conn", true, OF_HTTP),
    IGNORED("pool-purge-delay", true, OF_HTTP),
    IGNORED("shard", true, "it is for peers, which lfproxy does not have."),
    IGNORED("strict-maxconn", false, "maxconn is always strict."),
    IGNORED("tls-tickets", false, OF_TLS),
    IGNORED("ws", true, "it is for HTTP, and this is TCP."),
#undef IGNORED
};

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
take_one(struct reading *r, const struct word *w)
{
	const char *value = next(r);

	if (strcmp(value, w->one) == 0)
		return append_option(r, w->ours, NULL);
	return err_set(r->err, "'%s' expects '%s' but got '%s'.", w->theirs,
	    w->one, value);
}

static bool
take_known(struct reading *r, const struct word *w)
{
	if (begins(w->theirs, "send-proxy-v2"))
		r->version = "v2";
	switch (w->takes) {
	case TAKES_NOTHING:
		return append_option(r, w->ours, NULL);
	case TAKES_VALUE:
		return append_option(r, w->ours, next(r));
	case TAKES_TIME:
		return take_time(r, w->ours);
	case TAKES_ONE:
		return take_one(r, w);
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

/* Returns whether the word is not possible here, with err set. */
static bool
word_is_refused(struct reading *r, const char *word)
{
	if (hint_word_is_in(word, never))
		return !err_set(r->err,
		    "'%s' option is not accepted for dynamic server", word);
	for (size_t i = 0; i < COUNT(not_here); i++)
		if (hint_word_is_in(word, not_here[i].words))
			return !err_set(r->err, "'%s' is not possible: %s",
			    word, not_here[i].why);
	return false;
}

/* Takes a word that changes nothing here, with its value.  Returns false for
 * other words, and for one whose value is missing. */
static bool
take_ignored(struct reading *r, const char *word)
{
	for (size_t i = 0; i < COUNT(ignored); i++) {
		if (strcmp(word, ignored[i].word) != 0)
			continue;
		if (ignored[i].value && !*next(r))
			return false;
		r->out->ignored |= UINT64_C(1) << i;
		return true;
	}
	return false;
}

const char *
server_words_ignored(struct server_words *words)
{
	_Static_assert(COUNT(ignored) <= 64, "a bit each");

	for (size_t i = 0; i < COUNT(ignored); i++)
		if (words->ignored & UINT64_C(1) << i) {
			words->ignored &= ~(UINT64_C(1) << i);
			return ignored[i].text;
		}
	return NULL;
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
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(word, known[i].theirs) == 0)
			return take_known(r, &known[i]);
	if (strcmp(word, "observe") == 0)
		return take_common(r, word, "observe",
		    b->observe == OBSERVE_CONNECT ? "layer4" : NULL);
	if (strcmp(word, "on-error") == 0)
		return take_common(r, word, "on_error", on_errors[b->on_error]);
	snprintf(limit, sizeof(limit), "%u", b->error_limit);
	if (strcmp(word, "error-limit") == 0)
		return take_common(r, word, "error_limit", limit);
	if (is_tls_of_backend(r, word))
		return true;
	if (take_ignored(r, word))
		return true;
	/* The word may be an option of the file, whose parser refuses an
	 * unknown one. */
	return !word_is_refused(r, word) && append_option(r, word, NULL);
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
