/* SPDX-License-Identifier: MIT
 * See passwords.h.
 */
#include "http/passwords.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Guesses cost sessions nothing. */
static struct work_queue checks = {.at_once = 1, .nice = 19};

struct password_check {
	struct work work;
	struct list node;
	struct passwords *passwords;
	struct password_queue *queue;
	struct endpoint from;
	char *path;
	char name[USER_NAME_SIZE], password[PASSWORD_SIZE];
	password_done *done; /* NULL: the caller has gone */
	void *arg;
	struct password_verdict verdict;
};

static void
free_check(struct password_check *c)
{
	explicit_bzero(c->password, sizeof(c->password));
	free(c->path);
	free(c);
}

static void
run_check(struct work *work)
{
	struct password_check *c =
	    container_of(work, struct password_check, work);
	struct password_verdict *v = &c->verdict;

	v->stamp = users_stamp_read(c->path);
	v->ok = users_authenticate(
	    c->path, c->name, c->password, &v->user, &v->err);
}

static void
end_check(struct password_check *c)
{
	if (c->done)
		c->done(c->arg, &c->verdict);
	free_check(c);
}

static void
remove_from_queue(struct password_check *c)
{
	list_remove(&c->node);
	c->queue->n--;
}

/* Returns the check that begins next, removed from its queue, or NULL. */
static struct password_check *
take_next(struct passwords *p)
{
	struct password_queue *queue = p->known.n > 0 ? &p->known : &p->others;
	struct password_check *c;

	if (queue->n == 0)
		return NULL;
	c = container_of(queue->waiting.next, struct password_check, node);
	remove_from_queue(c);
	return c;
}

/* Counts the attempt and gives the check to the worker.  Returns false with the
 * verdict filled if the address has to wait. */
static bool
begin_check(struct passwords *p, struct password_check *c)
{
	uint64_t now_ms = clock_now_ms();

	c->verdict.wait_ms =
	    http_failures_wait_ms(&p->failures, &c->from, now_ms);
	if (c->verdict.wait_ms > 0)
		return false;
	p->present = c;
	http_failures_add(&p->failures, &c->from, now_ms);
	worker_submit(&c->work);
	return true;
}

/* Begins the next check, unless one is under way. */
static void
begin_next(struct passwords *p)
{
	struct password_check *c;

	while (!p->present && (c = take_next(p)))
		if (!begin_check(p, c))
			end_check(c);
}

/* Ends the check that was under way.  ECANCELED: passwords_stop has done so. */
static void
end_present(struct work *work, int error)
{
	struct password_check *c =
	    container_of(work, struct password_check, work);
	struct passwords *p = c->passwords;

	if (error == ECANCELED) {
		free_check(c);
		return;
	}
	if (error != 0)
		err_set(&c->verdict.err, "no thread can be started: %s",
		    strerror(error));
	p->present = NULL;
	if (c->verdict.ok)
		http_failures_forget(&p->failures, &c->from);
	else if (c->verdict.err.text[0])
		http_failures_take_back(&p->failures, &c->from);
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
	list_init(&passwords->known.waiting);
	list_init(&passwords->others.waiting);
	ev_timer_init(&passwords->begin, on_begin, 0., 0.);
	passwords->begin.data = passwords;
}

/* Gives the check an error as its verdict. */
static void
refuse_check(const struct password_check *c)
{
	struct password_verdict v = {.ok = false};

	err_set(&v.err, "the HTTP port closes");
	if (c->done)
		c->done(c->arg, &v);
}

static void
stop_queue(struct password_queue *queue)
{
	list_for_each_safe (node, &queue->waiting) {
		struct password_check *c =
		    container_of(node, struct password_check, node);

		remove_from_queue(c);
		refuse_check(c);
		free_check(c);
	}
}

void
passwords_stop(struct passwords *passwords)
{
	if (!passwords->loop)
		return;
	ev_timer_stop(passwords->loop, &passwords->begin);
	if (passwords->present) {
		refuse_check(passwords->present);
		worker_cancel(&passwords->present->work);
	}
	stop_queue(&passwords->known);
	stop_queue(&passwords->others);
}

static unsigned
waiting_of_site(const struct password_queue *queue, const struct endpoint *from)
{
	unsigned n = 0;

	list_for_each (node, &queue->waiting) {
		const struct password_check *c =
		    container_of(node, struct password_check, node);

		n += (unsigned)http_failures_same_site(&c->from, from);
	}
	return n;
}

static struct password_check *
check_new(const char *path, const char *name, const char *password)
{
	struct password_check *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->path = strdup(path);
	if (!c->path) {
		free(c);
		return NULL;
	}
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->password, sizeof(c->password), "%s", password);
	return c;
}

int
password_check(struct passwords *passwords, const char *path,
    const struct endpoint *from, const char *name, const char *password,
    password_done *done, void *arg)
{
	struct password_queue *queue =
	    http_failures_knows(&passwords->failures, from)
	        ? &passwords->known
	        : &passwords->others;
	struct password_check *c;

	if (waiting_of_site(&passwords->known, from) +
	        waiting_of_site(&passwords->others, from) >=
	    PASSWORDS_WAITING_SITE)
		return -EAGAIN;
	if (queue->n >= PASSWORDS_WAITING_MAX)
		return -EBUSY;
	c = check_new(path, name, password);
	if (!c)
		return -ENOMEM;
	c->work = (struct work){
	    .queue = &checks, .run = run_check, .done = end_present};
	c->passwords = passwords;
	c->queue = queue;
	c->from = *from;
	c->done = done;
	c->arg = arg;
	list_append(&queue->waiting, &c->node);
	queue->n++;
	/* The check begins in a later turn of the loop: done is not called from
	 * within this function, even if the address has to wait. */
	if (!passwords->present)
		ev_timer_start(passwords->loop, &passwords->begin);
	return 0;
}

static void
forget_in_queue(struct password_queue *queue, const void *arg)
{
	list_for_each_safe (node, &queue->waiting) {
		struct password_check *c =
		    container_of(node, struct password_check, node);

		if (c->arg != arg)
			continue;
		remove_from_queue(c);
		free_check(c);
	}
}

void
passwords_forget(struct passwords *passwords, const void *arg)
{
	if (passwords->present && passwords->present->arg == arg)
		passwords->present->done = NULL;
	forget_in_queue(&passwords->known, arg);
	forget_in_queue(&passwords->others, arg);
}
