/* SPDX-License-Identifier: MIT
 * The access log: a line for each session, in HAProxy's tcplog format.
 *
 *   client_ip:client_port [date] frontend backend/server Tw/Tc/Tt bytes
 *   termination actconn/feconn/beconn/srv_conn/retries srv_queue/backend_queue
 *
 * (HAProxy's configuration manual, "TCP log format".)
 */
#ifndef PROXY_ACCESSLOG_H
#define PROXY_ACCESSLOG_H

#include "proxy/session.h"

/* The owner, before the session is given up.  Copies what it needs and does not
 * wait: the log's writer makes the line. */
void accesslog_write(const struct session *session, enum close_reason reason,
    struct pool_thread *self);

#endif
