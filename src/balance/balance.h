/* SPDX-License-Identifier: MIT
 * The balancing algorithms: one file each, all registered here.
 *
 * A new algorithm needs a file that defines `balance_NAME` and a line in
 * BALANCE_ALGORITHMS.  The interface is model/balance_ops.h.
 */
#ifndef BALANCE_BALANCE_H
#define BALANCE_BALANCE_H

#include "model/balance_ops.h"

/* X(name): each algorithm, by its name in the configuration. */
#define BALANCE_ALGORITHMS(X)                                                  \
	X(roundrobin)                                                          \
	X(leastconn)                                                           \
	X(random)                                                              \
	X(source)                                                              \
	X(hash)                                                                \
	X(first)                                                               \
	X(ewma)

#define X(name) extern const struct balance_ops balance_##name;
BALANCE_ALGORITHMS(X)
#undef X

/* All algorithms in the order of BALANCE_ALGORITHMS, and their names in the
 * same order.  NULL ends both lists. */
extern const struct balance_ops *const balance_algorithms[];
extern const char *const balance_names[];

#endif
