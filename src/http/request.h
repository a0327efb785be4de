/* SPDX-License-Identifier: MIT
 * The callbacks of libmicrohttpd for requests of the HTTP port.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <microhttpd.h>

#include "stats/answer.h"
#include "http/connections.h"
#include "http/live.h"

/* The argument of the callbacks. */
struct http_site {
	const struct command_env *env;
	struct http_connections connections;
	struct live live;
	bool loopback; /* bound to a loopback address */
};

/* The MHD_AccessHandlerCallback: answers a request.  arg is the site. */
enum MHD_Result http_on_request(void *arg, struct MHD_Connection *connection,
    const char *url, const char *method, const char *version,
    const char *upload_data, size_t *upload_data_size, void **request);

/* The MHD_RequestCompletedCallback: the answer was sent, or the connection
 * broke. */
void http_on_completed(void *arg, struct MHD_Connection *connection,
    void **request, enum MHD_RequestTerminationCode code);

#endif
