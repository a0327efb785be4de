/* SPDX-License-Identifier: MIT
 * See screen.h.
 */
#include "ctl/top/screen.h"

#include <curses.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "base/printable.h"

#undef lines /* term.h has a macro for each capability */

#define HEAD_ROWS 2

static SCREEN *screen;
static size_t first_visible; /* index of the first line shown */

bool
top_screen_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

void
top_screen_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* Returns whether the terminal type is known and can move the cursor. */
static bool
terminal_is_usable(void)
{
	bool can_move;
	int rc;

	if (setupterm(NULL, STDOUT_FILENO, &rc) != OK)
		return false;
	can_move = tigetstr("cup") != NULL;
	del_curterm(cur_term);
	return can_move;
}

/* Uses newterm(3), which returns on failure, though it leaks memory then:
 * initscr(3) would end the program. */
bool
top_screen_begin(struct err *err)
{
	const char *term = getenv("TERM");

	if (terminal_is_usable())
		screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return err_set(err,
		    "the terminal type '%s' is unknown or cannot move its "
		    "cursor; set TERM, or print text: `lfproxyctl top | cat`",
		    term ? term : "");
	atexit(top_screen_end);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	return true;
}

unsigned
top_screen_width(void)
{
	if (COLS < TOP_WIDTH_MIN)
		return TOP_WIDTH_MIN;
	return COLS < TOP_WIDTH_MAX ? (unsigned)COLS : TOP_WIDTH_MAX;
}

unsigned
top_screen_page(void)
{
	return LINES > HEAD_ROWS + 2 ? (unsigned)LINES - HEAD_ROWS - 1 : 1;
}

/* Writes a row.  The whole row is reverse if attribute has A_REVERSE. */
static void
put_screen_row(int row, const char *text, attr_t attribute)
{
	char clean[TOP_LINE_SIZE];
	wchar_t wide[TOP_LINE_SIZE];
	size_t n;

	/* Names and messages come from the server, and may have any bytes. */
	printable_copy(clean, sizeof(clean), text, '?');
	n = mbstowcs(wide, clean, TOP_LINE_SIZE - 1);

	if (row < 0 || row >= LINES)
		return;
	attrset(attribute);
	move(row, 0);
	if (n == (size_t)-1)
		addnstr(clean, COLS);
	else
		addnwstr(wide, n < (size_t)COLS ? (int)n : COLS);
	if (attribute & A_REVERSE)
		for (int x = getcurx(stdscr); x > 0 && x < COLS; x++)
			mvaddch(row, x, ' ');
	attrset(A_NORMAL);
}

static void
draw_head(const struct top_data *data, const struct top_look *look,
    const char *trouble)
{
	char head[HEAD_ROWS][TOP_LINE_SIZE] = {"", ""};

	if (data->at_ns)
		top_view_head(data, look, head);
	if (trouble)
		snprintf(head[0], TOP_LINE_SIZE, "! NO ANSWER: %s", trouble);
	put_screen_row(0, head[0], trouble ? A_REVERSE | A_BOLD : A_BOLD);
	put_screen_row(1, head[1], A_NORMAL);
}

static attr_t
attribute_of(const struct top_line *line, bool selected)
{
	attr_t attribute = A_NORMAL;

	if (line->kind == TOP_TITLE)
		attribute |= A_UNDERLINE;
	if (line->kind == TOP_BACKEND || line->down)
		attribute |= A_BOLD;
	return selected ? attribute | A_REVERSE : attribute;
}

static void
draw_list(struct top_keys *keys)
{
	const struct top_lines *lines = keys->lines;
	size_t selected = top_selected(keys);
	size_t page = top_screen_page();

	if (lines->n <= page)
		first_visible = 0;
	else if (first_visible > lines->n - page)
		first_visible = lines->n - page;
	/* Scroll up to the first section's title if the selected line stays
	 * visible. */
	if (selected < first_visible)
		first_visible = selected < page ? 0 : selected;
	if (selected < lines->n && selected >= first_visible + page)
		first_visible = selected - page + 1;
	for (size_t i = 0; i < page && first_visible + i < lines->n; i++) {
		const struct top_line *line = &lines->lines[first_visible + i];

		put_screen_row(HEAD_ROWS + (int)i, line->text,
		    attribute_of(line, first_visible + i == selected));
	}
}

static void
draw_help(void)
{
	static const char *const text[] = {
	    "  up, down, k, j   select a line; page up, page down, home, end",
	    "  +  -             add or remove a thread of the selected pool, "
	    "or",
	    "                   of the pool of the selected frontend",
	    "  d                drain the selected server: no new sessions",
	    "  e                enable it again (ready)",
	    "  m                maintenance: no sessions",
	    "  w                set its weight",
	    "  c                show the clients with the most bytes, and back",
	    "  l  b             limit the bandwidth of the selected client for "
	    "10m;",
	    "                   ban it for 1h: it joins the list banned",
	    "  s                sort: as configured, by sessions, rate, bytes",
	    "  space            pause, continue",
	    "  h  ?             show this text",
	    "  q                quit",
	    "",
	    "  RATE, IN/S, OUT/S  sessions and bytes per second since the last",
	    "                   update; HISTORY shows past rates",
	    "  ROLES            a letter for each thread: L leading, "
	    "P processing,",
	    "                   . following or standing by; PROM/S and "
	    "WAKE/S:",
	    "                   promotions, and threads woken, per second",
	    "  !                down",
	    "",
	    "  Press any key to return.",
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		put_screen_row(HEAD_ROWS + (int)i, text[i], A_NORMAL);
}

static void
draw_bottom(const struct top_keys *keys)
{
	char line[TOP_LINE_SIZE];

	if (keys->mode == MODE_CONFIRM)
		snprintf(line, sizeof(line), "%s y/n", keys->question);
	else if (keys->mode == MODE_WEIGHT || keys->mode == MODE_RATE)
		snprintf(line, sizeof(line), "%s%s_  (Enter: set, Esc: cancel)",
		    keys->question, keys->input);
	else if (keys->message[0])
		snprintf(line, sizeof(line), "%s", keys->message);
	else
		snprintf(line, sizeof(line), "%s%s",
		    keys->paused ? "PAUSED  " : "",
		    keys->look.clients
		        ? "q quit  h help  c back  l limit bandwidth  b ban"
		        : "q quit  h help  +- pool  d drain  e enable  m maint "
		          " "
		          "w wgt  c clients  s sort");
	put_screen_row(LINES - 1, line, A_REVERSE);
}

void
top_screen_draw(struct top_keys *keys, const char *trouble)
{
	erase();
	draw_head(keys->data, &keys->look, trouble);
	if (keys->mode == MODE_HELP)
		draw_help();
	else
		draw_list(keys);
	draw_bottom(keys);
	refresh();
}

/* Waits with poll(2), because getch does not report a terminal that hung up. */
int
top_screen_key(int timeout_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	int key = getch();

	if (key == ERR) {
		(void)poll(&p, 1, timeout_ms);
		key = getch();
		if (key == ERR && (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
			return -1;
	}
	return key > 0 && key != KEY_RESIZE ? key : 0;
}
