/* SPDX-License-Identifier: MIT
 * Settings of sources that are read by HTTP: the value and the options of
 * `servers = NAME MAX etcd=URL ...` and `consul=URL`.
 */
#ifndef RESOLVE_DISCOVERY_SETTINGS_H
#define RESOLVE_DISCOVERY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* The timeout of settings whose timeout_ms is 0. */
#define DISCOVERY_TIMEOUT_MS 5000u

/* Plain values; texts are borrowed, and NULL where the option is not given.
 * discovery_etcd_new and discovery_consul_new copy what they need. */
struct discovery_settings {
	/* The URL, in the form of discovery_target.h. */
	const char *url;
	/* Consul: the ACL token.  etcd: a token for the Authorization header,
	 * or NAME:PASSWORD to log in with. */
	const char *token;
	/* For https: the file or directory of the authorities' certificates;
	 * NULL: those of the system. */
	const char *ca;
	/* For https: the client certificate and its key, PEM files; key NULL:
	 * the key is in cert. */
	const char *cert, *key;
	/* For https: a CN may have the endpoint's name, see server_name.h. */
	bool common_name;
	/* How long a connect and an answer may take; 0: DISCOVERY_TIMEOUT_MS.
	 */
	uint64_t timeout_ms;
};

#endif
