/* SPDX-License-Identifier: MIT
 * Reading the files of TLS contexts again, on a thread of its own: with
 * thousands of certificates it takes longer than the control loop may block.
 */
#ifndef CONTROL_TLS_LOAD_H
#define CONTROL_TLS_LOAD_H

#include <openssl/types.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "control/tls_interests.h"

struct tls_context;

/* The most changes of a context that are kept as texts. */
#define TLS_LOAD_TEXTS 16

/* A context's files.  The first two are set by the caller; the thread owns the
 * job until done is called. */
struct tls_load_job {
	struct tls_context *context; /* a reference */
	SSL_CTX *present;            /* a reference, from tls_context_take */
	bool ok;
	struct err err;  /* unless ok */
	SSL_CTX *loaded; /* a reference; NULL: nothing has changed */
	size_t changes;  /* the number of them; see tls_changes */
	char *texts[TLS_LOAD_TEXTS]; /* of the first of them */
	struct interests interests;
};

struct tls_load {
	struct tls_load_job *jobs; /* from malloc */
	size_t n;
	int inotify;
	void (*done)(void *arg); /* called on the thread, as its last act */
	void *arg;
	pthread_t thread;
};

/* Starts the thread: it watches the files of each job, see tls_interests_find,
 * and then reads them, so that no change is lost in between.  Takes ownership
 * of jobs, also on failure.  Returns 0 or an errno.  Control thread. */
int tls_load_start(struct tls_load *load) __attribute__((warn_unused_result));

/* Waits for the end of the thread; done need not have been called. */
void tls_load_join(struct tls_load *load);

/* Frees the jobs with what they still own, on a thread that calls done as well:
 * freeing thousands of certificates takes 100 ms.  Called after tls_load_join.
 * Returns false if there is no such thread, and all is freed. */
bool tls_load_dispose(struct tls_load *load)
    __attribute__((warn_unused_result));

/* Frees the jobs with what they still own. */
void tls_load_fini(struct tls_load *load);

#endif
