/* report/draw.h - what every SVG shares: its frame, its styles in light and dark, and text that is escaped. */
#ifndef SITU_REPORT_DRAW_H
#define SITU_REPORT_DRAW_H

#include "base/text.h"
#include "problem/problem.h"

/* Classes k0 .. k7 are the colours, k8 "other", k9 transfers; t a title, s a line below it, r to the right, m the
 * middle, e small and to the right, x small; l a lane, g a line of an axis, b the lower bound and v its name, w a way
 * between boxes. */
enum { DRAW_COLOURS = 8 };

/* Begins a picture of that size in pixels, with its styles; the caller adds "</svg>". */
void draw_open(text_buffer *t, int width, double height);
/* Text of a file: markup is escaped, control characters and bytes that are no UTF-8 become '?'; at most 200 bytes. */
void draw_escaped(text_buffer *t, const char *text);
void draw_text(text_buffer *t, double x, double y, const char *class_name, const char *text);
/* The line below what a head says of bounds: "among plans that ...". */
void draw_scope(text_buffer *t, const situ_problem *problem, int32_t form);

#endif
