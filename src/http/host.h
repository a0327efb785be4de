/* SPDX-License-Identifier: MIT
 * Checks the Host header of requests to the HTTP port against DNS rebinding.
 *
 * In that attack a web page makes a browser send requests to a port of the
 * browser's own host: the name of the page's host is changed to 127.0.0.1 after
 * the page was loaded, and the page may then read the answers.  Such a request
 * has the name of the page's host, so only names of this host are accepted.
 */
#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>

/* Returns whether a request with that Host header may be answered; header is
 * NULL if the request has none.  An IP address, `localhost` and the names of
 * this host are always accepted.  hosts are further names, separated by commas,
 * or `*` for all.  If hosts is NULL, every name is accepted unless the port is
 * bound to a loopback address. */
bool http_host_is_known(const char *header, const char *hosts, bool loopback);

#endif
