/* SPDX-License-Identifier: MIT
 * What operators have ordered, and what goes on because of it.  Belongs to the
 * control thread.
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
