/* SPDX-License-Identifier: MIT
 * Orders of operators that go on for a while.  Belongs to the control thread.
 */
#ifndef ORDERS_ORDERS_H
#define ORDERS_ORDERS_H

#include "orders/capacity.h"
#include "orders/drains.h"
#include "orders/rebalance.h"
#include "orders/session_limits.h"

struct orders {
	struct session_limits limits;
	struct drains drains;
	struct rebalances rebalances;
	struct capacity capacity;
};

#endif
