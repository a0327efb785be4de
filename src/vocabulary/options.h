/* SPDX-License-Identifier: MIT
 * The options of HAProxy's `server` and `bind` lines and of nginx's `server`
 * and `listen`: what each takes, the option of lfproxy, and the reason where
 * there is none.  From a row come a server that `add server` describes in
 * HAProxy's words, the import, and the advice for an unknown option.
 */
#ifndef VOCABULARY_OPTIONS_H
#define VOCABULARY_OPTIONS_H

#include "vocabulary/loss.h"

/* The word behind the option. */
enum takes {
	TAKES_NOTHING,
	TAKES_NUMBER,
	TAKES_TIME,
	TAKES_TEXT,
	TAKES_ONE, /* its only value, see `one` */
};

/* The part of the option in a server that is added by a command. */
enum dynamic {
	DYNAMIC_UNKNOWN, /* not HAProxy's, or there is code for it alone */
	DYNAMIC_TAKEN,   /* translated into `key` */
	DYNAMIC_NEVER,   /* HAProxy accepts it in its file only */
	DYNAMIC_REFUSED, /* see `advice` */
	DYNAMIC_IGNORED, /* without it sessions are the same, see `reason` */
};

struct option_words {
	const char *words; /* alternatives, as in match.h */
	enum takes takes;
	enum dynamic dynamic;
	const char *key;    /* lfproxy's option, or NULL */
	const char *value;  /* its value; "": none; NULL: what is taken */
	const char *one;    /* TAKES_ONE */
	enum loss loss;     /* by its absence */
	const char *reason; /* why the import leaves it out; or NULL */
	const char *advice; /* to be put behind a semicolon, or NULL */
};

/* Return the row of the option, or NULL. */
const struct option_words *server_option_find(const char *option);
const struct option_words *listen_option_find(const char *option);

#endif
