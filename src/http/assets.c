/* SPDX-License-Identifier: MIT
 * See assets.h.  The assembler includes the files; the Makefile has this object
 * depend on them.
 */
#include "http/assets.h"

#define ASSET(name, file)                                                      \
	__asm__(".pushsection .rodata\n"                                       \
	        ".global " #name "\n"                                          \
	        ".type " #name ", %object\n" #name ":\n"                       \
	        ".incbin \"src/http/page/" file "\"\n"                         \
	        ".byte 0\n"                                                    \
	        ".size " #name ", . - " #name "\n"                             \
	        ".popsection\n")

ASSET(asset_page_html, "page.html");
ASSET(asset_page_css, "page.css");
ASSET(asset_page_js, "page.js");
