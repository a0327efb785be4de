/* SPDX-License-Identifier: MIT
 * Reads the files of TLS contexts again, by the worker: with thousands of
 * certificates that takes longer than the control loop may block.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_TLS_LOAD_H
#define CONTROL_TLS_LOAD_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/worker.h"
#include "control/tls_interests.h"

struct tls_context;

/* The most changes of a context that are described by texts. */
#define TLS_LOAD_TEXTS 16

/* Reading the files of a context.  The caller sets the first two members. */
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

/* The caller sets all members but work before tls_load_submit. */
struct tls_load {
	struct work work;
	int inotify;
	/* error: errno, if no thread could be made, or 0. */
	void (*done)(void *arg, int error);
	void *arg;
	size_t n;
	struct tls_load_job jobs[];
};

/* Returns a load with room for n jobs, or NULL when memory is short. */
struct tls_load *tls_load_new(size_t n) MUST_CHECK;

/* Gives the load to the worker.  For each job it watches the files
 * (tls_interests_find) and then reads them, so that no change is lost in
 * between.  At the end calls done; from then on the load is the caller's
 * again. */
void tls_load_submit(struct tls_load *load);

/* Cancels a load whose done was not called.  The load frees itself when the
 * worker has left it, and then closes inotify. */
void tls_load_cancel(struct tls_load *load);

/* Frees the load with what its jobs still own.  The worker does so: freeing
 * thousands of certificates takes 100 ms. */
void tls_load_free(struct tls_load *load);

#endif
