/* SPDX-License-Identifier: MIT
 * Passive health on the control thread: acts on what data threads noticed about
 * servers, and readmits ejected servers when their time is over
 * (model/passive.h).
 */
#ifndef CONTROL_SERVER_NOTICES_H
#define CONTROL_SERVER_NOTICES_H

struct control;

/* Runs on the control thread, before pool threads start. */
void server_notices_watch(struct control *control);

/* Acts on all notices and readmits servers whose time is over.  Runs on the
 * control thread, also after each change of the model: servers that the former
 * model did not have may have notices. */
void server_notices_review(struct control *control);

#endif
