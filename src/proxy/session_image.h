/* SPDX-License-Identifier: MIT
 * The image of a session: one process sends it to another process, which goes
 * on with the session.
 *
 *   field := tag (32 bits), size (32 bits), bytes
 *   image := numbers and texts, as fields; then pending data
 *
 * A number that is 0 is not sent, and a number that is not sent is 0.  A
 * receiver skips fields whose tags it does not know: a new field must be one
 * that an older receiver can do without, or follow a word of HANDOVER_READY.
 * Tags are never used again.  Both processes are on one host: numbers are in
 * its byte order, and times are those of its clocks.
 */
#ifndef PROXY_SESSION_IMAGE_H
#define PROXY_SESSION_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "net/addr.h"
#include "net/tls_hello.h"
#include "proxy/pending.h"

/* X(tag, name, what it is).  _C: of the client's side, _S: of the server's. */
#define IMAGE_NUMBERS_TABLE(X)                                                 \
	X(1, PHASE, "enum image_phase")                                        \
	X(2, FRONTEND, "its number, see successor.h")                          \
	X(3, ROUTE, "its number; 0: no backend yet")                           \
	X(4, WANTED, "the number of its route before any fallback")            \
	X(5, SERVER, "its number; 0: none")                                    \
	X(6, ACCEPTED_MS, "clock_now_ms")                                      \
	X(7, ACCEPTED_WALL_US, "clock_wall_us")                                \
	X(8, CONNECTING_MS, "clock_now_ms")                                    \
	X(9, CONNECTED_MS, "clock_now_ms")                                     \
	X(10, HOLD_MS, "for how long it is still held")                        \
	X(11, FLAGS, "IMAGE_ bits")                                            \
	X(12, CLOSER, "enum closer")                                           \
	X(13, TRIES, "connects so far")                                        \
	X(14, POSITION, "in the queue, when it came there")                    \
	X(15, SOURCE_PORT, "out of a range")                                   \
	X(16, SERVER_PORT, "of the last connect, where it is mapped")          \
	X(17, SIDE_C, "IMAGE_SIDE_ bits")                                      \
	X(18, SIDE_S, "IMAGE_SIDE_ bits")                                      \
	X(19, END_C, "END_ bits")                                              \
	X(20, END_S, "END_ bits")                                              \
	X(21, ACTIVE_C, "clock_now_ms")                                        \
	X(22, ACTIVE_S, "clock_now_ms")                                        \
	X(23, RECEIVED_C, "bytes")                                             \
	X(24, RECEIVED_S, "bytes")                                             \
	X(25, PIPED_C, "bytes in a pipe, to the client")                       \
	X(26, PIPED_S, "bytes in a pipe, to the server")                       \
	X(27, STEPS, "INSPECT_ bits still to come")                            \
	X(28, LISTEN, "the number of the listen, if it is inspected")          \
	X(29, LOW_WATER, "SO_RCVLOWAT of the client's socket")                 \
	X(30, AUTHORITY, "length of the name from a PROXY header")             \
	X(31, HEADER_MS, "clock_now_ms, when the header was complete")         \
	X(32, PROTOCOLS, "see inspection.protocols")                           \
	X(33, NUMBER, "see session_id; 0: an older sender does not tell it")   \
	X(34, LEFT_NS, "clock_now_ns, when it was sent")                       \
	X(35, PAID_NS_C, "clock_now_ns, see pacing_paid_ns")                   \
	X(36, PAID_NS_S, "clock_now_ns")                                       \
	X(37, QUEUED_MS, "for how long it has waited in the queue")            \
	X(38, HELD_MS, "for how long it is held, or was, in all")

enum image_number {
#define X(tag, name, what) IMAGE_##name,
	IMAGE_NUMBERS_TABLE(X)
#undef X
	    IMAGE_NUMBERS
};

/* Values of PHASE; they never change. */
enum image_phase {
	IMAGE_WAITS = 1,  /* has no server; the client is not inspected */
	IMAGE_INSPECTS,   /* its first bytes are needed */
	IMAGE_RELAYS,     /* both sides are connected */
	IMAGE_CLIENT_EOF, /* likewise; see enum session_state */
	IMAGE_SERVER_EOF,
	IMAGE_FLUSHES,
};

/* The bits of FLAGS. */
#define IMAGE_REDISPATCHED 0x001u
#define IMAGE_ASKED        0x002u /* as in struct session */
#define IMAGE_SPOKE        0x004u
#define IMAGE_WAS_RESET    0x008u
#define IMAGE_DELAYED      0x010u /* the gate's answer was a delay */
#define IMAGE_INSPECTED    0x020u /* the session has a struct inspection */
#define IMAGE_ENDED        0x040u /* inspection.ended; likewise those below */
#define IMAGE_INSPECT_TLS  0x080u
#define IMAGE_ASKED_TLS    0x100u
#define IMAGE_ASKED_GSS    0x200u
#define IMAGE_FIRST_SPOKE  0x400u

/* The bits of SIDE_C and SIDE_S. */
#define IMAGE_SIDE_TCP      0x1u
#define IMAGE_SIDE_URGENT   0x2u
#define IMAGE_SIDE_SPLICING 0x4u
#define IMAGE_SIDE_WROTE    0x8u

/* Descriptors come in this order: the client's, the server's, those of the pipe
 * to the client, those of the pipe to the server; a pipe's read end before its
 * write end. */
#define IMAGE_FDS_MAX 6

struct session_image {
	uint64_t n[IMAGE_NUMBERS];
	struct endpoint client;              /* session.client */
	struct endpoint source, destination; /* a header's; family 0: none */
	char name[TLS_NAME_MAX + 1];         /* see inspect_name */
	/* Pending data of a side that are not in a pipe; borrowed. */
	const uint8_t *pending[2];
	uint32_t pending_size[2]; /* 0: none */
};

/* The room for the fields before the pending data. */
#define IMAGE_FIELDS_MAX                                                       \
	(IMAGE_NUMBERS * 16 + 3 * (8 + sizeof(struct endpoint)) + 8 +          \
	    TLS_NAME_MAX + 2 * 8)
#define IMAGE_PARTS_MAX 4

/* Writes the fields into a buffer, and sets the parts of the message, which are
 * pieces of that buffer and the pending data.  Returns the number of parts. */
size_t session_image_encode(const struct session_image *image,
    uint8_t fields[IMAGE_FIELDS_MAX], struct iovec parts[IMAGE_PARTS_MAX]);

/* Reads an image; its pending data stay in bytes.  Returns false with err set
 * if the bytes are not an image of a session.  Numbers that were read are
 * within their bounds and fit together: the image has fds_n descriptors, and a
 * phase that its sides and its server allow. */
bool session_image_decode(const uint8_t *bytes, size_t size, size_t fds_n,
    struct session_image *ret_image, struct err *err) MUST_CHECK;

/* Returns how many descriptors the image has. */
size_t session_image_fds(const struct session_image *image);

#endif
