/* SPDX-License-Identifier: MIT
 * The instances of a service in Consul, each of which is a member.  They are
 * read by blocking queries of /v1/health/service/NAME:
 *
 *            +------------- pause <---- any failure: index 0 ----+
 *            v                                                   |
 *   start -> ASKING, without waiting --> report, index ----------+
 *            ^                             |                     |
 *            | index 0: it went backwards  v                     |
 *            +--------------------------- ASKING, with the index:
 *                                         Consul answers after a change,
 *                                         or after CONSUL_WAIT_S
 *
 * The index follows the rules of Consul's documentation: an index that is lower
 * than before is dropped, and one below 1 counts as 1, so that a query always
 * waits.  Queries begin at least CONSUL_GAP_S apart.  While answers come at
 * once and have nothing new, that time doubles up to CONSUL_GAP_MAX_S.
 *
 * A URL is http://HOST:PORT/SERVICE?PARAMETERS, with the parameters of
 * consul_parameters.  An instance with a critical check, or in maintenance, is
 * no member, as in Consul's DNS; with `passing`, nor is one with a warning.
 * consul_text.h tells how an instance becomes a member.
 */
#ifndef RESOLVE_DISCOVERY_CONSUL_H
#define RESOLVE_DISCOVERY_CONSUL_H

#include <ev.h>

#include "base/err.h"
#include "loop/curl_loop.h"
#include "resolve/discovery.h"
#include "resolve/discovery_settings.h"

/* How long Consul waits for a change; it adds up to a sixteenth. */
#define CONSUL_WAIT_S    60
#define CONSUL_GAP_S     .2
#define CONSUL_GAP_MAX_S 10.

/* Returns whether the URL is one of a service in Consul, or false with err set.
 * Pure. */
bool discovery_consul_check_url(const char *url, struct err *err) MUST_CHECK;

/* Returns whether discovery_consul_new can use the settings, or false with err
 * set.  Blocks for the files of TLS. */
bool discovery_consul_check(
    const struct discovery_settings *settings, struct err *err) MUST_CHECK;

/* Makes a source from settings that were checked.  Copies the settings; borrows
 * loop and curl.  Reports follow from the loop.  The owner must not free the
 * source from within a report.  Returns NULL when memory is short. */
struct discovery *discovery_consul_new(struct ev_loop *loop,
    struct curl_loop *curl, const struct discovery_settings *settings,
    struct discovery_owner owner);

#endif
