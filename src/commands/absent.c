/* SPDX-License-Identifier: MIT
 * Commands of HAProxy about objects that lfproxy never has, such as maps.
 * Their clients get the answers of a HAProxy without any such object: a list
 * of commands would be parsed as a list of objects.  `help` and the HTTP API do
 * not show these commands.
 */
#include <openssl/provider.h>

#include "commands/call.h"
#include "commands/command.h"
#include "commands/commands.h"

#define NO_MAP       "Unknown map identifier. Please use #<id> or <file>."
#define EXPERIMENTAL "This command is restricted to experimental mode only."
#define NO_MODE      "lfproxy has no commands that such a mode would allow."
#define NO_CRT_LIST  "lfproxy has no crt-lists; see 'show tls'."
#define NO_OCSP                                                                \
	"lfproxy reads OCSP responses from files beside the certificates."

/* missing: the error for fewer than `least` arguments.  empty: the answer to no
 * argument, if that is none of the errors. */
#define ABSENT_ROW(...) ABSENT_ROW_OF(run_absent, __VA_ARGS__)
#define ABSENT_ROW_OF(                                                         \
    run, words, level, usage, least, missing, empty, unknown)                  \
	{                                                                      \
		{(words), LEVEL_##level, (run), ARGS_OWN, (usage), "",         \
		    {NULL, NULL, 0, 0}},                                       \
		    (least), (missing), (empty), (unknown)                     \
	}

static bool run_absent(struct call *call);
static bool run_commit_map(struct call *call);
static bool run_ssl_providers(struct call *call);

static const struct absent {
	struct command command;
	size_t least;
	const char *missing, *empty, *unknown;
} absent[] = {
    ABSENT_ROW("show map", USER, "[<map>]", 0, NULL,
        "# id (file) description\n", NO_MAP),
    ABSENT_ROW("get map", USER, "<map> <key>", 2,
        "Missing map identifier and/or key.", NULL, NO_MAP),
    ABSENT_ROW("add map", USER, "<map> <key> <value>|<payload>", 3,
        "'add map' expects three parameters (map identifier, key and value) "
        "or one parameter (map identifier) and a payload",
        NULL, NO_MAP),
    ABSENT_ROW("del map", USER, "<map> <key>", 2,
        "This command expects two parameters: map identifier and key.", NULL,
        NO_MAP),
    ABSENT_ROW("set map", USER, "<map> <key> <value>", 3,
        "'set map' expects three parameters: map identifier, key and value.",
        NULL, NO_MAP),
    ABSENT_ROW(
        "clear map", USER, "<map>", 1, "Missing map identifier.", NULL, NO_MAP),
    ABSENT_ROW("prepare map", USER, "<map>", 0, NULL, NULL, NO_MAP),
    ABSENT_ROW_OF(run_commit_map, "commit map", USER, "@<ver> <map>", 0, NULL,
        NULL, NULL),
    ABSENT_ROW("show ssl crt-list", ADMIN, "[<crtlist>]", 0, NULL, "",
        "didn't find the specified filename"),
    ABSENT_ROW("add ssl crt-list", ADMIN, "<crtlist> <payload>", 0, NULL, NULL,
        NO_CRT_LIST),
    ABSENT_ROW(
        "del ssl crt-list", ADMIN, "<crtlist>", 0, NULL, NULL, NO_CRT_LIST),
    ABSENT_ROW_OF(
        run_ssl_providers, "show ssl providers", USER, "", 0, NULL, NULL, NULL),
    ABSENT_ROW("show ssl ocsp-response", USER, "", 0, NULL, NULL, NO_OCSP),
    ABSENT_ROW("show ssl ocsp-updates", USER, "", 0, NULL,
        "OCSP Certid | Path | Next Update | Last Update | Successes | "
        "Failures | Last Update Status | Last Update Status (str)\n",
        NO_OCSP),
    ABSENT_ROW(
        "set ssl ocsp-response", ADMIN, "<payload>", 0, NULL, NULL, NO_OCSP),
    ABSENT_ROW("update ssl ocsp-response", ADMIN, "", 0, NULL, NULL, NO_OCSP),
    ABSENT_ROW("dump ssl cert", ADMIN, "", 0, NULL, NULL,
        "lfproxy shows no private keys; see 'show ssl cert'."),
    ABSENT_ROW("acme status", OPERATOR, "", 0, NULL, "",
        "lfproxy renews no certificates."),
    ABSENT_ROW("acme renew", ADMIN, "", 0, NULL, NULL,
        "lfproxy renews no certificates."),
    ABSENT_ROW("show cache", USER, "", 0, NULL, "", "lfproxy has no caches."),
    ABSENT_ROW("show peers", USER, "", 0, NULL, "", "lfproxy has no peers."),
    ABSENT_ROW("get var", OPERATOR, "<name>", 1,
        "Missing process-wide variable identifier.", NULL,
        "Variable not found."),
    ABSENT_ROW("set var", USER, "", 0, NULL, NULL, EXPERIMENTAL),
    ABSENT_ROW("show anon", USER, "", 0, NULL, "Anonymized mode disabled\n",
        "lfproxy does not anonymize its answers."),
    ABSENT_ROW("set anon", USER, "", 0, NULL, NULL,
        "lfproxy does not anonymize its answers."),
    ABSENT_ROW("show startup-logs", USER, "", 0, NULL, "",
        "lfproxy writes its warnings to its log."),
    ABSENT_ROW("show quic", USER, "", 0, NULL, "", "lfproxy has no QUIC."),
    ABSENT_ROW("dump stats-file", ADMIN, "", 0, NULL, NULL,
        "lfproxy has no stats-file; its state file has the counters."),
    ABSENT_ROW("show ssl sni", USER, "", 0, NULL, NULL,
        "lfproxy lists no names; see 'show ssl cert'."),
    ABSENT_ROW("experimental-mode", USER, "", 0, NULL, NULL, NO_MODE),
    ABSENT_ROW("expert-mode", USER, "", 0, NULL, NULL, NO_MODE),
};

static bool
run_absent(struct call *call)
{
	/* The command is the first member. */
	const struct absent *a = (const struct absent *)call->command;
	size_t n = words_count(call->args);

	if (n < a->least && !(call->payload && n > 0))
		return err_set(call->err, "%s", a->missing);
	if (n > 0 || !a->empty)
		return err_set(call->err, "%s", a->unknown);
	fputs(a->empty, call->out);
	return true;
}

static bool
run_commit_map(struct call *call)
{
	if (!call->args[0] || call->args[0][0] != '@')
		return err_set(call->err, "Missing version number.");
	if (!call->args[1])
		return err_set(call->err, "Missing map identifier.");
	return err_set(call->err, NO_MAP);
}

/* An OSSL_PROVIDER_do_all callback. */
static int
put_provider(OSSL_PROVIDER *provider, void *out)
{
	fprintf(out, "\t- %s\n", OSSL_PROVIDER_get0_name(provider));
	return 1;
}

/* Unlike the other commands of this file, this one has something to show. */
static bool
run_ssl_providers(struct call *call)
{
	fputs("Loaded providers : \n", call->out);
	(void)OSSL_PROVIDER_do_all(NULL, put_provider, call->out);
	return true;
}

const struct command *
absent_command(size_t i)
{
	return i < sizeof(absent) / sizeof(absent[0]) ? &absent[i].command
	                                              : NULL;
}
