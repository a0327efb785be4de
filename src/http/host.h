/* SPDX-License-Identifier: MIT
 * The Host of a request to the HTTP port.
 *
 * A web page can have a browser ask a port of the browser's own host: its
 * author lets the page's name stand for 127.0.0.1 after the page was loaded
 * (DNS rebinding), and the answer is then the page's to read.  Such a request
 * names the page's host, so names are only accepted if they are this host's.
 */
#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>

/* Whether that Host header, NULL if there was none, may be answered.  Always:
 * an IP address, `localhost` and the names of this host, since a foreign page
 * has none of these.  hosts are further names, with commas between, `*` for
 * all, or NULL: then all are accepted, but only known ones if the port is a
 * loopback one. */
bool http_host_is_known(const char *header, const char *hosts, bool loopback);

#endif
