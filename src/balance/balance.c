/* SPDX-License-Identifier: MIT
 * The list of balancing algorithms: see balance.h.
 */
#include "balance/balance.h"

#include <stddef.h>

const struct balance_ops *const balance_algorithms[] = {
#define X(name) &balance_##name,
    BALANCE_ALGORITHMS(X)
#undef X
        NULL};

const char *const balance_names[] = {
#define X(name) #name,
    BALANCE_ALGORITHMS(X)
#undef X
        NULL};
