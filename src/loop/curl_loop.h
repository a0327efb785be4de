/* SPDX-License-Identifier: MIT
 * libcurl's multi interface, driven by a libev loop.
 *
 * curl tells which sockets it wants to have watched and when it wants to be
 * called (curl_multi_socket_action(3)); libev does both.  Runs on the control
 * thread only.
 */
#ifndef LOOP_CURL_LOOP_H
#define LOOP_CURL_LOOP_H

#include <curl/curl.h>
#include <ev.h>

#include "base/err.h"

struct curl_loop;

/* Makes a curl_loop.  Borrows the loop.  Returns 0 or -errno. */
int curl_loop_new(struct ev_loop *loop, struct curl_loop **ret_curl) MUST_CHECK;

/* Frees the curl_loop.  No transfer may be under way.  Accepts NULL. */
void curl_loop_free(struct curl_loop *curl);

/* A transfer.  done is called once, from the loop, after the transfer was taken
 * out of the multi handle, so it may clean up the easy handle. */
struct curl_transfer {
	CURL *easy;
	void (*done)(struct curl_transfer *transfer, CURLcode code);
};

/* Starts a transfer; never calls done itself.  Uses CURLOPT_PRIVATE.  Returns 0
 * or -ENOMEM. */
int curl_loop_add(
    struct curl_loop *curl, struct curl_transfer *transfer) MUST_CHECK;

/* Aborts the transfer if it is under way; done is not called then.  easy may be
 * NULL. */
void curl_loop_remove(struct curl_loop *curl, struct curl_transfer *transfer);

#endif
