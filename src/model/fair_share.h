/* SPDX-License-Identifier: MIT
 * What each server's part of the sessions would be, were they spread by weight:
 * the arithmetic of it.
 */
#ifndef MODEL_FAIR_SHARE_H
#define MODEL_FAIR_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct share {
	/* Of the server, at present. */
	uint32_t sessions;
	uint32_t weight; /* > 0; only the proportions count */
	uint32_t limit;  /* maxconn; 0: none */
	/* What follows. */
	uint32_t fair;
	uint32_t excess; /* sessions that it has too many, 0 within tolerance */
};

/* Fills in fair and excess of each.  The fair shares are whole numbers whose
 * sum is that of the sessions; none is above its limit as long as there is room
 * below others. */
void fair_shares(struct share *shares, size_t n);

/* So many more or less than its fair share are nothing to do something about:
 * a twentieth, at least 1. */
uint32_t fair_tolerance(uint32_t fair);

#endif
