/* SPDX-License-Identifier: MIT
 * See curl_loop.h.
 */
#include "loop/curl_loop.h"

#include <errno.h>
#include <stdlib.h>

struct curl_loop {
	struct ev_loop *loop;
	CURLM *multi;
	ev_timer timer; /* when curl wants to be called */
};

/* Tells curl what has happened, and calls done of the transfers that this has
 * ended. */
static void
curl_loop_act(struct curl_loop *curl, curl_socket_t fd, int action)
{
	CURLMsg *msg;
	int left;

	curl_multi_socket_action(curl->multi, fd, action, &left);
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
curl_loop_on_ready(struct ev_loop *loop, ev_io *io, int events)
{
	int action = (events & EV_READ ? CURL_CSELECT_IN : 0) |
	             (events & EV_WRITE ? CURL_CSELECT_OUT : 0);

	(void)loop;
	/* curl may free io during this call. */
	curl_loop_act(io->data, io->fd, action);
}

static void
curl_loop_on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	curl_loop_act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

/* Watches the socket as curl wants.  socketp: the watcher, which curl stores
 * with the socket, or NULL. */
static int
curl_loop_on_socket(
    CURL *easy, curl_socket_t fd, int what, void *arg, void *socketp)
{
	struct curl_loop *curl = arg;
	ev_io *io = socketp;
	int events = (what & CURL_POLL_IN ? EV_READ : 0) |
	             (what & CURL_POLL_OUT ? EV_WRITE : 0);

	(void)easy;
	if (!io && what != CURL_POLL_REMOVE) {
		io = calloc(1, sizeof(*io));
		if (!io)
			return -1; /* curl fails the transfer */
		ev_init(io, curl_loop_on_ready);
		io->data = curl;
		curl_multi_assign(curl->multi, fd, io);
	}
	if (io)
		ev_io_stop(curl->loop, io);
	if (what == CURL_POLL_REMOVE) {
		curl_multi_assign(curl->multi, fd, NULL);
		free(io);
		return 0;
	}
	ev_io_set(io, fd, events);
	ev_io_start(curl->loop, io);
	return 0;
}

/* Sets the time at which curl wants to be called.  A timeout of 0 also waits
 * for the loop: curl must not be called from within its own callback. */
static int
curl_loop_set_timer(CURLM *multi, long timeout_ms, void *arg)
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

	if (!curl || curl_global_init(CURL_GLOBAL_SSL) != CURLE_OK) {
		free(curl);
		return -ENOMEM;
	}
	curl->loop = loop;
	ev_init(&curl->timer, curl_loop_on_timer);
	curl->timer.data = curl;
	curl->multi = curl_multi_init();
	if (!curl->multi) {
		curl_global_cleanup();
		free(curl);
		return -ENOMEM;
	}
	curl_multi_setopt(
	    curl->multi, CURLMOPT_SOCKETFUNCTION, curl_loop_on_socket);
	curl_multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
	curl_multi_setopt(
	    curl->multi, CURLMOPT_TIMERFUNCTION, curl_loop_set_timer);
	curl_multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
	/* No connection is kept for reuse.  The number of transfers needs no
	 * limit: it is the number of servers, and a check that waited in a
	 * queue of curl's would spend its timeout there. */
	curl_multi_setopt(curl->multi, CURLMOPT_MAXCONNECTS, 1L);
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
