/* SPDX-License-Identifier: MIT
 * A model of one backend with one server, checked on a loop of its own, and a
 * peer on the same loop that answers as told.
 */
#ifndef TESTS_UNIT_CHECK_FIXTURE_H
#define TESTS_UNIT_CHECK_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <ev.h>
#include <stdbool.h>

#include "base/grace.h"
#include "check/checker.h"
#include "unit.h"

#define REQUEST_MAX 4096

struct peer {
	struct ev_loop *loop;
	int fd; /* listening */
	struct addr addr;
	ev_io io;
	const char *reply; /* NULL: silence */
	bool endless;      /* the reply's last byte again and again */
	unsigned accepted, closed;
	char request[REQUEST_MAX]; /* the last one */
	size_t request_n;
};

struct fixture {
	struct ev_loop *loop;
	struct grace *grace;
	struct model *model;
	struct checker *checker;
	struct server *server; /* the only one */
	struct peer peer;
	int fill[8]; /* of peer_listen_full */
	size_t fill_n;
};

/* Listens on a loopback port; path: on that unix socket instead. */
void peer_listen(struct fixture *f, const char *path);
/* Stops listening; the address stays known. */
void peer_shut(struct fixture *f);
/* Listens again where it did (TCP). */
void peer_again(struct fixture *f);

/* Listens on a loopback port and leaves the SYN of further connects
 * unanswered: the queue of connections to be accepted is full. */
void peer_listen_full(struct fixture *f);

/* Starts checking the peer's address: interval 20 ms, timeout as given, fall
 * 3, rise 2, status 200 to 399, GET /healthz. */
void start_checks(struct fixture *f, enum check_kind kind, uint64_t timeout_ms);

/* Runs the loop until the condition holds; fails after ten seconds. */
void run_until(struct fixture *f, bool (*holds)(struct fixture *f));
void run_until_checked(struct fixture *f);

size_t open_descriptors(void);

int fixture_setup(void **state);
int fixture_teardown(void **state);

#endif
