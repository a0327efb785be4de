/* SPDX-License-Identifier: MIT
 * See build.h: no two sockets want the same address.
 */
#include <string.h>

#include "base/name_table.h"
#include "config/build.h"

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
opened_add(struct text_table *opened, const struct listen_spec *listen,
    const struct addr *addr)
{
	char text[ADDR_TEXT_SIZE];

	return text_table_add(opened, addr_text(addr, text), listen);
}

/* Lists the addresses that the listens open: an IPv4 address has the same text
 * as its form in IPv6, and port 0 is a new port each time.  Returns false when
 * memory is short. */
static bool
opened_list(struct text_table *opened, const struct frontend_spec *f)
{
	bool ok = true;

	for (size_t i = 0; ok && i < f->listens_n; i++) {
		const struct listen_spec *l = &f->listens[i];
		const struct addr ipv4 = ipv4_of(l);

		ok = addr_has_any_port(&l->addr) ||
		     (opened_add(opened, l, &l->addr) &&
		         (!l->both_families || opened_add(opened, l, &ipv4)));
	}
	return ok;
}

static const struct listen_spec *
opened_first(const struct text_table *opened, const struct addr *addr)
{
	char text[ADDR_TEXT_SIZE];

	return text_table_find(opened, addr_text(addr, text));
}

/* Returns the first listen whose address cannot be listened on beside that of
 * l, or l. */
static const struct listen_spec *
opened_before(const struct text_table *opened, const struct listen_spec *l)
{
	const struct listen_spec *first = opened_first(opened, &l->addr);
	const struct addr ipv4 = ipv4_of(l);

	if (l->both_families && first == l)
		first = opened_first(opened, &ipv4);
	return first && !addr_has_any_port(&l->addr) ? first : l;
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
check_listen(const struct spec *spec, const struct text_table *opened,
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
	struct text_table opened = {.all_n = 0};

	for (size_t i = 0; i < spec->frontends_n; i++)
		if (!opened_list(&opened, &spec->frontends[i]))
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
	text_table_clear(&opened);
}
