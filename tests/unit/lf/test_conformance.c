/* SPDX-License-Identifier: MIT
 * The conformance suite on the promotion that lfproxy uses.
 */
#include "lf/conformance.h"

int
main(void)
{
	return conformance_run("conformance", &promotion_futex, 200);
}
