/* SPDX-License-Identifier: MIT
 * Inside the floor: what a kind of check must do, and what it is given.
 *
 * One file a kind; check.c knows the schedule and nothing of the wire.
 */
#ifndef CHECK_CHECK_KIND_H
#define CHECK_CHECK_KIND_H

#include <ev.h>
#include <stdbool.h>

#include "check/curl_loop.h"
#include "model/model.h"

struct check_ops;

/* The check of one server, for as long as it is in the model. */
struct check {
	struct checker *checker;
	struct ev_loop *loop;
	struct curl_loop *curl; /* NULL when no server is checked by http */
	struct server *server;
	const struct check_spec *spec;
	const struct check_ops *ops;
	ev_timer timer;      /* until the next start; idle while running */
	uint64_t due_ns;     /* when that is to be */
	uint64_t started_ns; /* of the running or the last check */
	void *run;           /* the kind's, non-NULL exactly while running */
};

struct check_ops {
	/* Begins a check.  The kind calls check_done or check_skip exactly
	 * once for it, now or later; it must do so within the timeout. */
	void (*start)(struct check *check);
	/* Gives up the running check, without a result, and frees run. */
	void (*cancel)(struct check *check);
	/* A reload, while running: server and spec are others now, that ask
	 * the same.  NULL: nothing was borrowed from them. */
	void (*moved)(struct check *check);
};

extern const struct check_ops check_http_ops;
extern const struct check_ops check_talk_ops;
extern const struct check_ops check_agent_ops;
extern const struct check_ops check_script_ops;

/* The check ended; run must be NULL again.  code 0: none.  The text is cut to
 * fit and freed of control characters. */
void check_done(struct check *check, enum check_status status, unsigned code,
    const char *text);

/* The same for a check that is the server's agent, whose status says nothing
 * about the server's health. */
void check_note_agent(
    struct check *check, enum check_status status, const char *text);

/* The check could not be made for a lack that is ours (descriptors, memory)
 * and says nothing about the server: no result, tried again next time.  A
 * process short of descriptors must not take its healthy servers down too. */
void check_skip(struct check *check, int error);

/* A connect failed with this errno: check_done or check_skip. */
void check_connect_failed(struct check *check, int error);

#endif
