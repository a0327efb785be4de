/* SPDX-License-Identifier: MIT
 * See build.h: no two sockets want the same address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "config/build.h"

/* The addresses that listens open, as texts: an IPv4 address has the same text
 * as its form in IPv6. */
struct opened_addr {
	char *text;
	const struct listen_spec *listen;
};

struct opened {
	struct opened_addr *addrs;
	size_t addrs_n;
	struct name_index addrs_index;
};

/* Returns the IPv4 address that `:80` opens as well: 0.0.0.0:80. */
static struct addr
ipv4_of(const struct listen_spec *l)
{
	struct addr addr = {
	    .in = {.sin_family = AF_INET}, .len = sizeof(addr.in)};

	addr_set_port(&addr, addr_port(&l->addr));
	return addr;
}

static bool
opened_add(struct opened *opened, const struct listen_spec *listen,
    const struct addr *addr)
{
	char text[ADDR_TEXT_SIZE];
	char *copy = strdup(addr_text(addr, text));

	if (copy)
		opened->addrs[opened->addrs_n++] =
		    (struct opened_addr){.text = copy, .listen = listen};
	return copy;
}

/* Lists the addresses of all listens.  Port 0 is a new port each time.  Returns
 * false when memory is short. */
static bool
opened_list(struct opened *opened, const struct spec *spec)
{
	size_t room = 1;
	bool ok;

	for (size_t i = 0; i < spec->frontends_n; i++)
		room += 2 * spec->frontends[i].listens_n;
	opened->addrs = calloc(room, sizeof(*opened->addrs));
	ok = opened->addrs;
	for (size_t i = 0; ok && i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];

		for (size_t j = 0; ok && j < f->listens_n; j++) {
			const struct listen_spec *l = &f->listens[j];
			const struct addr ipv4 = ipv4_of(l);

			ok = addr_has_any_port(&l->addr) ||
			     (opened_add(opened, l, &l->addr) &&
			         (!l->both_families ||
			             opened_add(opened, l, &ipv4)));
		}
	}
	if (ok)
		INDEX_NAMES(opened, addrs);
	return ok;
}

static void
opened_fini(struct opened *opened)
{
	for (size_t i = 0; i < opened->addrs_n; i++)
		free(opened->addrs[i].text);
	free(opened->addrs);
	free(opened->addrs_index.slots);
}

/* Returns the first listen that opens the address, or NULL. */
static const struct listen_spec *
opened_first(const struct opened *opened, const struct addr *addr)
{
	char text[ADDR_TEXT_SIZE];
	size_t i;

	return name_table_find(
	           INDEXED_TABLE(opened, addrs), addr_text(addr, text), &i)
	           ? opened->addrs[i].listen
	           : NULL;
}

/* Returns the first listen whose address cannot be listened on beside that of
 * l, or l. */
static const struct listen_spec *
opened_before(const struct opened *opened, const struct listen_spec *l)
{
	const struct listen_spec *first = opened_first(opened, &l->addr);
	const struct addr ipv4 = ipv4_of(l);

	if (l->both_families && first == l)
		first = opened_first(opened, &ipv4);
	return first ? first : l;
}

static void
refuse_listen(struct err_list *errors, const struct listen_spec *l,
    const char *what, const char *first)
{
	char text[ADDR_TEXT_SIZE + 4] = "-l ";

	if (l->place.file)
		ERROR_AT(l, errors,
		    "listen: '%s' is %s%s; each address can be used once",
		    l->text, what, first);
	else
		err_list_add(errors, strncat(text, l->text, ADDR_TEXT_SIZE), 0,
		    "'%s' is %s%s; each address can be used once", l->text,
		    what, first);
}

static bool
is_at(const struct listen_spec *l, const struct addr *addr)
{
	if (l->addr.sa.sa_family == AF_UNIX && addr->sa.sa_family == AF_UNIX)
		return strcmp(l->addr.un.sun_path, addr->un.sun_path) == 0;
	return addr_equal(&l->addr, addr) && !addr_has_any_port(addr);
}

/* Checks an address against those that come before it.  Returns false after an
 * error. */
static bool
check_listen(const struct spec *spec, const struct opened *opened,
    const struct listen_spec *l, struct err_list *errors)
{
	const struct listen_spec *before = opened_before(opened, l);
	char first[DRAFT_FIRST_SIZE];

	for (size_t i = 0; i < spec->global.admin.n; i++) {
		if (!is_at(l, &spec->global.admin.all[i].addr))
			continue;
		refuse_listen(errors, l, "the admin socket's address", "");
		return false;
	}
	if (before != l)
		refuse_listen(errors, l, "listened on already",
		    draft_first(before->place, l->place, first));
	return before == l;
}

void
build_check_listens(const struct spec *spec, struct err_list *errors)
{
	struct opened opened = {.addrs_n = 0};

	if (!opened_list(&opened, spec))
		err_list_add(errors, NULL, 0, "out of memory");
	for (size_t i = 0; i < spec->frontends_n; i++) {
		const struct frontend_spec *f = &spec->frontends[i];
		bool ok = true;

		/* A range gets one error. */
		for (size_t j = 0; j < f->listens_n; j++)
			if (!f->listens[j].in_range || ok)
				ok = check_listen(
				    spec, &opened, &f->listens[j], errors);
	}
	opened_fini(&opened);
}
