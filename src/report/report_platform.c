/* A platform: what is in it, and where each figure comes from. */
#include <stdio.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/platform_sources.h"
#include "report/report.h"

static void add_devices(row_list *out, const void *platform) {
  const situ_platform *p = platform;
  for (int32_t k = 0; k < p->n_devices; k++) {
    const situ_device *d = &p->devices[k];
    bool shares = d->shares_memory_with >= 0;
    char of[TEXT_UNIT_BYTES * 2];
    snprintf(of, sizeof of, "of %.40s", shares ? p->devices[d->shares_memory_with].name : "");
    ROW(out, {NULL, AS_NAME, "device", .text = d->name}, {NULL, AS_TEXT, "class", .text = d->class_name, .max = 24},
        {NULL, AS_BYTES, "memory", .n = d->memory_bytes, .shown = shares ? of : NULL},
        {NULL, AS_RATE, "bandwidth", .x = d->memory_bytes_per_s},
        {NULL, AS_AMOUNT, "F32/s", .x = d->peak_flops[SITU_DTYPE_F32]},
        {NULL, AS_AMOUNT, "F16/s", .x = d->peak_flops[SITU_DTYPE_F16]},
        {NULL, AS_AMOUNT, "I8/s", .x = d->peak_flops[SITU_DTYPE_I8]},
        {NULL, AS_ROUGH_TIME, "launch", .n = d->launch_ns},
        {NULL, AS_INDEX, "server", .n = d->server, .skip = p->n_servers == 1});
  }
}

static bool same_stated(const char **stated, int32_t a, int32_t b) {
  if (!stated || !stated[a] || !stated[b]) return !stated || stated[a] == stated[b];
  return strcmp(stated[a], stated[b]) == 0;
}

/* Whether two links differ in their ends alone. */
static bool same_link(const situ_platform *p, int32_t a, int32_t b) {
  const situ_link *x = &p->links[a], *y = &p->links[b];
  return x->latency_ns == y->latency_ns && x->bytes_per_s == y->bytes_per_s && same_stated(p->link_source, a, b);
}

/* Whether two devices differ in name and place alone. */
static bool same_device(const situ_platform *p, int32_t a, int32_t b) {
  return p->class_of[a] == p->class_of[b] && p->devices[a].memory_bytes == p->devices[b].memory_bytes &&
         same_stated(p->device_source, a, b);
}

/* The number of links like this one; 0 if an earlier one is. */
static int32_t count_alike(const situ_platform *p, int32_t l) {
  int32_t n = 0;
  for (int32_t k = 0; k < p->n_links; k++) {
    if (!same_link(p, k, l)) continue;
    if (k < l) return 0;
    n++;
  }
  return n;
}

/* Links with equal figures are one row. */
enum { MAX_SHOWN_LINKS = 400 };
static void add_links(row_list *out, const void *platform) {
  const situ_platform *p = platform;
  for (int32_t l = 0; l < p->n_links && l < MAX_SHOWN_LINKS; l++) {
    const situ_link *link = &p->links[l];
    int32_t n = count_alike(p, l);
    char more[TEXT_UNIT_BYTES] = "";
    if (n == 0) continue;
    if (n > 1) snprintf(more, sizeof more, "and %d more", (int)n - 1);
    ROW(out, {NULL, AS_NAME, "link from", .text = p->devices[link->from_device].name},
        {NULL, AS_TEXT, "to", .text = p->devices[link->to_device].name}, {NULL, AS_TEXT, "", .text = more},
        {NULL, AS_ROUGH_TIME, "latency", .n = link->latency_ns}, {NULL, AS_RATE, "rate", .x = link->bytes_per_s});
  }
}

/* "gpu0 and 3 more", the devices like this one; false where an earlier one is. */
static bool name_alike(char into[PLATFORM_SOURCE_BYTES], const situ_platform *p, int32_t at) {
  int32_t n = 0;
  for (int32_t k = 0; k < p->n_devices; k++) {
    if (!same_device(p, k, at)) continue;
    if (k < at) return false;
    n++;
  }
  int used = snprintf(into, PLATFORM_SOURCE_BYTES, "%.100s", p->devices[at].name);
  if (n > 1) snprintf(into + used, PLATFORM_SOURCE_BYTES - (size_t)used, " and %d more", (int)n - 1);
  return true;
}

static void add_sources(text_buffer *t, const situ_platform *p, const situ_report_options *options) {
  char who[PLATFORM_SOURCE_BYTES], source[PLATFORM_SOURCE_BYTES], line[2 * PLATFORM_SOURCE_BYTES + 8];
  text_add(t, "\n  where the figures come from\n");
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!name_alike(who, p, d)) continue;
    snprintf(line, sizeof line, "%s: %s", who, platform_device_source(source, p, d));
    text_add_wrapped(t, line, "    ", "      ", report_width(options));
  }
  for (int32_t l = 0; l < p->n_links && l < MAX_SHOWN_LINKS; l++) {
    if (count_alike(p, l) == 0) continue;
    snprintf(line, sizeof line, "%.100s to %.100s: %s", p->devices[p->links[l].from_device].name,
             p->devices[p->links[l].to_device].name, platform_link_source(source, p, l));
    text_add_wrapped(t, line, "    ", "      ", report_width(options));
  }
  if (!p->source) return;
  snprintf(line, sizeof line, "%.500s", p->source);
  text_add_wrapped(t, line, "    ", "      ", report_width(options));
}

static char *platform_text(const situ_platform *p, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  style_add(&t, options, STYLE_BOLD, p->name);
  text_add(&t, ": %s device%s, %s link%s\n\n", grouped(a, p->n_devices), p->n_devices == 1 ? "" : "s",
           grouped(b, p->n_links), p->n_links == 1 ? "" : "s");
  rows_text(&t, add_devices, p, options);
  if (p->n_links > 0) text_add(&t, "\n");
  if (p->n_links > 0) rows_text(&t, add_links, p, options);
  add_sources(&t, p, options);
  return text_take(&t);
}

situ_status situ_report_platform(char **out, const situ_platform *platform, situ_report_format format,
                                 const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, platform));
  char *text = format == SITU_REPORT_JSON ? report_finish(platform_to_json(platform, true), true)
                                          : platform_text(platform, &look);
  return report_close(out, text, error);
}
