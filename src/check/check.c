/* SPDX-License-Identifier: MIT
 * See check.h.
 */
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "check/check_kind.h"

#define FIRST_SPREAD_MS 1000
#define JITTER          0.1

struct checker {
	struct ev_loop *loop;
	struct curl_loop *curl;
	uint64_t random;
	size_t n;
	struct check checks[];
};

/* Marsaglia, "Xorshift RNGs", 2003: 0 <= r < 1. */
static double
next_random(struct checker *checker)
{
	uint64_t x = checker->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	checker->random = x;
	return (double)(x >> 11) / (double)(1ull << 53);
}

static void
wait_for_next(struct check *check)
{
	double factor = 1 - JITTER + 2 * JITTER * next_random(check->checker);
	double interval = (double)check->spec->interval_ms / 1e3 * factor;
	double past = (double)(clock_now_ns() - check->started_ns) / 1e9;

	ev_timer_set(&check->timer, interval > past ? interval - past : 0., 0.);
	ev_timer_start(check->loop, &check->timer);
}

static void
on_start(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct check *check = timer->data;

	(void)loop;
	(void)events;
	check->started_ns = clock_now_ns();
	check->ops->start(check);
}

static void
copy_printable(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; text[n] && n + 1 < size; n++) {
		unsigned char c = (unsigned char)text[n];

		out[n] = c < ' ' || c == 0x7f ? '?' : text[n];
	}
	out[n] = '\0';
}

void
check_done(struct check *check, enum check_status status, unsigned code,
    const char *text)
{
	struct check_result result = {
	    .passed =
	        status == CHECK_STATUS_L4OK || status == CHECK_STATUS_L7OK,
	    .status = status,
	    .code = code,
	    .duration_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS,
	};

	ENSURE(!check->run);
	copy_printable(result.text, sizeof(result.text), text);
	wait_for_next(check);
	server_report_check(check->server, &result);
}

void
check_skip(struct check *check, int error)
{
	static struct log_limit limit;
	bool files = error == EMFILE || error == ENFILE;

	ENSURE(!check->run);
	log_limited(&limit, LOG_LEVEL_WARNING,
	    "server %s/%s was not checked and keeps its state: %s%s",
	    check->server->backend->spec->name, check->server->spec->name,
	    strerror(error),
	    files ? "; raise the limit on open files (LimitNOFILE= in the "
	            "unit)"
	          : "; lfproxy needs more memory");
	wait_for_next(check);
}

void
check_connect_failed(struct check *check, int error)
{
	switch (error) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		check_skip(check, error);
		return;
	case EACCES:
	case EADDRNOTAVAIL:
	case EAFNOSUPPORT:
	case ENETDOWN:
	case ENETUNREACH:
	case EPERM:
		check_done(check, CHECK_STATUS_SOCKERR, 0, strerror(error));
		return;
	default:
		check_done(check, CHECK_STATUS_L4CON, 0, strerror(error));
	}
}

static const struct check_ops *
ops_of(const struct check_spec *spec)
{
	switch (spec->kind) {
	case CHECK_OFF:
		return NULL;
	case CHECK_CONNECT:
		return &check_connect_ops;
	case CHECK_HTTP:
		return &check_http_ops;
	}
	return NULL;
}

static void
add_backend(struct checker *checker, struct backend *backend)
{
	const struct check_spec *spec = &backend->spec->check;

	if (!ops_of(spec))
		return;
	for (size_t i = 0; i < backend->spec->servers_n; i++) {
		struct check *check = &checker->checks[checker->n++];

		check->checker = checker;
		check->loop = checker->loop;
		check->curl = checker->curl;
		check->server = backend->servers[i];
		check->spec = spec;
		check->ops = ops_of(spec);
		check->timer.data = check;
	}
}

/* Check i of n starts i/n of the way through its spread. */
static void
start_all(struct checker *checker)
{
	ev_now_update(checker->loop);
	for (size_t i = 0; i < checker->n; i++) {
		struct check *check = &checker->checks[i];
		uint64_t spread = check->spec->interval_ms;
		double at;

		if (spread > FIRST_SPREAD_MS)
			spread = FIRST_SPREAD_MS;
		at = (double)spread / 1e3 * (double)i / (double)checker->n;
		ev_timer_init(&check->timer, on_start, at, 0.);
		ev_timer_start(checker->loop, &check->timer);
	}
}

int
checker_new(
    struct ev_loop *loop, struct model *model, struct checker **ret_checker)
{
	const struct spec *spec = model->spec;
	struct checker *checker;
	size_t servers = 0;
	bool http = false;
	int rc;

	for (size_t i = 0; i < spec->backends_n; i++) {
		servers += spec->backends[i].servers_n;
		http |= spec->backends[i].check.kind == CHECK_HTTP;
	}
	checker = calloc(1, sizeof(*checker) + servers * sizeof(struct check));
	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	checker->random = clock_now_ns() | 1;
	rc = http ? curl_loop_new(loop, &checker->curl) : 0;
	if (rc < 0) {
		free(checker);
		return rc;
	}
	for (size_t i = 0; i < spec->backends_n; i++)
		add_backend(checker, model->backends[i]);
	start_all(checker);
	*ret_checker = checker;
	return 0;
}

void
checker_free(struct checker *checker)
{
	if (!checker)
		return;
	for (size_t i = 0; i < checker->n; i++) {
		struct check *check = &checker->checks[i];

		ev_timer_stop(checker->loop, &check->timer);
		if (check->run)
			check->ops->cancel(check);
	}
	curl_loop_free(checker->curl);
	free(checker);
}
