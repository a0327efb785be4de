/* SPDX-License-Identifier: MIT
 * Certificates, keys, OCSP responses, authorities, CRLs and ticket keys follow
 * their files without a reload.
 *
 *   inotify --> settle, 1 s --> read by the worker --> exchange, if all is good
 *
 * A section changes as a whole or not at all.  If a file is missing or broken,
 * or a key does not match its certificate, the section stays as it is, which is
 * logged once.
 *
 * All functions run on the control thread and do not block.
 */
#ifndef CONTROL_TLS_WATCH_H
#define CONTROL_TLS_WATCH_H

#include <ev.h>
#include <stdbool.h>

#include "base/file_watch.h"
#include "base/list.h"
#include "control/task_timer.h"
#include "control/tls_load.h"
#include "tls/settings.h"

struct spec;

/* The time without changes after which files are read: programs write a
 * certificate and its key one after the other. */
#define TLS_WATCH_SETTLE_MS 1000
/* The time after which files are read that change all the time. */
#define TLS_WATCH_SETTLE_MAX_MS 10000
/* The interval at which a section that could not be read is read again. */
#define TLS_WATCH_RETRY_MS 60000

struct tls_watch {
	struct file_watch files;
	struct timed_task retry;
	struct list sections;
	struct tls_load *load; /* the worker's; NULL: none */
};

/* Begins to watch the files of spec's sections, and reads those once that may
 * have changed since spec was made.  Without inotify, which is logged, only
 * reloads read changed files. */
void tls_watch_start(struct tls_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct spec *spec);

/* Follows a change of the spec in force. */
void tls_watch_follow(struct tls_watch *watch, const struct spec *spec);

/* Ends the watch. */
void tls_watch_fini(struct tls_watch *watch);

/* Returns why the files of the section cannot be used, so that the former
 * certificates stay in force; NULL if they can be used. */
const char *tls_watch_failure(
    const struct tls_watch *watch, const char *section);

#endif
