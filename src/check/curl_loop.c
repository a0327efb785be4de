/* SPDX-License-Identifier: MIT
 * See curl_loop.h.
 */
#include "check/curl_loop.h"

#include <errno.h>
#include <stdlib.h>

#include "check/library_memory.h"

struct curl_loop {
	struct ev_loop *loop;
	CURLM *multi;
	ev_timer timer; /* when curl wants to be called */
};

/* A socket that curl wants watched; curl hands it back as its socketp. */
struct watch {
	ev_io io;
	struct curl_loop *curl;
};

/* Tells of every transfer that has ended since. */
static void
collect(struct curl_loop *curl)
{
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(curl->multi, &left)) != NULL) {
		struct curl_transfer *transfer = NULL;
		CURLcode code = msg->data.result;
		CURL *easy = msg->easy_handle;

		if (msg->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
		curl_multi_remove_handle(curl->multi, easy);
		transfer->done(transfer, code);
	}
}

static void
on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	struct watch *watch = (struct watch *)(void *)io;
	struct curl_loop *curl = watch->curl;
	int action = (events & EV_READ ? CURL_CSELECT_IN : 0) |
	             (events & EV_WRITE ? CURL_CSELECT_OUT : 0);
	int running;

	(void)loop;
	/* curl may free the watch in here. */
	curl_multi_socket_action(curl->multi, io->fd, action, &running);
	collect(curl);
}

static void
on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct curl_loop *curl = timer->data;
	int running;

	(void)loop;
	(void)events;
	curl_multi_socket_action(curl->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(curl);
}

static void
unwatch(struct curl_loop *curl, curl_socket_t fd, struct watch *watch)
{
	if (!watch)
		return;
	ev_io_stop(curl->loop, &watch->io);
	curl_multi_assign(curl->multi, fd, NULL);
	free(watch);
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socketp)
{
	struct curl_loop *curl = arg;
	struct watch *watch = socketp;
	int events = (what & CURL_POLL_IN ? EV_READ : 0) |
	             (what & CURL_POLL_OUT ? EV_WRITE : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		unwatch(curl, fd, watch);
		return 0;
	}
	if (!watch) {
		watch = calloc(1, sizeof(*watch));
		if (!watch)
			return -1; /* curl fails the transfer */
		watch->curl = curl;
		ev_init(&watch->io, on_ready);
		curl_multi_assign(curl->multi, fd, watch);
	}
	ev_io_stop(curl->loop, &watch->io);
	ev_io_set(&watch->io, fd, events);
	ev_io_start(curl->loop, &watch->io);
	return 0;
}

/* A timeout of 0 also waits for the loop: curl must not be called from within
 * its own call-back. */
static int
on_timeout_wanted(CURLM *multi, long timeout_ms, void *arg)
{
	struct curl_loop *curl = arg;

	(void)multi;
	ev_timer_stop(curl->loop, &curl->timer);
	if (timeout_ms < 0)
		return 0;
	ev_now_update(curl->loop);
	ev_timer_set(&curl->timer, (double)timeout_ms / 1e3, 0.);
	ev_timer_start(curl->loop, &curl->timer);
	return 0;
}

int
curl_loop_new(struct ev_loop *loop, struct curl_loop **ret_curl)
{
	struct curl_loop *curl = calloc(1, sizeof(*curl));

	if (!curl || !library_curl_init()) {
		free(curl);
		return -ENOMEM;
	}
	curl->loop = loop;
	ev_init(&curl->timer, on_timer);
	curl->timer.data = curl;
	curl->multi = curl_multi_init();
	if (!curl->multi) {
		curl_global_cleanup();
		free(curl);
		return -ENOMEM;
	}
	curl_multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
	curl_multi_setopt(
	    curl->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
	curl_multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
	/* Nothing is kept for reuse.  The number at work at a time needs no
	 * limit: it is the number of servers, and a check that waited in a
	 * queue of curl's would spend its timeout there. */
	curl_multi_setopt(curl->multi, CURLMOPT_MAXCONNECTS, 1L);
	curl_multi_setopt(curl->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 0L);
	curl_multi_setopt(
	    curl->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
	*ret_curl = curl;
	return 0;
}

void
curl_loop_free(struct curl_loop *curl)
{
	if (!curl)
		return;
	curl_multi_cleanup(curl->multi);
	ev_timer_stop(curl->loop, &curl->timer);
	free(curl);
	curl_global_cleanup();
}

int
curl_loop_add(struct curl_loop *curl, struct curl_transfer *transfer)
{
	curl_easy_setopt(transfer->easy, CURLOPT_PRIVATE, transfer);
	if (curl_multi_add_handle(curl->multi, transfer->easy) != CURLM_OK)
		return -ENOMEM;
	return 0;
}

void
curl_loop_remove(struct curl_loop *curl, struct curl_transfer *transfer)
{
	curl_multi_remove_handle(curl->multi, transfer->easy);
}
