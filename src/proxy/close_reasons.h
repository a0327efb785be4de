/* SPDX-License-Identifier: MIT
 * Why a session ends: every reason once.
 *
 * X(identifier, code, blame, text): the code is HAProxy's termination state
 * (its management guide, "Session state at disconnection"); blame is the side
 * whose error counters the session adds to.
 */
#ifndef PROXY_CLOSE_REASONS_H
#define PROXY_CLOSE_REASONS_H

enum close_blame { BLAME_NOBODY, BLAME_CLIENT, BLAME_SERVER, BLAME_US };

#define CLOSE_REASONS_TABLE(X)                                                 \
	X(DONE, "--", NOBODY, "both sides have finished")                      \
	X(CLIENT_GONE, "CC", CLIENT,                                           \
	    "the client left before a server was connected")                   \
	X(CLIENT_GONE_HELLO, "CR", CLIENT,                                     \
	    "the client left before its first bytes were complete")            \
	X(HELLO_TIMEOUT, "cR", CLIENT,                                         \
	    "no complete TLS hello came within timeout_hello")                 \
	X(FIRST_BYTE_HELLO, "cR", CLIENT,                                      \
	    "the client sent nothing for timeout_first_byte")                  \
	X(FIRST_BYTE_QUEUED, "cQ", CLIENT,                                     \
	    "the client sent nothing for timeout_first_byte, while queued")    \
	X(FIRST_BYTE_CONNECT, "cC", CLIENT,                                    \
	    "the client sent nothing for timeout_first_byte, while "           \
	    "connecting")                                                      \
	X(FIRST_BYTE_DATA, "cD", CLIENT,                                       \
	    "the client, once connected, sent nothing for timeout_first_byte") \
	X(PROXY_GONE, "CR", CLIENT,                                            \
	    "the peer left before its PROXY header was complete")              \
	X(PROXY_TIMEOUT, "cR", CLIENT,                                         \
	    "no complete PROXY header came within timeout_hello")              \
	X(PROXY_WRONG, "PR", CLIENT,                                           \
	    "the first bytes are not a valid PROXY header")                    \
	X(STARTTLS_WRONG, "PR", CLIENT,                                        \
	    "the client's request for TLS, or what followed it, is not "       \
	    "valid")                                                           \
	X(HANDSHAKE_FAILED, "PR", CLIENT,                                      \
	    "the TLS handshake with the client failed")                        \
	X(HANDSHAKE_TIMEOUT, "cR", CLIENT,                                     \
	    "the TLS handshake with the client took longer than "              \
	    "timeout_handshake")                                               \
	X(DENIED, "PR", NOBODY,                                                \
	    "no rule matches, and the frontend has no other backend")          \
	X(ACCESS_DENIED, "PR", NOBODY,                                         \
	    "a deny rule of the frontend matches the client")                  \
	X(ACCESS_TARPIT, "PT", NOBODY,                                         \
	    "a deny rule matches the client, which was held until now")        \
	X(LIMIT_SESSIONS, "PL", NOBODY,                                        \
	    "the client has as many sessions as a limit allows")               \
	X(LIMIT_RATE, "PL", NOBODY,                                            \
	    "the client connects more often than a limit allows")              \
	X(LIMIT_BYTES, "PL", NOBODY,                                           \
	    "the client has used more bytes than a limit allows")              \
	X(LIMIT_TARPIT, "PT", NOBODY,                                          \
	    "the client is beyond a limit, and was held until now")            \
	X(EVICTED, "RR", CLIENT,                                               \
	    "the client did not go on for 1 s, and its place was needed")      \
	X(CLIENT_GONE_QUEUED, "CQ", CLIENT,                                    \
	    "the client left before a server had room")                        \
	X(CLIENT_RESET, "CD", CLIENT, "the client reset the connection")       \
	X(CLIENT_TIMEOUT, "cD", CLIENT,                                        \
	    "the client was silent for timeout_client")                        \
	X(NO_SERVER, "SC", SERVER, "no server is usable")                      \
	X(QUEUE_FULL, "SQ", SERVER,                                            \
	    "no server had room and no more sessions may be queued")           \
	X(QUEUE_TIMEOUT, "sQ", SERVER,                                         \
	    "no server was usable, or had room, for timeout_queue")            \
	X(CONNECT_FAILED, "SC", SERVER, "no server accepted the connection")   \
	X(CONNECT_TIMEOUT, "sC", SERVER,                                       \
	    "the last server did not answer for timeout_connect")              \
	X(STARTTLS_REFUSED, "SC", SERVER,                                      \
	    "the last server did not answer the request for TLS with S")       \
	X(RETRY_BUDGET, "SC", SERVER,                                          \
	    "a connection failed and retry_budget was used up")                \
	X(SERVER_RESET, "SD", SERVER, "the server reset the connection")       \
	X(SERVER_TIMEOUT, "sD", SERVER,                                        \
	    "the server was silent for timeout_server")                        \
	X(MAX_AGE, "PD", NOBODY, "the session reached max_age")                \
	X(NO_RESOURCE_CONNECT, "RC", US,                                       \
	    "no memory, descriptor or port was left to connect")               \
	X(NO_RESOURCE_DATA, "RD", US, "no memory was left to keep data")       \
	X(NO_RESOURCE_HELLO, "RR", US,                                         \
	    "no memory was left to inspect the first bytes")                   \
	X(KILLED_HELLO, "KR", NOBODY,                                          \
	    "ended by the operator before its first bytes were complete")      \
	X(KILLED_CONNECT, "KC", NOBODY,                                        \
	    "ended by the operator while connecting")                          \
	X(KILLED_QUEUED, "KQ", NOBODY, "ended by the operator while queued")   \
	X(KILLED_DATA, "KD", NOBODY, "ended by the operator")                  \
	X(DRAINED, "KD", NOBODY,                                               \
	    "its server is drained, and the time for that was over")           \
	X(REBALANCED, "BD", NOBODY,                                            \
	    "its server had more than its share, and it was among the oldest") \
	X(SERVER_DOWN_CONNECT, "DC", NOBODY,                                   \
	    "its server went down while connecting")                           \
	X(SERVER_DOWN, "DD", NOBODY,                                           \
	    "its server went down, and on_down is close")                      \
	X(SERVER_UP_CONNECT, "UC", NOBODY,                                     \
	    "a server came up while it was connecting to a backup")            \
	X(SERVER_UP, "UD", NOBODY,                                             \
	    "a server came up, its own is a backup, on_up is close_backup")    \
	X(DRAIN_TIMEOUT, "KD", NOBODY,                                         \
	    "its server was removed timeout_drain ago")                        \
	X(IDLE_STOP, "KD", NOBODY,                                             \
	    "lfproxy stops, and it was idle for drain_idle_timeout")

enum close_reason {
#define X(id, code, blame, text) CLOSE_##id,
	CLOSE_REASONS_TABLE(X)
#undef X
	    CLOSE_REASONS
};

/* How far a session has got. */
enum close_phase {
	PHASE_HELLO,   /* the backend is not known yet */
	PHASE_QUEUED,  /* the session waits in the queue */
	PHASE_CONNECT, /* no server is connected yet */
	PHASE_DATA,    /* the server is connected */
	CLOSE_PHASES
};

/* X(cause, reason in PHASE_HELLO, _QUEUED, _CONNECT, _DATA).  Causes of a
 * server cannot occur in PHASE_HELLO; their reason there is that of
 * PHASE_CONNECT.  ONE(cause): the reason has the name of the cause, in every
 * phase. */
#define CLOSE_CAUSES_TABLE(X, ONE)                                             \
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
	    SERVER_UP)                                                         \
	ONE(DONE)                                                              \
	ONE(HELLO_TIMEOUT)                                                     \
	ONE(PROXY_GONE)                                                        \
	ONE(PROXY_TIMEOUT)                                                     \
	ONE(PROXY_WRONG)                                                       \
	ONE(STARTTLS_WRONG)                                                    \
	ONE(HANDSHAKE_FAILED)                                                  \
	ONE(HANDSHAKE_TIMEOUT)                                                 \
	ONE(DENIED)                                                            \
	ONE(ACCESS_DENIED)                                                     \
	ONE(ACCESS_TARPIT)                                                     \
	ONE(LIMIT_SESSIONS)                                                    \
	ONE(LIMIT_RATE)                                                        \
	ONE(LIMIT_BYTES)                                                       \
	ONE(LIMIT_TARPIT)                                                      \
	ONE(EVICTED)                                                           \
	ONE(NO_SERVER)                                                         \
	ONE(QUEUE_FULL)                                                        \
	ONE(CONNECT_FAILED)                                                    \
	ONE(STARTTLS_REFUSED)                                                  \
	ONE(RETRY_BUDGET)                                                      \
	ONE(CLIENT_TIMEOUT)                                                    \
	ONE(SERVER_RESET)                                                      \
	ONE(MAX_AGE)                                                           \
	ONE(REBALANCED)                                                        \
	ONE(DRAIN_TIMEOUT)                                                     \
	ONE(IDLE_STOP)

enum close_cause {
#define X(cause, hello, queued, connect, data) CAUSE_##cause,
#define ONE(cause)                             CAUSE_##cause,
	CLOSE_CAUSES_TABLE(X, ONE)
#undef ONE
#undef X
	    CLOSE_CAUSES
};

/* Returns the reason for a cause that occurs in the phase. */
enum close_reason close_reason_in(
    enum close_phase phase, enum close_cause cause);

#define CLOSE_NAME_SIZE 24

/* Writes the reason's name, its identifier in lower case: `connect_failed`.
 * Programs look for the name, so it never changes.  Returns out. */
const char *close_reason_name(
    enum close_reason reason, char out[CLOSE_NAME_SIZE]);

/* Returns the code of the access log, see CLOSE_REASONS_TABLE. */
const char *close_reason_code(enum close_reason reason);
/* Returns the reason in words. */
const char *close_reason_text(enum close_reason reason);
/* Returns which party caused the close. */
enum close_blame close_reason_blame(enum close_reason reason);
/* Returns "client", "server", "lfproxy" or, for BLAME_NOBODY, "rule": a rule, a
 * limit or an operator has ended the session. */
const char *close_blame_name(enum close_blame blame);

#endif
