/* SPDX-License-Identifier: MIT
 * Certificates, keys, OCSP responses, authorities, CRLs and ticket keys follow
 * their files without a reload, see section_watch.h.  A key that does not match
 * its certificate cannot be used.
 */
#ifndef WATCH_TLS_WATCH_H
#define WATCH_TLS_WATCH_H

#include "watch/section_watch.h"

struct spec;

/* Begins to watch the files of spec's sections. */
void tls_watch_start(struct section_watch *watch, struct ev_loop *loop,
    struct task_timer *timer, const struct spec *spec);

/* Follows a change of the spec in force. */
void tls_watch_follow(struct section_watch *watch, const struct spec *spec);

#endif
