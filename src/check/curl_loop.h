/* SPDX-License-Identifier: MIT
 * libcurl's multi interface, driven by a libev loop.
 *
 * curl says which sockets it wants watched and when it wants to be called
 * (curl_multi_socket_action(3)); libev does both.  Control thread only.
 */
#ifndef CHECK_CURL_LOOP_H
#define CHECK_CURL_LOOP_H

#include <curl/curl.h>
#include <ev.h>

struct curl_loop;

/* 0 or -errno; the loop is borrowed. */
int curl_loop_new(struct ev_loop *loop, struct curl_loop **ret_curl);

/* No transfer may be under way; NULL is fine. */
void curl_loop_free(struct curl_loop *curl);

/* Starts a transfer.  done is called once, from the loop and never from
 * within this call, after the transfer was taken out of the multi handle: it
 * may clean the easy handle up.  Uses CURLOPT_PRIVATE.  0 or -ENOMEM. */
struct curl_transfer {
	CURL *easy;
	void (*done)(struct curl_transfer *transfer, CURLcode code);
};
int curl_loop_add(struct curl_loop *curl, struct curl_transfer *transfer);

/* Gives a transfer up: done is not called. */
void curl_loop_remove(struct curl_loop *curl, struct curl_transfer *transfer);

#endif
