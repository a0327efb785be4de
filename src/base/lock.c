/* SPDX-License-Identifier: MIT
 * See lock.h.
 */
#include "base/lock.h"

_Thread_local struct lock_holder lock_holder;
