/* SPDX-License-Identifier: MIT
 * The files of the status page (src/http/page), which are in the binary.
 */
#ifndef HTTP_ASSETS_H
#define HTTP_ASSETS_H

/* The text of each file, with a NUL at its end. */
extern const char asset_page_html[], asset_page_css[], asset_page_js[];

#endif
