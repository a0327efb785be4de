/* SPDX-License-Identifier: MIT
 * The texts of Consul's /v1/health/service/NAME, as members.
 *
 * An instance becomes a member in this way:
 *
 *   key      the name of its node, a slash, and the service's ID
 *   address  Service.Address, or Node.Address when that is empty, and
 *            Service.Port
 *   options  weight=N: Weights.Passing, or Weights.Warning while a check warns;
 *            1 without weights
 *   note     tags, and metadata as NAME=VALUE
 *
 * Weights up to 256 are taken as they are.  If the list has a higher one, all
 * are divided by the same number, so that the highest is 256; none but 0
 * becomes 0.  Functions are pure.
 */
#ifndef RESOLVE_CONSUL_TEXT_H
#define RESOLVE_CONSUL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "resolve/discovery_target.h"
#include "resolve/member_set.h"

#define CONSUL_WEIGHT_MAX 256

/* More instances are an error. */
#define CONSUL_MEMBERS_MAX 10000

/* The names of parameters that a URL may have, separated by ", ". */
extern const char consul_parameters[];

/* Returns the path and the query that ask for the service of the URL, for the
 * caller to free(3), without index and wait; it has a `?`.  NULL with err set
 * when the URL is not one of a service, or when memory is short. */
char *consul_query(
    const struct discovery_target *target, struct err *err) MUST_CHECK;

/* Returns whether the URL asks for passing instances only. */
bool consul_wants_passing(const struct discovery_target *target);

/* Reads an element of the answer's list, and puts the instance into the set
 * unless it is left out: critical, or warning while passing is wanted, or
 * has the key of an earlier one.  Returns false with err set. */
bool consul_instance_read(const char *text, size_t n, bool passing,
    struct member_set *set, struct err *err) MUST_CHECK;

/* After the last element: brings the weights into their range.  Returns false
 * when memory is short. */
bool consul_weights_scale(struct member_set *set) MUST_CHECK;

/* Returns a number for what the members are, the same in any order. */
uint64_t consul_fingerprint(const struct member_set *set);

#endif
