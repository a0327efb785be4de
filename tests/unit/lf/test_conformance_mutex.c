/* SPDX-License-Identifier: MIT
 * The conformance suite on the textbook promotion, a shorter run.
 */
#include "lf/conformance.h"
#include "lf/promotion_mutex.h"

int
main(void)
{
	return conformance_run("conformance, mutex", &promotion_mutex, 60);
}
