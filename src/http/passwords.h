/* SPDX-License-Identifier: MIT
 * Checks passwords by the worker, one after another: a good hash takes a tenth
 * of a second of CPU, which the control loop does not have.
 *
 *   password_check --queue--> worker (the file of users, crypt) --> done
 *
 * An attempt counts against its address when its check begins (failures.h), and
 * is refused then if the address has to wait.  Networks from which users have
 * signed in have a queue of their own, which is served first, so guesses from
 * many addresses do not keep these users out.
 *
 * The checks have the lowest priority, so guesses cost sessions nothing.  All
 * functions run on the control thread, as does done.
 */
#ifndef HTTP_PASSWORDS_H
#define HTTP_PASSWORDS_H

#include <ev.h>
#include <stdbool.h>

#include "base/list.h"
#include "base/worker.h"
#include "config/users_file.h"
#include "http/failures.h"
#include "http/sessions.h"

/* The most checks that wait: in a queue, and of a site's in both. */
#define PASSWORDS_WAITING_MAX  128
#define PASSWORDS_WAITING_SITE 16
#define PASSWORD_SIZE          256

struct password_check;

struct passwords {
	struct ev_loop *loop;
	ev_timer begin;
	struct password_queue {
		struct list waiting;
		unsigned n;
	} known, others;
	struct http_failures failures;
	struct password_check *present; /* the worker's; NULL: none */
};

struct password_verdict {
	bool ok;
	uint64_t wait_ms; /* not 0: not checked, the address has to wait */
	struct user user; /* if ok */
	struct users_stamp stamp; /* of the file, before it was read */
	struct err err;           /* if not: empty for a wrong password */
};

typedef void password_done(void *arg, const struct password_verdict *verdict);

/* Prepares for checks, whose verdicts will come on the loop. */
void passwords_start(struct passwords *passwords, struct ev_loop *loop);

/* Ends all checks, with an error as their verdict. */
void passwords_stop(struct passwords *passwords);

/* Checks the password by the file at path.  done is called once, never from
 * within this call.  Returns 0, -EAGAIN when too many of that site wait, -EBUSY
 * when too many wait, or -ENOMEM. */
int password_check(struct passwords *passwords, const char *path,
    const struct endpoint *from, const char *name, const char *password,
    password_done *done, void *arg) MUST_CHECK;

/* Gives no verdict to arg, which is freed. */
void passwords_forget(struct passwords *passwords, const void *arg);

#endif
