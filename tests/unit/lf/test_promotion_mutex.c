/* SPDX-License-Identifier: MIT
 * The textbook promotion passes the suite.
 */
#include "lf/promotion_mutex.h"

#include "lf/promotion_suite.h"

int
main(void)
{
	return promotion_suite_run(&promotion_mutex);
}
