/* SPDX-License-Identifier: MIT
 * Reads the answers of Consul's /v1/health/service/NAME as members.
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
 * If all weights are at most 256, they are taken as they are.  If the list has
 * a higher one, all are divided by the same number, so that the highest becomes
 * 256; only 0 becomes 0.  All functions are pure.
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

/* The most instances; more are an error. */
#define CONSUL_MEMBERS_MAX 10000

/* The names of parameters that a URL may have, separated by ", ". */
extern const char consul_parameters[];

/* Returns the path and the query that ask for the service of the URL, without
 * index and wait but with a `?`; the caller frees it with free(3).  Returns
 * NULL with err set when the URL is not one of a service, or when memory is
 * short. */
char *consul_query(
    const struct discovery_target *target, struct err *err) MUST_CHECK;

/* Returns whether the URL asks for passing instances only. */
bool consul_wants_passing(const struct discovery_target *target);

/* Reads an element of the answer's list, and puts the instance into the set.
 * Leaves it out if it is critical, if it is warning and passing is set, or if
 * an earlier one has its key.  Returns false with err set when the element is
 * wrong or memory is short. */
bool consul_instance_read(const char *text, size_t n, bool passing,
    struct member_set *set, struct err *err) MUST_CHECK;

/* Brings the weights into their range.  Called after the last element.  Returns
 * false when memory is short. */
bool consul_weights_scale(struct member_set *set) MUST_CHECK;

/* Returns a hash of the members, which does not depend on their order. */
uint64_t consul_fingerprint(const struct member_set *set);

#endif
