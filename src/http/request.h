/* SPDX-License-Identifier: MIT
 * A request of the HTTP port, from its head to the last part of its page: what
 * libmicrohttpd calls.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <microhttpd.h>

#include "stats/answer.h"
#include "http/connections.h"

/* What a page is made of, and who asks. */
struct http_site {
	struct command_env env; /* nobody's: pages change nothing */
	struct http_connections guests;
	bool loopback; /* only this host can connect */
};

/* MHD_AccessHandlerCallback; arg is the site. */
enum MHD_Result http_on_request(void *arg, struct MHD_Connection *connection,
    const char *url, const char *method, const char *version,
    const char *upload_data, size_t *upload_data_size, void **request);

/* MHD_RequestCompletedCallback: its last bytes are the kernel's, or it was
 * broken off. */
void http_on_completed(void *arg, struct MHD_Connection *connection,
    void **request, enum MHD_RequestTerminationCode code);

#endif
