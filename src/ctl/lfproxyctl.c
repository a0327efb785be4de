/* SPDX-License-Identifier: MIT
 * lfproxyctl: sends a command to a running lfproxy and prints the answer, or
 * shows a live view (top/top.h).
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ctl/client.h"
#include "ctl/complete.h"
#include "ctl/help.h"
#include "ctl/save_config.h"
#include "ctl/top/top.h"
#include "import/import.h"

#define SOCKET_DEFAULT "/run/lfproxy/admin.sock"

static void
print_usage(FILE *out)
{
	fputs(
	    "usage: lfproxyctl [-S SOCKET] [--json] COMMAND...\n"
	    "       lfproxyctl [-S SOCKET] top [-c] [-d SECONDS] [-n ROUNDS]\n"
	    "       lfproxyctl [-S SOCKET] save config [dry-run]\n"
	    "       lfproxyctl import haproxy|nginx FILE\n"
	    "       lfproxyctl -h | -V\n"
	    "\n"
	    "Sends COMMAND to a running lfproxy and prints the answer, for "
	    "example\n"
	    "  lfproxyctl show stat\n"
	    "  lfproxyctl help\n"
	    "  lfproxyctl set ssl cert /etc/lfproxy/www.pem < new.pem\n"
	    "or shows frontends, servers, sessions and pools live (top), "
	    "or writes what\ncommands have changed into the configuration "
	    "(save config), or converts a\nconfiguration of HAProxy or nginx "
	    "to lfproxy.ini (import).\n"
	    "\n"
	    "  -S SOCKET   admin socket, a path or HOST:PORT (default:\n"
	    "              $LFPROXY_ADMIN, or " SOCKET_DEFAULT ")\n"
	    "  --json      print the JSON form of the answer\n"
	    "  -h          print this text\n"
	    "  -V          print the version\n"
	    "  -c          top: show the clients with the most bytes\n"
	    "  -d SECONDS  top: interval, 0.1 to 3600 (default: 1)\n"
	    "  -n ROUNDS   top: end after ROUNDS updates (default: 1\n"
	    "              without a terminal, else no end)\n"
	    "\n"
	    "Exit status: 0 success, 1 the answer is an error (ready: not "
	    "ready),\n64 usage error, 69 no answer (lfproxy not running, no "
	    "permission, no\nmemory).\n",
	    out);
}

static enum ctl_exit
print_answer(const struct ctl_answer *answer)
{
	FILE *out = answer->is_error ? stderr : stdout;

	fwrite(answer->text.data, 1, answer->text.n, out);
	if (fflush(out) != 0) {
		fprintf(stderr, "lfproxyctl: cannot write the answer: %s\n",
		    strerror(errno));
		return CTL_NO_ANSWER;
	}
	if (!answer->is_whole) {
		fputs(
		    "lfproxyctl: the answer is incomplete: the connection was "
		    "closed before its end; try again, or see lfproxy's "
		    "log\n",
		    stderr);
		return CTL_NO_ANSWER;
	}
	return answer->is_error ? CTL_ANSWER_IS_ERROR : CTL_OK;
}

/* Returns the time-out for the answer: the delay of `wait`, which answers at
 * its end, and the time that another process may take to serve are added to the
 * usual one. */
static int
answer_timeout_ms(const char *line)
{
	const int most = INT_MAX - ctl_timeout_ms();
	char delay[64], word[16];
	uint64_t ms = 0;

	if (sscanf(line, " %15s", word) == 1 && strcmp(word, "upgrade") == 0)
		return ctl_timeout_ms() + CTL_UPGRADE_MS;

	if (sscanf(line, " wait %63s", delay) == 1 &&
	    !text_parse_number(delay, 0, INT_MAX, &ms, NULL) &&
	    !text_parse_duration(delay, 0, INT_MAX, &ms, NULL))
		ms = 0;
	return ctl_timeout_ms() + (ms < (uint64_t)most ? (int)ms : most);
}

/* Returns whether the words end with `<<`, which is removed, or begin with a
 * command that always has a payload. */
static bool
take_payload_mark(char **words)
{
	static const char *const commands[] = {"set ssl ca-file",
	    "set ssl cert", "set ssl crl-file", "set tls cert"};
	struct ctl_text line = {NULL, 0, 0};
	char **last = words;
	bool found = false;

	for (char **word = words; *word; word++) {
		ctl_text_add(&line, *word, strlen(*word));
		ctl_text_add(&line, " ", 1);
		last = word;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t n = strlen(commands[i]);

		found |= strncmp(line.data, commands[i], n) == 0 &&
		         line.data[n] == ' ';
	}
	ctl_text_fini(&line);
	if (strcmp(*last, "<<") != 0)
		return found;
	*last = NULL;
	return true;
}

static bool
read_payload(struct ctl_text *line, struct err *err)
{
	if (isatty(STDIN_FILENO))
		fputs("lfproxyctl: reading the payload from the terminal; it "
		      "ends with Control-D\n",
		    stderr);
	return ctl_add_payload(line, stdin, err);
}

static enum ctl_exit
run_admin_command(const char *where, bool json, char **words)
{
	bool payload = take_payload_mark(words);
	struct ctl_answer answer = {.text = {NULL, 0, 0}};
	struct ctl_text line = {NULL, 0, 0};
	enum ctl_exit code = CTL_OK;
	struct err err;

	if (!ctl_add_command(&line, (const char *const *)words)) {
		err_set(&err, "a command is one line; remove the line end");
		code = CTL_USAGE;
	} else if (json) {
		code = ctl_json_command(where, &line, &err);
	}
	if (code == CTL_OK && payload && !read_payload(&line, &err))
		code = CTL_USAGE;
	if (code == CTL_OK && !ctl_ask_one(where, line.data,
	                          answer_timeout_ms(line.data), &answer, &err))
		code = CTL_NO_ANSWER;
	if (code == CTL_OK)
		code = print_answer(&answer);
	else
		fprintf(stderr, "lfproxyctl: %s\n", err.text);
	if (payload && line.data)
		explicit_bzero(line.data, line.n);
	ctl_text_fini(&line);
	ctl_text_fini(&answer.text);
	return code;
}

static enum ctl_exit
save_command(const char *where, int argc, char **words)
{
	bool dry_run = argc == 2 && strcmp(words[1], "dry-run") == 0;

	if (argc >= 1 && strcmp(words[0], "config") == 0 &&
	    (argc == 1 || dry_run))
		return ctl_save_config(where, dry_run);
	fputs("usage: lfproxyctl save config [dry-run]\n", stderr);
	return CTL_USAGE;
}

/* Asks whether lfproxy serves.  A probe knows two answers, so no answer is one
 * as well: not ready. */
static enum ctl_exit
ready_command(const char *where, bool json, char **words)
{
	enum ctl_exit code = run_admin_command(where, json, words);

	return code == CTL_NO_ANSWER ? CTL_ANSWER_IS_ERROR : code;
}

/* Runs the command of these words, of which there is one at least. */
static enum ctl_exit
run_words(const char *where, bool json, int argc, char **argv)
{
	if (strcmp(argv[0], "import") == 0)
		return (enum ctl_exit)import_command(
		    argc - 1, (const char *const *)argv + 1, stdout, stderr);
	if (strcmp(argv[0], "save") == 0)
		return save_command(where, argc - 1, argv + 1);
	if (strcmp(argv[0], "ready") == 0)
		return ready_command(where, json, argv);
	if (strcmp(argv[0], "top") != 0)
		return run_admin_command(where, json, argv);
	if (!json)
		return top_run(where, argc, argv);
	fputs("lfproxyctl: top has no JSON form; use the JSON of `show "
	      "info`, `show stat`, `show pool` and `show threads`\n",
	    stderr);
	return CTL_USAGE;
}

/* Takes over the environment's time-out, if there is one. */
static bool
take_timeout(void)
{
	const char *timeout = getenv("LFPROXY_TIMEOUT");
	struct err err;

	if (!timeout || !timeout[0] || ctl_set_timeout(timeout, &err))
		return true;
	fprintf(stderr, "lfproxyctl: LFPROXY_TIMEOUT: %s\n", err.text);
	return false;
}

int
main(int argc, char **argv)
{
	enum { OPTION_JSON = 256, OPTION_COMPLETE };
	static const struct option options[] = {
	    {"json", no_argument, NULL, OPTION_JSON},
	    {"complete", no_argument, NULL, OPTION_COMPLETE},
	    {"help", no_argument, NULL, 'h'},
	    {"version", no_argument, NULL, 'V'},
	    {NULL, 0, NULL, 0},
	};
	const char *where = getenv("LFPROXY_ADMIN");
	bool json = false, complete = false;
	int c;

	if (!where || !where[0])
		where = SOCKET_DEFAULT;
	/* `+`: options behind the first word belong to the command. */
	while ((c = getopt_long(argc, argv, "+S:hV", options, NULL)) != -1) {
		switch (c) {
		case 'S':
			where = optarg;
			break;
		case OPTION_JSON:
			json = true;
			break;
		case OPTION_COMPLETE:
			complete = true;
			break;
		case 'h':
			print_usage(stdout);
			return CTL_OK;
		case 'V':
			puts("lfproxyctl " LFPROXY_VERSION);
			return CTL_OK;
		default:
			print_usage(stderr);
			return CTL_USAGE;
		}
	}
	argc -= optind;
	argv += optind;
	if (!take_timeout())
		return CTL_USAGE;
	if (complete) {
		ctl_complete(where, (const char *const *)argv, stdout);
		return CTL_OK;
	}
	if (argc == 0) {
		print_usage(stderr);
		return CTL_USAGE;
	}
	return (int)run_words(where, json, argc, argv);
}
