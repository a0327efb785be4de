/* SPDX-License-Identifier: MIT
 * See inspection.h.
 */
#include "proxy/inspection.h"

#include <string.h>

#include "net/sock.h"
#include "proxy/session.h"

bool
inspect_construct(void *object, uint32_t index, void *arg)
{
	struct inspection *p = object;

	(void)arg;
	p->index = index;
	return true;
}

bool
inspect_begin(
    struct session *s, unsigned listen, unsigned steps, struct proxy *proxy)
{
	uint32_t index;
	struct inspection *p = slab_take(&proxy->inspections, &index);

	if (!p)
		return false;
	atomic_store_relaxed(&p->name_len, 0);
	p->steps = (uint8_t)steps;
	p->listen = (uint16_t)listen;
	p->ended = p->spoke = p->tls = p->asked_gss = false;
	atomic_store_relaxed(&p->asked_tls, false);
	p->protocols = 0;
	p->versions = 0;
	p->low_water = 0;
	p->authority_len = 0;
	p->header_ms = 0;
	atomic_store_relaxed(&p->proxied, false);
	atomic_store_relaxed(&p->tls_cipher, NULL);
	atomic_store_release(&s->inspection, p); /* [P21] */
	return true;
}

void
inspect_end(struct session *s, struct proxy *proxy)
{
	if (s->inspection)
		slab_give(&proxy->inspections, s->inspection->index);
}

void
inspection_put_name(struct inspection *p, const char *name, size_t len)
{
	uint64_t words[sizeof(p->name) / sizeof(p->name[0])] = {0};

	memcpy(words, name, len);
	for (size_t i = 0; i <= len / sizeof(words[0]); i++)
		atomic_store_relaxed(&p->name[i], words[i]);
}

void
inspect_read_name(
    const struct inspection *inspection, char ret_name[TLS_NAME_MAX + 1])
{
	uint64_t words[sizeof(inspection->name) / sizeof(inspection->name[0])];
	size_t len = 0;

	if (inspection)
		len = atomic_load_acquire(&inspection->name_len); /* [P21] */
	ret_name[len] = '\0';
	if (len == 0)
		return;
	for (size_t i = 0; i <= len / sizeof(words[0]); i++)
		words[i] = atomic_load_acquire(&inspection->name[i]);
	memcpy(ret_name, words, len);
}

void
inspect_read_client(const struct inspection *inspection,
    struct endpoint *client, struct endpoint *ret_peer)
{
	*ret_peer = (struct endpoint){.family = 0};
	if (!inspection ||
	    !atomic_load_acquire(&inspection->proxied)) /* [P21] */
		return;
	*ret_peer = *client;
	endpoint_get(&inspection->source, client);
}

void
session_destination(const struct session *s, struct endpoint *ret_destination)
{
	const struct inspection *p = s->inspection;
	struct addr addr;

	if (p && p->proxied)
		*ret_destination = p->destination;
	else if (sock_local_addr(s->side[HANDLE_CLIENT].fd, &addr))
		endpoint_set(ret_destination, &addr.sa, addr.len);
	else
		*ret_destination = (struct endpoint){.family = 0};
}

void
inspect_note_name(struct inspection *inspection, const char *name)
{
	char normal[TLS_NAME_MAX + 1];
	uint8_t len;

	if (!tls_name_normalize(name, strlen(name), normal, &len))
		return;
	inspection_put_name(inspection, normal, len);
	atomic_store_release(&inspection->name_len, len); /* [P21] */
}
