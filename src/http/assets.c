/* SPDX-License-Identifier: MIT
 * See assets.h.  The assembler includes the files; the Makefile has this object
 * depend on them.
 */
#include "http/assets.h"

#define INCBIN(file) ".incbin \"src/http/page/" file "\"\n"
#define ASSET(name, files)                                                     \
	__asm__(".pushsection .rodata\n"                                       \
	        ".global " #name "\n"                                          \
	        ".type " #name ", %object\n" #name ":\n" files ".byte 0\n"     \
	        ".size " #name ", . - " #name "\n"                             \
	        ".popsection\n")

ASSET(asset_page_html, INCBIN("page.html"));
ASSET(asset_page_css, INCBIN("page.css"));
/* In the order in which they use each other's constants. */
ASSET(asset_page_js,
    INCBIN("base.js") INCBIN("columns.js") INCBIN("overview.js")
        INCBIN("servers.js") INCBIN("actions.js") INCBIN("records.js")
            INCBIN("page.js"));
