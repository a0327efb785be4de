/* SPDX-License-Identifier: MIT
 * The http and https checks: the server answers a request with a status that
 * counts as healthy, and with a body that has what it must have.
 *
 * libcurl speaks the HTTP.  Every check makes a connection of its own, since
 * an old one proves nothing about new ones.  Where that has to begin with a
 * header of the PROXY protocol, a talk makes it and curl is given it: curl's
 * own header has the addresses of a client, and this one has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "check/check_http_run.h"

static int
on_connected_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

void
http_run_free(struct check *check)
{
	struct http_run *run = check->run;

	curl_easy_cleanup(run->transfer.easy);
	curl_slist_free_all(run->headers);
	curl_slist_free_all(run->connect_to);
	free(run->body);
	if (run->fd >= 0)
		close(run->fd);
	free(run);
	check->run = NULL;
}

/* The time that the connect took was the check's. */
static bool
hand_to_curl(struct check *check, int fd)
{
	struct http_run *run = check->run;
	uint64_t past_ms = (clock_now_ns() - check->started_ns) / NS_PER_MS;
	uint64_t timeout_ms = check->server->check.timeout_ms;
	long left_ms = timeout_ms > past_ms ? (long)(timeout_ms - past_ms) : 1;
	CURL *easy = run->transfer.easy;

	run->fd = fd;
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, left_ms);
	return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION,
	           on_connected_socket) == CURLE_OK &&
	       curl_loop_add(check->schedule->curl, &run->transfer) == 0;
}

static void
on_greeted(void *arg, const struct talk_result *result)
{
	struct check *check = arg;
	struct http_run *run = check->run;
	int fd;

	run->talk = NULL;
	if (result->error) {
		http_run_free(check);
		check_connect_failed(check, result->error);
		return;
	}
	if (!check_status_passed(result->status)) {
		http_run_free(check);
		check_done(check, result->status, 0, result->text);
		return;
	}
	fd = *result->fd;
	*result->fd = -1;
	if (!hand_to_curl(check, fd)) {
		http_run_free(check);
		check_skip(check, ENOMEM);
	}
}

static struct talk_plan
plan_of(const struct check *check)
{
	const struct check_rules *rules = &check->server->check;

	struct talk_plan plan = {.addr = check->server->check.addr,
	    .timeout_ms = rules->timeout_ms,
	    .proxy = rules->proxy};

	plan.way = server_way_to(check->server, &plan.addr);
	return plan;
}

static bool
begin(struct check *check)
{
	const struct check_rules *rules = &check->server->check;
	struct http_run *run = check->run;
	struct talk_plan plan = plan_of(check);

	if (rules->proxy == PROXY_OFF)
		return curl_loop_add(check->schedule->curl, &run->transfer) ==
		       0;
	run->talk = talk_start(check->loop, &plan, on_greeted, check);
	return run->talk != NULL;
}

static void
http_start(struct check *check)
{
	struct http_run *run = calloc(1, sizeof(*run));

	if (!run) {
		check_skip(check, ENOMEM);
		return;
	}
	check->run = run;
	run->check = check;
	run->fd = -1;
	run->transfer.easy = curl_easy_init();
	run->tls = check_is_tls(check->spec);
	if (check->server->backend->spec->check_bodies_n > 0)
		run->body = malloc(HTTP_BODY_MAX_BYTES);
	if ((check->server->backend->spec->check_bodies_n > 0 && !run->body) ||
	    !run->transfer.easy || !http_run_ask(run) || !begin(check)) {
		http_run_free(check);
		check_skip(check, ENOMEM);
	}
}

static void
http_cancel(struct check *check)
{
	struct http_run *run = check->run;

	if (run->talk)
		talk_cancel(run->talk);
	else
		curl_loop_remove(check->schedule->curl, &run->transfer);
	http_run_free(check);
}

static void
http_moved(struct check *check)
{
	struct http_run *run = check->run;
	struct talk_plan plan = plan_of(check);

	if (run->talk)
		talk_move(run->talk, &plan);
}

const struct check_ops check_http_ops = {
    .start = http_start,
    .cancel = http_cancel,
    .moved = http_moved,
};
