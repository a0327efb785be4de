/* SPDX-License-Identifier: MIT
 * Reads the files of TLS contexts again, on a separate thread: with thousands
 * of certificates that takes longer than the control loop may block.
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

/* The most changes of a context that are described by texts. */
#define TLS_LOAD_TEXTS 16

/* Reading the files of a context.  The caller sets the first two members.  The
 * thread owns the job until done is called. */
struct tls_load_job {
	struct tls_context *context; /* a reference */
	SSL_CTX *present;            /* a reference, from tls_context_take */
	bool ok;
	struct err err;  /* unless ok */
	SSL_CTX *loaded; /* a reference; NULL: nothing has changed */
	size_t changes;  /* how many there are, see tls_changes */
	char *texts[TLS_LOAD_TEXTS]; /* the first changes */
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

/* Starts the thread.  For each job it watches the files (tls_interests_find)
 * and then reads them, so that no change is lost in between.  Takes ownership
 * of jobs, also on failure.  Returns 0 or an errno value.  Runs on the control
 * thread, as all functions here. */
int tls_load_start(struct tls_load *load) __attribute__((warn_unused_result));

/* Waits until the thread has ended, also if done was not called yet. */
void tls_load_join(struct tls_load *load);

/* Frees the jobs with what they still own, on another thread, which calls done
 * as well: freeing thousands of certificates takes 100 ms.  Called after
 * tls_load_join.  If the thread cannot be started, frees the jobs at once and
 * returns false. */
bool tls_load_dispose(struct tls_load *load)
    __attribute__((warn_unused_result));

/* Frees the jobs with what they still own. */
void tls_load_fini(struct tls_load *load);

#endif
