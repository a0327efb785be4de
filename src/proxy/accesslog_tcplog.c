/* SPDX-License-Identifier: MIT
 * The access log in HAProxy's words (its configuration manual, "TCP log
 * format"), with `option logasap` for sessions that go on:
 *
 *   client_ip:client_port [date] frontend backend/server Tw/Tc/[+]Tt [+]bytes
 *   termination actconn/feconn/beconn/srv_conn/[+]retries
 *   srv_queue/backend_queue
 */
#include "proxy/accesslog_line.h"

#include <stdio.h>
#include <string.h>

#include "base/time_text.h"

void
line_add_text(struct line *line, const char *text)
{
	/* The NULs of this one and of those that may follow have their room. */
	size_t used = line->texts_len + LINE_SNI + 1u;
	size_t room = used < LINE_TEXTS_SIZE ? LINE_TEXTS_SIZE - used : 0;
	size_t len = strnlen(text, room);

	memcpy(line->texts + line->texts_len, text, len);
	line->texts[line->texts_len + len] = '\0';
	line->texts_len = (uint16_t)(line->texts_len + len + 1);
}

const char *
line_text(const struct line *line, enum line_text which)
{
	const char *text = line->texts;

	while (which-- > 0)
		text += strlen(text) + 1;
	return text;
}

size_t
line_render_tcplog(const void *record, char *out, size_t size)
{
	const struct line *l = record;
	const char *frontend = line_text(l, LINE_FRONTEND);
	const char *backend = line_text(l, LINE_BACKEND);
	const char *server = line_text(l, LINE_SERVER);
	bool end = l->event == LINE_END;
	char date[TIME_TEXT_SIZE], host[INET6_ADDRSTRLEN];
	int n;

	time_text(TIME_HAPROXY, l->session.accepted_wall_us, 3, date);
	/* The queue is the backend's, a server has none of its own; and one
	 * that has got to no backend was the frontend's to the end. */
	n = snprintf(out, size,
	    "%s:%u [%s] %s %s/%s %lld/%lld/%s%lld %s%llu %s %u/%u/%u/%u/%s%u "
	    "0/%u\n",
	    endpoint_host(&l->session.client, host), l->session.client.port,
	    date, frontend, *backend ? backend : frontend,
	    *server ? server : "<NOSRV>", (long long)l->session.wait_ms,
	    (long long)l->session.connect_ms, end ? "" : "+",
	    (long long)l->session.total_ms, end ? "" : "+",
	    (unsigned long long)l->session.bytes_out,
	    end ? close_reason_code(l->session.reason) : "--", l->active,
	    l->frontend_active, l->backend_active, l->server_active,
	    l->session.redispatched ? "+" : "", l->session.retries,
	    l->session.queue_position);
	return n < (int)size ? (size_t)n : size;
}
