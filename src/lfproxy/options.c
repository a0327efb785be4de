/* SPDX-License-Identifier: MIT
 * See options.h.
 */
#include "lfproxy/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/hint.h"

#define TRY_HELP "; try lfproxy -h"

/* `+` makes getopt stop at the first word that is not an option, so optind is
 * always the current word. */
static const char letters[] = "+:c:l:s:b:k:n:a:x:tTVh";

/* The values of long options without a letter. */
enum { LIST_KEYS = 256, LIST_COMMANDS, LIST_RECORDS, RELOAD };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"listen", required_argument, NULL, 'l'},
    {"server", required_argument, NULL, 's'},
    {"balance", required_argument, NULL, 'b'},
    {"check", required_argument, NULL, 'k'},
    {"threads", required_argument, NULL, 'n'},
    {"admin", required_argument, NULL, 'a'},
    {"take-over", required_argument, NULL, 'x'},
    {"test", no_argument, NULL, 't'},
    {"print", no_argument, NULL, 'T'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {"reload", required_argument, NULL, RELOAD},
    {"list-keys", no_argument, NULL, LIST_KEYS},
    {"list-commands", no_argument, NULL, LIST_COMMANDS},
    {"list-records", no_argument, NULL, LIST_RECORDS},
    {NULL, 0, NULL, 0},
};

void
options_help(FILE *out)
{
	fputs(
	    "lfproxy " LFPROXY_VERSION ": a TCP load balancer\n"
	    "\n"
	    "usage: lfproxy -c FILE... [-x SOCKET] [-t | -T]\n"
	    "       lfproxy -l ADDR... -s [NAME=]ADDR... [-b BALANCE]\n"
	    "               [-k CHECK] [-n THREADS] [-a SOCKET] [-t | -T]\n"
	    "       lfproxy --reload PID\n"
	    "       lfproxy -h | -V\n"
	    "\n"
	    "  -c, --config FILE         read the configuration from FILE, or\n"
	    "                            from *.ini in the directory FILE "
	    "(repeatable)\n"
	    "\n"
	    "Without a file:\n"
	    "  -l, --listen ADDR         accept connections on ADDR "
	    "(repeatable)\n"
	    "  -s, --server [NAME=]ADDR  relay connections to this server\n"
	    "                            (repeatable; names: s1, s2, ...)\n"
	    "  -b, --balance BALANCE     roundrobin (default), leastconn, "
	    "random,\n"
	    "                            source, hash, first or ewma\n"
	    "  -k, --check CHECK         connect (default), http[:/path],\n"
	    "                            https[:/path], tls, redis, "
	    "postgresql,\n"
	    "                            mysql, smtp, script:/program or off\n"
	    "  -n, --threads THREADS     auto (default), a number, or "
	    "MIN..MAX\n"
	    "  -a, --admin SOCKET        path of an admin socket for "
	    "lfproxyctl\n"
	    "\n"
	    "  -x, --take-over SOCKET    take over the listening sockets and "
	    "sessions of\n"
	    "                            the lfproxy with this admin socket\n"
	    "  -t, --test                check the configuration and exit\n"
	    "  -T, --print               print it with all defaults and exit\n"
	    "      --reload PID          make the lfproxy with that process id "
	    "reload its\n"
	    "                            configuration; fail if it refuses\n"
	    "  -V, --version             print the version and exit\n"
	    "  -h, --help                print this and exit\n"
	    "\n"
	    "ADDR is HOST:PORT, [IPV6]:PORT or unix:/path, and for -l also "
	    ":PORT,\na range of ports as :8000-8099, or fd:NAME.\n"
	    "\n"
	    "Exit status: 0 success, 78 error in the configuration, "
	    "64 usage error,\n"
	    "71 error of the system, for instance an address in use\n",
	    out);
}

void
options_fini(struct options *options)
{
	free(options->short_form.listens);
	free(options->short_form.servers);
	free(options->files);
}

static bool
set_option_once(const char **value, int letter, struct err *err)
{
	if (*value)
		return err_set(err, "-%c is given twice" TRY_HELP, letter);
	*value = optarg;
	return true;
}

static bool
options_append(const char ***values, size_t *n, struct err *err)
{
	const char **grown = reallocarray(*values, *n + 1, sizeof(*grown));

	if (!grown)
		return err_oom(err);
	*values = grown;
	grown[(*n)++] = optarg;
	return true;
}

/* Options of haproxy and nginx, and what to do instead. */
static const struct {
	char letter;
	const char *advice;
} foreign_options[] = {
    {'d', "lfproxy stays in the foreground, and has no debug mode: leave it "
          "out"},
    {'D', "lfproxy stays in the foreground, where a service manager keeps "
          "it: leave it out"},
    {'f', "name the configuration with -c FILE"},
    {'g', "write the settings into a file, and name it with -c FILE"},
    {'p', "lfproxy writes no pid file, as it stays in the foreground: leave "
          "it out"},
    {'q', "-t prints nothing but errors, warnings and one line: leave it out"},
    {'v', "the version is printed by -V"},
    {'W', "a reload needs no second process: leave it out"},
};

static const char *
foreign_advice(char letter)
{
	size_t n = sizeof(foreign_options) / sizeof(foreign_options[0]);

	for (size_t i = 0; i < n; i++)
		if (foreign_options[i].letter == letter)
			return foreign_options[i].advice;
	return NULL;
}

/* Returns whether the word is a long option with one dash only, as `-config`
 * is, with err set. */
static bool
lacks_dash(const char *word, struct err *err)
{
	size_t len = strcspn(word, "=");

	if (word[0] != '-' || word[1] == '-' || len < 3)
		return false;
	for (const struct option *o = long_options; o->name; o++)
		if (strlen(o->name) == len - 1 &&
		    strncmp(o->name, word + 1, len - 1) == 0)
			return !err_set(err,
			    "%s has one dash only; write -%s" TRY_HELP, word,
			    word);
	return false;
}

/* Returns whether the words are a signal of nginx (`-s reload`), or the check
 * of a file (`-c -f FILE`) or the start of a successor (`-sf PID`) of haproxy,
 * with err set. */
static bool
is_foreign_use(const char *word, const char *next, struct err *err)
{
	static const char *const signals[] = {
	    "quit", "reload", "reopen", "stop"};

	if (strcmp(word, "-sf") == 0 || strcmp(word, "-st") == 0)
		return !err_set(err,
		    "%s: the process that runs is not named by its id; "
		    "upgrade it with `lfproxyctl upgrade`, or take it over "
		    "with -x SOCKET" TRY_HELP,
		    word);
	if (next && strcmp(word, "-c") == 0 && strcmp(next, "-f") == 0)
		return !err_set(err,
		    "-c names the configuration, and -t checks it: lfproxy -t "
		    "-c FILE" TRY_HELP);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (next && strcmp(word, "-s") == 0 &&
		    strcmp(next, signals[i]) == 0)
			return !err_set(err,
			    "-s names a server, and '%s' has no port; "
			    "`lfproxyctl reload` reloads, SIGTERM stops, and "
			    "log files are reopened by SIGUSR1" TRY_HELP,
			    next);
	return false;
}

/* Reports a long option that does not exist, or of which several begin so. */
static bool
err_unknown_long(const char *word, struct err *err)
{
	char name[40];
	struct hint hint;

	snprintf(
	    name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	hint_init(&hint, name);
	for (const struct option *o = long_options; o->name; o++)
		hint_offer(&hint, o->name);
	if (hint.near)
		return err_set(err,
		    "%s is unknown; did you mean --%s?" TRY_HELP, word,
		    hint.near);
	return err_set(err, "%s is unknown or ambiguous" TRY_HELP, word);
}

/* getopt reports only the letter of a short option, which may be part of a
 * group, and nothing about a long one, so the word is needed. */
static bool
err_bad_option(int found, const char *word, struct err *err)
{
	const char *advice = foreign_advice((char)optopt);
	bool is_long = strncmp(word, "--", 2) == 0;
	char letter[] = {'-', (char)optopt, '\0'};
	const char *what = is_long || !optopt ? word : letter;

	if (found == ':')
		return err_set(err, "%s needs a value" TRY_HELP, what);
	if (is_long && optopt)
		return err_set(err, "%s takes no value" TRY_HELP, what);
	if (is_long)
		return err_unknown_long(word, err);
	return err_set(err, "%s is unknown%s%s" TRY_HELP, what,
	    advice ? "; " : "", advice ? advice : "");
}

static bool
parse_pid(const char *text, pid_t *ret_pid, struct err *err)
{
	uint64_t pid;

	if (!text_parse_number(text, 1, INT_MAX, &pid, NULL))
		return err_set(
		    err, "--reload: '%s' is not a process id" TRY_HELP, text);
	*ret_pid = (pid_t)pid;
	return true;
}

/* The greater action wins: -h and -V over the others, -T over -t. */
static void
set_action(struct options *o, int found)
{
	static const struct {
		int found;
		enum options_action action;
	} actions[] = {
	    {'t', OPTIONS_TEST},
	    {'T', OPTIONS_PRINT},
	    {RELOAD, OPTIONS_RELOAD},
	    {'V', OPTIONS_VERSION},
	    {'h', OPTIONS_HELP},
	    {LIST_KEYS, OPTIONS_LIST_KEYS},
	    {LIST_COMMANDS, OPTIONS_LIST_COMMANDS},
	    {LIST_RECORDS, OPTIONS_LIST_RECORDS},
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (actions[i].found == found && actions[i].action > o->action)
			o->action = actions[i].action;
}

static bool
take_option(struct options *o, int found, const char *word, struct err *err)
{
	struct config_options *s = &o->short_form;

	switch (found) {
	case 'c':
		return options_append(&o->files, &o->files_n, err);
	case 'l':
		return options_append(&s->listens, &s->listens_n, err);
	case 's':
		return options_append(&s->servers, &s->servers_n, err);
	case 'b':
		return set_option_once(&s->balance, found, err);
	case 'k':
		return set_option_once(&s->check, found, err);
	case 'n':
		return set_option_once(&s->threads, found, err);
	case 'a':
		return set_option_once(&s->admin, found, err);
	case 'x':
		return set_option_once(&o->take_over, found, err);
	case '?':
	case ':':
		return err_bad_option(found, word, err);
	default:
		set_action(o, found);
		return found != RELOAD || parse_pid(optarg, &o->pid, err);
	}
}

/* Returns the letter of an option of the short form that was given, or 0. */
static char
short_form_letter(const struct config_options *s)
{
	return s->listens_n   ? 'l'
	       : s->servers_n ? 's'
	       : s->balance   ? 'b'
	       : s->check     ? 'k'
	       : s->threads   ? 'n'
	       : s->admin     ? 'a'
	                      : 0;
}

static bool
check_combination(const struct options *o, struct err *err)
{
	const struct config_options *s = &o->short_form;
	char letter = short_form_letter(s);

	if (o->action >= OPTIONS_VERSION)
		return true;
	if (o->action == OPTIONS_RELOAD && (o->files_n > 0 || letter))
		return err_set(err,
		    "--reload takes no -%c: the process keeps its own "
		    "configuration" TRY_HELP,
		    o->files_n > 0 ? 'c' : letter);
	if (o->take_over && o->action != OPTIONS_RUN)
		return err_set(err,
		    "-x is for a process that is to run; leave it out "
		    "here" TRY_HELP);
	if (o->action == OPTIONS_RELOAD)
		return true;
	if (o->files_n > 0 && letter)
		return err_set(err,
		    "-c and -%c exclude each other; use either a file or "
		    "options" TRY_HELP,
		    letter);
	if (o->files_n == 0 && !letter)
		return err_set(err,
		    "no configuration; name a file with -c, or addresses with "
		    "-l and -s" TRY_HELP);
	if (o->files_n == 0 && s->listens_n == 0)
		return err_set(err,
		    "no address to listen on; give at least one with "
		    "-l" TRY_HELP);
	if (o->files_n == 0 && s->servers_n == 0)
		return err_set(
		    err, "no server; give at least one with -s" TRY_HELP);
	return true;
}

bool
options_parse(
    int argc, char **argv, struct options *ret_options, struct err *err)
{
	struct options o = {.action = OPTIONS_RUN};
	bool ok = true;
	int found;

	opterr = 0;
	optind = 0; /* glibc: restart, and forget a group of short options */
	while (ok) {
		int at = optind > 0 ? optind : 1;

		found = getopt_long(argc, argv, letters, long_options, NULL);
		if (found == -1)
			break;
		ok = !lacks_dash(argv[at], err) &&
		     !is_foreign_use(argv[at], argv[at + 1], err) &&
		     take_option(&o, found, argv[at], err);
	}
	if (ok && optind < argc && o.action < OPTIONS_VERSION)
		ok = err_set(err,
		    "unexpected argument '%s'; name a configuration with -c "
		    "FILE, and give commands to a running lfproxy with "
		    "lfproxyctl" TRY_HELP,
		    argv[optind]);
	if (!ok || !check_combination(&o, err)) {
		options_fini(&o);
		return false;
	}
	*ret_options = o;
	return true;
}

bool
options_load(const struct options *options, struct spec **ret_spec,
    struct err_list *errors)
{
	struct spec *spec;

	if (options->files_n > 0) {
		if (!config_load_all(
		        options->files, options->files_n, NULL, &spec, errors))
			return false;
		if (config_read_lists(spec, errors)) {
			*ret_spec = spec;
			return true;
		}
		spec_free(spec);
		return false;
	}
	return config_from_options(&options->short_form, ret_spec, errors);
}
