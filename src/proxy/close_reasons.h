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
	X(CLOSE_CLIENT_GONE_HELLO, "CR", BLAME_CLIENT,                         \
	    "the client left before it had said what it wants")                \
	X(CLOSE_HELLO_TIMEOUT, "cR", BLAME_CLIENT,                             \
	    "no whole TLS hello came within timeout_hello")                    \
	X(CLOSE_FIRST_BYTE_HELLO, "cR", BLAME_CLIENT,                          \
	    "the client sent nothing for timeout_first_byte")                  \
	X(CLOSE_FIRST_BYTE_QUEUED, "cQ", BLAME_CLIENT,                         \
	    "the client sent nothing for timeout_first_byte, while queued")    \
	X(CLOSE_FIRST_BYTE_CONNECT, "cC", BLAME_CLIENT,                        \
	    "the client sent nothing for timeout_first_byte, while "           \
	    "connecting")                                                      \
	X(CLOSE_FIRST_BYTE_DATA, "cD", BLAME_CLIENT,                           \
	    "the client, once connected, sent nothing for timeout_first_byte") \
	X(CLOSE_PROXY_GONE, "CR", BLAME_CLIENT,                                \
	    "the peer left before its PROXY header was complete")              \
	X(CLOSE_PROXY_TIMEOUT, "cR", BLAME_CLIENT,                             \
	    "no whole PROXY header came within timeout_hello")                 \
	X(CLOSE_PROXY_WRONG, "PR", BLAME_CLIENT,                               \
	    "it did not begin with a good PROXY header")                       \
	X(CLOSE_DENIED, "PR", BLAME_NOBODY,                                    \
	    "no sni rule is for it, and the frontend has no other backend")    \
	X(CLOSE_CLIENT_GONE_QUEUED, "CQ", BLAME_CLIENT,                        \
	    "the client left before a server had room")                        \
	X(CLOSE_CLIENT_RESET, "CD", BLAME_CLIENT, "the client broke off")      \
	X(CLOSE_CLIENT_TIMEOUT, "cD", BLAME_CLIENT,                            \
	    "the client was silent for timeout_client")                        \
	X(CLOSE_NO_SERVER, "SC", BLAME_SERVER, "no server is usable")          \
	X(CLOSE_QUEUE_FULL, "SQ", BLAME_SERVER,                                \
	    "no server had room and no more sessions may be queued")           \
	X(CLOSE_QUEUE_TIMEOUT, "sQ", BLAME_SERVER,                             \
	    "no server was usable, or had room, for timeout_queue")            \
	X(CLOSE_CONNECT_FAILED, "SC", BLAME_SERVER,                            \
	    "no server accepted the connection")                               \
	X(CLOSE_CONNECT_TIMEOUT, "sC", BLAME_SERVER,                           \
	    "the last server did not answer for timeout_connect")              \
	X(CLOSE_RETRY_BUDGET, "SC", BLAME_SERVER,                              \
	    "a connection failed and retry_budget was used up")                \
	X(CLOSE_SERVER_RESET, "SD", BLAME_SERVER, "the server broke off")      \
	X(CLOSE_SERVER_TIMEOUT, "sD", BLAME_SERVER,                            \
	    "the server was silent for timeout_server")                        \
	X(CLOSE_MAX_AGE, "PD", BLAME_NOBODY, "the session reached max_age")    \
	X(CLOSE_NO_RESOURCE_CONNECT, "RC", BLAME_US,                           \
	    "no memory, descriptor or port was left to connect")               \
	X(CLOSE_NO_RESOURCE_DATA, "RD", BLAME_US,                              \
	    "no memory was left to keep data")                                 \
	X(CLOSE_NO_RESOURCE_HELLO, "RR", BLAME_US,                             \
	    "no memory was left to look at what it said")                      \
	X(CLOSE_KILLED_HELLO, "KR", BLAME_NOBODY,                              \
	    "ended by the operator before it had said what it wants")          \
	X(CLOSE_KILLED_CONNECT, "KC", BLAME_NOBODY,                            \
	    "ended by the operator while connecting")                          \
	X(CLOSE_KILLED_QUEUED, "KQ", BLAME_NOBODY,                             \
	    "ended by the operator while queued")                              \
	X(CLOSE_KILLED_DATA, "KD", BLAME_NOBODY, "ended by the operator")      \
	X(CLOSE_DRAINED, "KD", BLAME_NOBODY,                                   \
	    "its server is drained, and the time for that was over")           \
	X(CLOSE_REBALANCED, "BD", BLAME_NOBODY,                                \
	    "its server had more than its share, and it was among the oldest") \
	X(CLOSE_SERVER_DOWN_CONNECT, "DC", BLAME_NOBODY,                       \
	    "its server went down while connecting")                           \
	X(CLOSE_SERVER_DOWN, "DD", BLAME_NOBODY,                               \
	    "its server went down, and on_down is close")                      \
	X(CLOSE_SERVER_UP_CONNECT, "UC", BLAME_NOBODY,                         \
	    "a server came up while it was connecting to a backup")            \
	X(CLOSE_SERVER_UP, "UD", BLAME_NOBODY,                                 \
	    "a server came up, its own is a backup, on_up is close_backup")    \
	X(CLOSE_DRAIN_TIMEOUT, "KD", BLAME_NOBODY,                             \
	    "its server was removed timeout_drain ago")                        \
	X(CLOSE_IDLE_STOP, "KD", BLAME_NOBODY,                                 \
	    "lfproxy stops, and it was idle for drain_idle_timeout")

enum close_reason {
#define X(id, code, blame, text) id,
	CLOSE_REASONS_TABLE(X)
#undef X
	    CLOSE_REASONS
};

/* How far a session has got. */
enum close_phase {
	PHASE_HELLO,   /* its backend is not known yet */
	PHASE_QUEUED,  /* it waits in the queue */
	PHASE_CONNECT, /* it has no connected server yet */
	PHASE_DATA,    /* the server is connected */
	CLOSE_PHASES
};

/* X(cause, reason in PHASE_HELLO, _QUEUED, _CONNECT, _DATA): the reason for
 * causes that may end a session in several phases.  A server's causes cannot
 * occur in PHASE_HELLO, and have the reason of a connect there. */
#define CLOSE_CAUSES_TABLE(X)                                                  \
	X(CLIENT_GONE, CLIENT_GONE_HELLO, CLIENT_GONE_QUEUED, CLIENT_GONE,     \
	    CLIENT_RESET)                                                      \
	X(FIRST_BYTE_LATE, FIRST_BYTE_HELLO, FIRST_BYTE_QUEUED,                \
	    FIRST_BYTE_CONNECT, FIRST_BYTE_DATA)                               \
	X(KILLED, KILLED_HELLO, KILLED_QUEUED, KILLED_CONNECT, KILLED_DATA)    \
	X(NO_RESOURCE, NO_RESOURCE_HELLO, NO_RESOURCE_CONNECT,                 \
	    NO_RESOURCE_CONNECT, NO_RESOURCE_DATA)                             \
	X(SERVER_TIMEOUT, CONNECT_TIMEOUT, QUEUE_TIMEOUT, CONNECT_TIMEOUT,     \
	    SERVER_TIMEOUT)                                                    \
	X(SERVER_DRAINED, KILLED_CONNECT, KILLED_CONNECT, KILLED_CONNECT,      \
	    DRAINED)                                                           \
	X(SERVER_DOWN, SERVER_DOWN_CONNECT, SERVER_DOWN_CONNECT,               \
	    SERVER_DOWN_CONNECT, SERVER_DOWN)                                  \
	X(SERVER_UP, SERVER_UP_CONNECT, SERVER_UP_CONNECT, SERVER_UP_CONNECT,  \
	    SERVER_UP)

enum close_cause {
#define X(cause, hello, queued, connect, data) CAUSE_##cause,
	CLOSE_CAUSES_TABLE(X)
#undef X
	    CLOSE_CAUSES
};

/* Returns the reason for a cause that occurs in the phase. */
enum close_reason close_reason_in(
    enum close_phase phase, enum close_cause cause);

/* Returns the code of the access log, see CLOSE_REASONS_TABLE. */
const char *close_reason_code(enum close_reason reason);
/* Returns the reason in words. */
const char *close_reason_text(enum close_reason reason);
/* Returns which party caused the close. */
enum close_blame close_reason_blame(enum close_reason reason);

#endif
