/* SPDX-License-Identifier: MIT
 * See top.h.
 */
#include "ctl/top/top.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ctl/top/data.h"
#include "ctl/top/keys.h"
#include "ctl/top/screen.h"
#include "ctl/top/view.h"

#define DELAY_MS   1000
#define ROUNDS_MAX 1000000
#define TEXT_WIDTH 120

struct top {
	unsigned delay_ms; /* from one round to the next */
	uint64_t rounds;   /* 0: no limit, or 1 without a terminal */
	int timeout_ms;
	struct top_data data;
	struct top_lines lines;
	struct top_keys keys;
	bool lost;          /* lfproxy does not answer */
	struct err trouble; /* if lost: the reason */
};

static bool
parse_top_delay(const char *text, unsigned *ret_ms, struct err *err)
{
	char *end;
	double seconds = strtod(text, &end);
	uint64_t ms;

	if (text_parse_duration(text, 100, 3600000, &ms, NULL)) {
		*ret_ms = (unsigned)ms;
		return true;
	}
	if (end == text || *end || !(seconds >= 0.1 && seconds <= 3600))
		return err_set(err,
		    "-d: invalid interval '%s'; use 0.1 to 3600 seconds, or a "
		    "duration such as 500ms",
		    text);
	*ret_ms = (unsigned)(seconds * 1000 + 0.5);
	return true;
}

static bool
parse_top_option(int c, struct top *top, char *const *argv, struct err *err)
{
	struct err why;

	switch (c) {
	case 'c':
		top->keys.look.clients = true;
		return true;
	case 'd':
		return parse_top_delay(optarg, &top->delay_ms, err);
	case 'n':
		return text_parse_number(
		           optarg, 1, ROUNDS_MAX, &top->rounds, &why) ||
		       err_set(err, "-n: %s", why.text);
	case ':':
		return err_set(err, "-%c: a number is missing", optopt);
	default:
		return err_set(err,
		    "unknown option '%s'; use -c, -d SECONDS or -n ROUNDS",
		    argv[optind - 1]);
	}
}

static bool
parse_top_options(struct top *top, int argc, char **argv, struct err *err)
{
	int c;

	optind = 0; /* glibc: restart */
	opterr = 0;
	while ((c = getopt(argc, argv, "+:cd:n:")) != -1)
		if (!parse_top_option(c, top, argv, err))
			return false;
	if (optind < argc)
		return err_set(err,
		    "unexpected argument '%s'; use -c, -d SECONDS or -n "
		    "ROUNDS",
		    argv[optind]);
	return true;
}

/* Says that lfproxy was restarted or answers again, in place of the message of
 * the last key. */
static void
note_restart(struct top *top, const struct top_data *now)
{
	const struct top_data *before = &top->data;
	char *message = top->keys.message;
	const size_t size = sizeof(top->keys.message);

	if (before->at_ns && before->head.pid != now->head.pid)
		snprintf(message, size,
		    "lfproxy was restarted: process %llu, before %llu",
		    (unsigned long long)now->head.pid,
		    (unsigned long long)before->head.pid);
	else if (top->lost)
		snprintf(message, size, "lfproxy answers again.");
}

/* Reads the figures of a round.  Returns false with top->trouble set on
 * failure. */
static bool
read_round(struct top *top)
{
	struct top_data now;

	if (!top_data_read(top->keys.where, top->timeout_ms,
	        top->keys.look.clients, &now, &top->trouble)) {
		top->lost = true;
		return false;
	}
	top_rates(&now, top->data.at_ns ? &top->data : NULL);
	note_restart(top, &now);
	top_data_fini(&top->data);
	top->data = now;
	top->lost = false;
	return true;
}

static void
draw_screen(struct top *top)
{
	top->keys.look.width = top_screen_width();
	top_view_make(&top->data, &top->keys.look, &top->lines);
	top_screen_draw(&top->keys, top->lost ? top->trouble.text : NULL);
}

/* Draws, and handles keys until the next round is due. */
static void
handle_keys(struct top *top)
{
	uint64_t next_ms = clock_now_ms() + top->delay_ms;

	for (;;) {
		uint64_t now_ms = clock_now_ms();
		int key;

		draw_screen(top);
		if (!top->keys.paused && (now_ms >= next_ms || top->keys.sent))
			return;
		key = top_screen_key(top->keys.paused || now_ms >= next_ms
		                         ? (int)top->delay_ms
		                         : (int)(next_ms - now_ms));
		if (key < 0)
			top->keys.quit = true;
		if (key > 0)
			top_keys_press(&top->keys, key, top_screen_page());
		if (top->keys.quit)
			return;
	}
}

static enum ctl_exit
run_screen(struct top *top)
{
	struct err err;

	top->timeout_ms = TOP_SCREEN_TIMEOUT_MS;
	if (!top_screen_begin(&err)) {
		fprintf(stderr, "lfproxyctl: top: %s\n", err.text);
		return CTL_USAGE;
	}
	for (unsigned n = 0;
	     !top->keys.quit && (!top->rounds || n < top->rounds); n++) {
		top->keys.sent = false;
		(void)read_round(top);
		handle_keys(top);
	}
	top_screen_end();
	if (top->lost)
		fprintf(stderr, "lfproxyctl: %s\n", top->trouble.text);
	return top->lost ? CTL_NO_ANSWER : CTL_OK;
}

static void
print_line(const char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == ' ')
		n--;
	printf("%.*s\n", (int)n, text);
}

static bool
print_round(struct top *top)
{
	char head[2][TOP_LINE_SIZE];

	top_view_head(&top->data, &top->keys.look, head);
	print_line(head[0]);
	print_line(head[1]);
	putchar('\n');
	top_view_make(&top->data, &top->keys.look, &top->lines);
	for (size_t i = 0; i < top->lines.n; i++)
		print_line(top->lines.lines[i].text);
	return fflush(stdout) == 0;
}

/* Prints rounds as text, except the first one, since rates need two. */
static enum ctl_exit
run_text(struct top *top)
{
	top->timeout_ms = ctl_timeout_ms();
	top->keys.look.width = TEXT_WIDTH;
	for (unsigned n = 0; n <= (top->rounds ? top->rounds : 1); n++) {
		if (n > 0)
			(void)poll(NULL, 0, (int)top->delay_ms);
		if (!read_round(top)) {
			fprintf(stderr, "lfproxyctl: %s\n", top->trouble.text);
			return CTL_NO_ANSWER;
		}
		if (n > 1)
			putchar('\n');
		if (n > 0 && !print_round(top)) {
			fprintf(stderr,
			    "lfproxyctl: cannot write the table: %s\n",
			    strerror(errno));
			return CTL_NO_ANSWER;
		}
	}
	return CTL_OK;
}

enum ctl_exit
top_run(const char *where, int argc, char **argv)
{
	struct top top = {
	    .delay_ms = DELAY_MS,
	    .keys = {.where = where, .data = &top.data, .lines = &top.lines},
	};
	enum ctl_exit code;
	struct err err;

	if (!parse_top_options(&top, argc, argv, &err)) {
		fprintf(stderr, "lfproxyctl: top: %s\n", err.text);
		return CTL_USAGE;
	}
	setlocale(LC_CTYPE, "");
	top.keys.look.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	code = top_screen_possible() ? run_screen(&top) : run_text(&top);
	top_lines_fini(&top.lines);
	top_data_fini(&top.data);
	return code;
}
