/* SPDX-License-Identifier: MIT
 * Fair shares: how many of the present sessions each server would have if they
 * were spread by weight.
 */
#ifndef ORDERS_FAIR_SHARE_H
#define ORDERS_FAIR_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct share {
	/* Input: the server at present. */
	uint32_t sessions;
	uint32_t weight; /* > 0; only the proportions count */
	uint32_t limit;  /* maxconn; 0: none */
	/* Output. */
	uint32_t fair;
	uint32_t excess; /* sessions above fair, 0 within the tolerance */
};

/* Fills in fair and excess of each.  The fair shares are whole numbers whose
 * sum is that of the sessions; none is above its limit as long as another
 * server has room. */
void fair_shares(struct share *shares, size_t n);

/* Returns the tolerated difference from a fair share: a twentieth, at least 1.
 */
uint32_t fair_tolerance(uint32_t fair);

#endif
