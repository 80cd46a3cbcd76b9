/* report/draw.h - what every SVG shares: its frame, its styles in light and dark, and text that is escaped. */
#ifndef SITU_REPORT_DRAW_H
#define SITU_REPORT_DRAW_H

#include "base/text.h"
#include "plan/plan.h"

/* Classes k0 .. k7 are the colours, k8 "other", k9 transfers; t a title, s a line below it, r to the right, m the
 * middle, e small and to the right, x small; l a lane, g a line of an axis, b the lower bound and v its name, w a way
 * between boxes. */
enum { DRAW_OTHER = 8, DRAW_TRANSFER, DRAW_COLOURS };
/* "#rrggbb", of pictures and pages. */
extern const char *const draw_colours[DRAW_COLOURS];
/* Kinds of operators: those that take most time get a colour each, the others DRAW_OTHER. In the arena; false without
 * memory. */
bool draw_kind_colours(int32_t **colour, const situ_plan *plan, arena *a);
/* Devices: those in use get a colour in turn, the others DRAW_OTHER. colour[device]. */
void draw_device_colours(int32_t *colour, const situ_plan *plan);

/* Begins a picture of that size in pixels, with its styles, its title at y, and a line below; the caller adds "</svg>".
 */
void draw_open(text_buffer *t, int width, double height, const situ_problem *problem, double y, const char *line);
/* Text of a file: markup is escaped, control characters and bytes that are no UTF-8 become '?'; at most 200 bytes. */
void draw_escaped(text_buffer *t, const char *text);
void draw_text(text_buffer *t, double x, double y, const char *class_name, const char *text);
/* The line below what a head says of bounds: "among plans that ...". */
void draw_scope(text_buffer *t, const situ_problem *problem, int32_t form);

#endif
