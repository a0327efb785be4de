/* SPDX-License-Identifier: MIT
 * The running instance of lfproxy: the objects that the parts of the control
 * thread share.  The control (live/control.h) makes them before the parts and
 * frees them after the parts.  Control thread only, except where an object's
 * own header says more.
 */
#ifndef PROXY_INSTANCE_H
#define PROXY_INSTANCE_H

#include <ev.h>

#include "loop/task_timer.h"
#include "model/model.h"
#include "proxy/proxy.h"

struct instance {
	struct ev_loop *loop;
	struct task_timer timer; /* for tasks of the loop */
	struct grace *grace;
	struct model *model; /* the PRESENT one: a reload replaces it */
	struct proxy proxy;  /* the data plane */
};

#endif
