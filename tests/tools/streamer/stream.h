/* SPDX-License-Identifier: MIT
 * A verified stream: its bytes, its protocol, and what can go wrong.
 *
 * Each byte is a function of seed and position, so both ends can check every
 * byte without keeping any.  A stream is one connection:
 *
 *	client                                server
 *	`LFS1 MODE UP DOWN SEED\n`   ->
 *	                             <-       `NAME\n`
 *	UP bytes                     ->  <-   DOWN bytes (echo: what came)
 *	end of its half              ->
 *	                             <-       `ok UP\n`, then the end
 *
 * In mode `first` the server ends its half after DOWN bytes, without the ok;
 * the client sends its last half of UP only after it has seen that end.
 *
 * With TLS the end of a half is close_notify, without a FIN; an end of the
 * connection that was not announced so is an error.
 *
 * All functions run on the one thread of the program.  None blocks.
 */
#ifndef TOOLS_STREAMER_STREAM_H
#define TOOLS_STREAMER_STREAM_H

#include "tools/tls_peer.h"
#include "tools/tool.h"

#define BUFFER    65536
#define LINE_SIZE 128
#define DOWN_SEED 0x5eed0000u

enum mode { MODE_BOTH, MODE_ECHO, MODE_FIRST, MODES };
extern const char *const mode_names[MODES];

/* READ_LINE: the server reads the header, the client the name.
 * READ_BYTES: the stream itself.  READ_TRAILER: the client reads the ok.
 * READ_END: nothing but the end may come.  READ_DONE: the end came. */
enum reading { READ_LINE, READ_BYTES, READ_TRAILER, READ_END, READ_DONE };

/* SEND_LINE: what is in out.  SEND_TRAILER: likewise, the last bytes.
 * SEND_DONE: this half is shut down. */
enum sending { SEND_LINE, SEND_BYTES, SEND_TRAILER, SEND_DONE };

struct stream {
	int fd;
	SSL *ssl; /* NULL: plain */
	unsigned id;
	uint32_t interest;
	enum mode mode;
	enum reading reading;
	enum sending sending;
	bool started; /* server: header read; client: always */
	bool corrupt; /* something came that should not */
	uint64_t rx_off, rx_total, rx_seed;
	uint64_t tx_off, tx_total, tx_seed;
	uint64_t tx_at_ms, rx_at_ms; /* pauses: not before */
	size_t line_len, out_len, out_sent, echo_len, echo_sent;
	char line[LINE_SIZE], out[LINE_SIZE], peer[64];
	unsigned char *echo; /* server, mode echo: BUFFER bytes */
};

/* The command line; streamer.c writes it. */
extern struct streamer_options {
	bool server;
	enum mode mode;
	const char *name, *allow_loss;
	uint64_t connections, repeat, duration_ms, up, down, seed, chunk,
	    pause_ms, rest_ms;
	bool secure;
	struct tls_wishes tls;
} opt;

/* Streams by how they ended, and the bytes of each direction. */
extern struct stream_sums {
	uint64_t ok, lost, unnamed, failed;
	uint64_t up, down;
} sum;

extern int epoll_fd;
extern SSL_CTX *context; /* with opt.secure */
extern uint64_t random_state;
/* 0: no stream reads.  Streams see a change at their next
 * stream_set_interest. */
extern volatile sig_atomic_t reading_allowed;

/* Returns a number below n, which is not 0. */
uint64_t random_below(uint64_t n);

/* Writes len bytes of the sequence of that seed to out, from offset on. */
void stream_generate(
    uint64_t seed, uint64_t offset, unsigned char *out, size_t len);

/* Adds a line to what is to be sent.  The lines that wait fit in
 * LINE_SIZE. */
void stream_put_line(struct stream *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins a stream, of which only the id is kept.  Takes ownership of fd, which
 * is non-blocking. */
void stream_open(struct stream *s, int fd);

/* Frees what the stream holds, but not s itself.  ok: it went as it should;
 * otherwise counts how it failed. */
void stream_close(struct stream *s, bool ok);

/* Receives and sends what the epoll events allow.  Returns false when the
 * stream is over: then it is closed and counted. */
bool stream_serve(struct stream *s, uint32_t events);

/* Waits for the events that the stream can use at present. */
void stream_set_interest(struct stream *s);

#endif
