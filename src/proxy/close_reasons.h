/* SPDX-License-Identifier: MIT
 * Why a session ends: every reason once.
 *
 * X(identifier, code, who, text): the two letters are HAProxy's termination
 * state (its management guide, "Session state at disconnection"); who is the
 * side whose error counters it adds to.
 */
#ifndef PROXY_CLOSE_REASONS_H
#define PROXY_CLOSE_REASONS_H

enum close_blame { BLAME_NOBODY, BLAME_CLIENT, BLAME_SERVER, BLAME_US };

#define CLOSE_REASONS_TABLE(X)                                                 \
	X(CLOSE_DONE, "--", BLAME_NOBODY, "both sides have finished")          \
	X(CLOSE_CLIENT_GONE, "CC", BLAME_CLIENT,                               \
	    "the client left before a server was connected")                   \
	X(CLOSE_CLIENT_RESET, "CD", BLAME_CLIENT, "the client broke off")      \
	X(CLOSE_CLIENT_TIMEOUT, "cD", BLAME_CLIENT,                            \
	    "the client was silent for timeout_client")                        \
	X(CLOSE_NO_SERVER, "SC", BLAME_SERVER, "no server is usable")          \
	X(CLOSE_CONNECT_FAILED, "SC", BLAME_SERVER,                            \
	    "no server accepted the connection")                               \
	X(CLOSE_CONNECT_TIMEOUT, "sC", BLAME_SERVER,                           \
	    "the last server did not answer for timeout_connect")              \
	X(CLOSE_SERVER_RESET, "SD", BLAME_SERVER, "the server broke off")      \
	X(CLOSE_SERVER_TIMEOUT, "sD", BLAME_SERVER,                            \
	    "the server was silent for timeout_server")                        \
	X(CLOSE_NO_RESOURCE_CONNECT, "RC", BLAME_US,                           \
	    "no memory, descriptor or port was left to connect")               \
	X(CLOSE_NO_RESOURCE_DATA, "RD", BLAME_US,                              \
	    "no memory was left to keep data")                                 \
	X(CLOSE_KILLED_CONNECT, "KC", BLAME_NOBODY,                            \
	    "ended by the operator while connecting")                          \
	X(CLOSE_KILLED_DATA, "KD", BLAME_NOBODY, "ended by the operator")

enum close_reason {
#define X(id, code, blame, text) id,
	CLOSE_REASONS_TABLE(X)
#undef X
	    CLOSE_REASONS
};

const char *close_reason_code(enum close_reason reason);
const char *close_reason_text(enum close_reason reason);
enum close_blame close_reason_blame(enum close_reason reason);

#endif
