/* SPDX-License-Identifier: MIT
 * The spec of log targets. See spec.h.
 */
#ifndef MODEL_SPEC_LOG_H
#define MODEL_SPEC_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/log_sink.h"
#include "model/spec_place.h"
#include "net/addr.h"

enum log_format { LOG_TCPLOG, LOG_JSON, LOG_LOGFMT };
enum log_rfc { LOG_RFC3164, LOG_RFC5424 };

/* `log = file=/var/log/x format=json`: one target of the access log, or of
 * messages. */
struct log_spec {
	struct spec_place place;
	enum log_sink_kind kind;
	char *where;      /* as written: the path, the address, or NULL */
	struct addr addr; /* of the syslog daemon */
	bool tcp;         /* to that */
	char *host;      /* the daemon's name, and addr is AF_UNSPEC; or NULL */
	unsigned port;   /* with host */
	unsigned format; /* enum log_format or log_message_format */
	unsigned sample; /* one session in `sample` is logged */
	uint32_t mode;   /* of a file that is made */
	unsigned facility; /* syslog: 0 to 23 */
	enum log_rfc rfc;  /* syslog */
	char *tag;         /* syslog */
};

/* `log = off` makes a list of one LOG_SINK_OFF.  An empty list of a frontend
 * means that of [global]. */
struct log_list {
	struct log_spec *logs;
	size_t n;
};

/* Frees the elements; the list is empty then. */
void log_list_clear(struct log_list *list);

#endif
