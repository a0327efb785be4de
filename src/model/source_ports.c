/* SPDX-License-Identifier: MIT
 * See source_ports.h: a ring with a place for every port.
 */
#include "model/source_ports.h"

#include <stdlib.h>

#include "base/ensure.h"
#include "base/lock.h"

struct source_ports {
	struct lock lock;
	unsigned size, first, in; /* places, the oldest, how many are in */
	uint16_t port[];
};

struct source_ports *
source_ports_new(uint16_t low, uint16_t high)
{
	unsigned size = high - low + 1u;
	struct source_ports *p = malloc(sizeof(*p) + size * sizeof(p->port[0]));

	if (!p)
		return NULL;
	lock_init(&p->lock);
	p->size = p->in = size;
	p->first = 0;
	for (unsigned i = 0; i < size; i++)
		p->port[i] = (uint16_t)(low + i);
	return p;
}

void
source_ports_free(struct source_ports *ports)
{
	if (!ports)
		return;
	lock_fini(&ports->lock);
	free(ports);
}

void
source_ports_count(
    struct source_ports *ports, unsigned *ret_size, unsigned *ret_out)
{
	lock_acquire(&ports->lock);
	*ret_size = ports->size;
	*ret_out = ports->size - ports->in;
	lock_release(&ports->lock);
}

uint16_t
source_ports_take(struct source_ports *ports)
{
	uint16_t port = 0;

	lock_acquire(&ports->lock);
	if (ports->in > 0) {
		port = ports->port[ports->first];
		ports->first = (ports->first + 1) % ports->size;
		ports->in--;
	}
	lock_release(&ports->lock);
	return port;
}

bool
source_ports_take_this(struct source_ports *ports, uint16_t port)
{
	bool found = false;

	lock_acquire(&ports->lock);
	for (unsigned i = 0; i < ports->in; i++) {
		unsigned at = (ports->first + i) % ports->size;

		/* The oldest port moves to its place. */
		if (ports->port[at] != port)
			continue;
		ports->port[at] = ports->port[ports->first];
		ports->first = (ports->first + 1) % ports->size;
		ports->in--;
		found = true;
		break;
	}
	lock_release(&ports->lock);
	return found;
}

void
source_ports_give(struct source_ports *ports, uint16_t port)
{
	lock_acquire(&ports->lock);
	ENSURE(ports->in < ports->size);
	ports->port[(ports->first + ports->in) % ports->size] = port;
	ports->in++;
	lock_release(&ports->lock);
}
