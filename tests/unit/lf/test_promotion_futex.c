/* SPDX-License-Identifier: MIT
 * The promotion of one atomic word passes the suite.
 */
#include "lf/promotion.h"

#include "lf/promotion_suite.h"

int
main(void)
{
	return promotion_suite_run(&promotion_futex);
}
