/* SPDX-License-Identifier: MIT
 * Work on servers that is due: notices of data threads (model/passive.h), the
 * return of ejected servers, the next step of a slow start, and the end of a
 * server's sessions.  All functions run on the control thread.
 */
#ifndef SERVERS_SERVER_FOLLOWUP_H
#define SERVERS_SERVER_FOLLOWUP_H

#include <ev.h>
#include <stdint.h>

#include "loop/task_timer.h"

struct checker;
struct instance;

struct server_followup {
	struct instance *instance; /* borrowed */
	struct checker *checker;   /* borrowed; NULL: no check yet */
	ev_async noticed;          /* sent by a data thread: a new notice */
	struct timed_task readmit; /* when the next ejection ends */
	ev_prepare prepare;        /* looks for new work before each wait */
	struct timed_task work;    /* what prepare has found */
};

/* Begins this work, which goes on until the control loop ends.  Called before
 * the pool threads start. */
void server_followup_start(
    struct server_followup *f, struct instance *instance);

/* Acts on all notices and readmits servers whose ejection is over.  Also called
 * after each change of the model: new servers may have notices that a look at
 * the former model has missed. */
void server_followup_review(struct server_followup *f);

#endif
