/* SPDX-License-Identifier: MIT
 * See passwords.h.
 */
#include "http/passwords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/thread.h"

#define NICE_MOST 19

struct password_check {
	struct list node;
	struct passwords *passwords;
	char *path;
	char name[USER_NAME_SIZE], password[PASSWORD_SIZE];
	password_done *done; /* NULL: the caller has gone */
	void *arg;
	/* The thread's until it has sent `ended`. */
	struct password_verdict verdict;
};

static void
free_check(struct password_check *c)
{
	explicit_bzero(c->password, sizeof(c->password));
	free(c->path);
	free(c);
}

static void *
passwords_thread(void *arg)
{
	struct password_check *c = arg;
	struct password_verdict *v = &c->verdict;

	(void)pthread_setname_np(pthread_self(), "lfproxy-users");
	/* On Linux the nice value is the thread's.  0: the calling one. */
	(void)setpriority(PRIO_PROCESS, 0, NICE_MOST);
	v->stamp = users_stamp_read(c->path);
	v->ok = users_authenticate(
	    c->path, c->name, c->password, &v->user, &v->err);
	ev_async_send(c->passwords->loop, &c->passwords->ended);
	return NULL;
}

static void
end_check(struct password_check *c)
{
	if (c->done)
		c->done(c->arg, &c->verdict);
	free_check(c);
}

/* Begins the first check that waits, unless one is under way. */
static void
begin_next(struct passwords *p)
{
	while (!p->present && !list_empty(&p->waiting)) {
		struct password_check *c =
		    container_of(p->waiting.next, struct password_check, node);
		int rc;

		list_remove(&c->node);
		p->waiting_n--;
		p->present = c;
		rc = thread_start(&p->thread, NULL, passwords_thread, c);
		if (rc == 0)
			return;
		p->present = NULL;
		err_set(&c->verdict.err, "no thread can be started: %s",
		    strerror(rc));
		end_check(c);
	}
}

static void
on_check_ended(struct ev_loop *loop, ev_async *ended, int events)
{
	struct passwords *p = ended->data;
	struct password_check *c = p->present;

	(void)loop;
	(void)events;
	(void)pthread_join(p->thread, NULL);
	p->present = NULL;
	end_check(c);
	begin_next(p);
}

static void
on_begin(struct ev_loop *loop, ev_timer *begin, int events)
{
	(void)loop;
	(void)events;
	begin_next(begin->data);
}

void
passwords_start(struct passwords *passwords, struct ev_loop *loop)
{
	passwords->loop = loop;
	passwords->present = NULL;
	passwords->waiting_n = 0;
	list_init(&passwords->waiting);
	ev_async_init(&passwords->ended, on_check_ended);
	ev_timer_init(&passwords->begin, on_begin, 0., 0.);
	passwords->ended.data = passwords->begin.data = passwords;
	ev_async_start(loop, &passwords->ended);
}

void
passwords_stop(struct passwords *passwords)
{
	struct password_check *present = passwords->present;

	if (!passwords->loop)
		return;
	ev_async_stop(passwords->loop, &passwords->ended);
	ev_timer_stop(passwords->loop, &passwords->begin);
	if (present) {
		(void)pthread_join(passwords->thread, NULL);
		passwords->present = NULL;
		end_check(present);
	}
	list_for_each_safe (node, &passwords->waiting) {
		struct password_check *c =
		    container_of(node, struct password_check, node);

		list_remove(&c->node);
		err_set(&c->verdict.err, "the HTTP port closes");
		end_check(c);
	}
	passwords->waiting_n = 0;
}

bool
password_check(struct passwords *passwords, const char *path, const char *name,
    const char *password, password_done *done, void *arg)
{
	struct password_check *c;

	if (passwords->waiting_n >= PASSWORDS_WAITING_MAX)
		return false;
	c = calloc(1, sizeof(*c));
	if (!c)
		return false;
	c->path = strdup(path);
	if (!c->path) {
		free(c);
		return false;
	}
	c->passwords = passwords;
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->password, sizeof(c->password), "%s", password);
	c->done = done;
	c->arg = arg;
	list_append(&passwords->waiting, &c->node);
	passwords->waiting_n++;
	/* The check begins in a later turn of the loop: done is not called from
	 * within this function, even if no thread can be started. */
	if (!passwords->present)
		ev_timer_start(passwords->loop, &passwords->begin);
	return true;
}

void
passwords_forget(struct passwords *passwords, const void *arg)
{
	if (passwords->present && passwords->present->arg == arg)
		passwords->present->done = NULL;
	list_for_each_safe (node, &passwords->waiting) {
		struct password_check *c =
		    container_of(node, struct password_check, node);

		if (c->arg != arg)
			continue;
		list_remove(&c->node);
		passwords->waiting_n--;
		free_check(c);
	}
}
