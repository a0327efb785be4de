/* SPDX-License-Identifier: MIT
 * See policy.h.
 */
#include "lf/policy.h"

const char *
policy_name(enum policy_kind policy)
{
	static const char *const names[] = {
	    [POLICY_ADAPTIVE] = "adaptive",
	    [POLICY_ALWAYS] = "always",
	    [POLICY_KERNEL] = "kernel",
	};
	_Static_assert(POLICY_KERNEL + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[policy];
}
