/* SPDX-License-Identifier: MIT
 * Directives of nginx's that have no effect: settings of something that is off,
 * and maps, zones and upstreams that nothing uses.
 */
#include <string.h>

#include "import/nginx.h"

/* Returns whether some listen of the block has the option. */
static bool
listens_with(const struct ngx_item *block, const char *option)
{
	for (size_t i = 0; i < block->n; i++) {
		const struct ngx_item *item = &block->children[i];

		if (ngx_is(item, "listen"))
			for (size_t j = 2; j < item->words.n; j++)
				if (strcmp(item->words.word[j], option) == 0)
					return true;
	}
	return false;
}

static bool
begins(const struct ngx_item *item, const char *prefix)
{
	return strncmp(item->words.word[0], prefix, strlen(prefix)) == 0;
}

/* Returns whether the setting of the server has no effect. */
static bool
is_off(const struct ngx_file *file, const struct ngx_item *server,
    const struct ngx_item *item)
{
	if (begins(item, "proxy_ssl_"))
		return !ngx_is_on(file, server, "proxy_ssl");
	if (begins(item, "ssl_") && !ngx_is(item, "ssl_preread"))
		return !listens_with(server, "ssl");
	if (ngx_is(item, "set_real_ip_from") ||
	    ngx_is(item, "proxy_protocol_timeout"))
		return !listens_with(server, "proxy_protocol");
	if (ngx_is(item, "proxy_protocol_version"))
		return !ngx_is_on(file, server, "proxy_protocol");
	return ngx_is(item, "tcp_nodelay") || ngx_is(item, "preread_timeout");
}

static void
mark(const struct ngx_item *item)
{
	words_read_all(&item->words, 0);
	for (size_t i = 0; i < item->n; i++)
		mark(&item->children[i]);
}

/* Returns whether no server of the stream has use for the setting, or each has
 * its own. */
static bool
is_off_everywhere(const struct ngx_file *file, const struct ngx_item *item)
{
	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *server = &file->stream->children[i];

		if (ngx_is(server, "server") && server->is_block &&
		    !ngx_find(server, item->words.word[0]) &&
		    !is_off(file, server, item))
			return false;
	}
	return true;
}

/* Returns whether the block gives a variable its value, which nothing has
 * asked for. */
static bool
is_unused(const struct ngx_item *item)
{
	return item->words.n > 1 &&
	       (ngx_is(item, "map") || ngx_is(item, "geo") ||
	           ngx_is(item, "split_clients")) &&
	       item->words.read && !item->words.read[1];
}

void
ngx_mark_unused(const struct ngx_file *file)
{
	for (size_t i = 0; i < file->stream->n; i++) {
		const struct ngx_item *item = &file->stream->children[i];

		if (item->words.n == 0)
			continue;
		if (ngx_is(item, "limit_conn_zone"))
			(void)ngx_word(item, *ngx_word(item, 1) ? 2 : 1);
		if (is_unused(item) ||
		    (!item->is_block && ngx_is_setting(item) &&
		        is_off_everywhere(file, item)))
			mark(item);
		for (size_t j = 0; ngx_is(item, "server") && j < item->n; j++)
			if (item->children[j].words.n > 0 &&
			    is_off(file, item, &item->children[j]))
				mark(&item->children[j]);
	}
}
