/* SPDX-License-Identifier: MIT
 * What the peers of a cell do, and what they have to see.
 */
#ifndef TOOLS_ENDS_PLAY_H
#define TOOLS_ENDS_PLAY_H

#include "tools/ends/cell.h"

/* Plays the cell against lfproxy, whose frontend listens on its port, and ends
 * the process: with TOOL_OK, or as cell_wrong does. */
_Noreturn void play_cell(struct cell *cell);

#endif
