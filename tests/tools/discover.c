/* SPDX-License-Identifier: MIT
 * Follows etcd or Consul as lfproxy does, and prints each report as a line:
 *
 *   members 2: a 10.0.0.1:80 weight=5 (rack 7), b 10.0.0.2:80
 *   error: http://127.0.0.1:2379: connect: Connection refused
 *
 *   discover etcd|consul URL [--token FILE] [--ca FILE] [--cert FILE]
 *       [--key FILE] [--common-name] [--timeout MS] [--count]
 *
 * Members are in the order of their keys; with --count only their number is
 * printed.  SIGUSR1 has the source read again.  SIGTERM ends the program, which
 * then prints the CPU time of the loop's longest turn.
 */
#include <ev.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loop/curl_loop.h"
#include "resolve/discovery_consul.h"
#include "resolve/discovery_etcd.h"

static struct discovery *source;
static bool only_count;
static uint64_t turn_began_us, turn_longest_us;

static void
die(const char *why)
{
	fprintf(stderr, "discover: %s\n", why);
	exit(1);
}

static int
compare_keys(const void *a, const void *b)
{
	const struct discovered *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static void
print_members(void *arg, const struct discovered *members, size_t n)
{
	struct discovered *sorted = calloc(n + 1, sizeof(*sorted));

	(void)arg;
	if (!sorted)
		die("out of memory");
	memcpy(sorted, members, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_keys);
	printf("members %zu", n);
	for (size_t i = 0; i < n && !only_count; i++)
		printf("%s %s %s%s%s%s%s%s", i > 0 ? "," : ":", sorted[i].key,
		    sorted[i].address, *sorted[i].options ? " " : "",
		    sorted[i].options, *sorted[i].note ? " (" : "",
		    sorted[i].note, *sorted[i].note ? ")" : "");
	putchar('\n');
	free(sorted);
}

static void
print_error(void *arg, const char *why)
{
	(void)arg;
	printf("error: %s\n", why);
}

static uint64_t
cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static void
turn_begins(struct ev_loop *loop, ev_check *check, int events)
{
	(void)loop;
	(void)check;
	(void)events;
	turn_began_us = cpu_us();
}

static void
turn_ends(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	uint64_t took_us = cpu_us() - turn_began_us;

	(void)loop;
	(void)prepare;
	(void)events;
	if (turn_began_us > 0 && took_us > turn_longest_us)
		turn_longest_us = took_us;
}

static void
on_refresh(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)loop;
	(void)signal;
	(void)events;
	discovery_refresh(source);
}

static void
on_stop(struct ev_loop *loop, ev_signal *signal, int events)
{
	(void)signal;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static char *
read_token(const char *path)
{
	FILE *in = fopen(path, "r");
	char *token = NULL;
	size_t room = 0;

	if (!in || getline(&token, &room, in) < 0)
		die("the file of the token cannot be read");
	fclose(in);
	token[strcspn(token, "\n")] = '\0';
	return token;
}

static void
read_options(int argc, char **argv, struct discovery_settings *s)
{
	static const struct option options[] = {
	    {"token", required_argument, NULL, 't'},
	    {"ca", required_argument, NULL, 'a'},
	    {"cert", required_argument, NULL, 'c'},
	    {"key", required_argument, NULL, 'k'},
	    {"common-name", no_argument, NULL, 'N'},
	    {"timeout", required_argument, NULL, 'm'},
	    {"count", no_argument, NULL, 'n'},
	    {NULL, 0, NULL, 0},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 't':
			s->token = read_token(optarg);
			break;
		case 'a':
			s->ca = optarg;
			break;
		case 'c':
			s->cert = optarg;
			break;
		case 'k':
			s->key = optarg;
			break;
		case 'N':
			s->common_name = true;
			break;
		case 'm':
			s->timeout_ms = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			only_count = true;
			break;
		default:
			die("usage: discover etcd|consul URL [OPTION...]");
		}
	}
}

static void
follow(const char *kind, struct ev_loop *loop, struct curl_loop *curl,
    const struct discovery_settings *settings)
{
	const struct discovery_owner owner = {print_members, print_error, NULL};
	bool etcd = strcmp(kind, "etcd") == 0;
	struct err err;

	if (!(etcd ? discovery_etcd_check(settings, &err)
	           : discovery_consul_check(settings, &err)))
		die(err.text);
	source = etcd ? discovery_etcd_new(loop, curl, settings, owner)
	              : discovery_consul_new(loop, curl, settings, owner);
	if (!source)
		die("out of memory");
}

static void
watch_loop(struct ev_loop *loop)
{
	static ev_signal refresh, term;
	static ev_prepare prepare;
	static ev_check check;

	ev_signal_init(&refresh, on_refresh, SIGUSR1);
	ev_signal_init(&term, on_stop, SIGTERM);
	ev_prepare_init(&prepare, turn_ends);
	ev_check_init(&check, turn_begins);
	ev_set_priority(&check, EV_MAXPRI);
	ev_signal_start(loop, &refresh);
	ev_signal_start(loop, &term);
	ev_prepare_start(loop, &prepare);
	ev_check_start(loop, &check);
}

int
main(int argc, char **argv)
{
	struct discovery_settings settings = {.url = NULL};
	struct ev_loop *loop = ev_default_loop(0);
	struct curl_loop *curl;

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(argc, argv, &settings);
	if (argc - optind != 2)
		die("usage: discover etcd|consul URL [OPTION...]");
	settings.url = argv[optind + 1];
	if (!loop || curl_loop_new(loop, &curl) < 0)
		die("out of memory");
	follow(argv[optind], loop, curl, &settings);
	watch_loop(loop);
	ev_run(loop, 0);
	discovery_free(source);
	curl_loop_free(curl);
	ev_loop_destroy(loop);
	printf("longest turn: %lu us\n", (unsigned long)turn_longest_us);
	free((char *)(uintptr_t)settings.token);
	return 0;
}
