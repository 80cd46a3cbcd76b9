#include "problem/certificate.h"

#include <string.h>

#include "base/contracts.h"

void certificate_start(certificate *c, const char *kind, int64_t lower_ns) {
  REQUIRE(kind && lower_ns >= 0);
  *c = (certificate){.kind = kind, .lower_ns = lower_ns};
}

int64_t *certificate_add(certificate *c, const char *name, int64_t n, arena *a) {
  REQUIRE(c->kind && name && n >= 0);
  if (c->n_lists == CERTIFICATE_LISTS) return NULL;
  int64_t *values = ARENA_ZERO(a, int64_t, n);
  if (values) c->list[c->n_lists++] = (certificate_list){.name = name, .n = n, .values = values};
  return values;
}

int64_t *certificate_add_operators(certificate *c, const char *name, int64_t n, arena *a) {
  int64_t *values = certificate_add(c, name, n, a);
  if (values) c->list[c->n_lists - 1].of_operators = true;
  return values;
}

static const certificate_list *find(const certificate *c, const char *name) {
  for (int32_t i = 0; i < c->n_lists; i++)
    if (strcmp(c->list[i].name, name) == 0) return &c->list[i];
  return NULL;
}

const int64_t *certificate_get(const certificate *c, const char *name, int64_t n) {
  const certificate_list *list = find(c, name);
  return list && (n < 0 || list->n == n) ? list->values : NULL;
}

int64_t certificate_size(const certificate *c, const char *name) {
  const certificate_list *list = find(c, name);
  return list ? list->n : 0;
}

bool certificate_copy(certificate *to, const certificate *from, arena *a) {
  REQUIRE(to != from);
  *to = *from;
  if (!from->kind) return true;
  to->kind = arena_string(a, from->kind);
  to->bound = arena_string(a, from->bound);
  to->fault = arena_string(a, from->fault);
  bool copied = to->kind && (to->bound || !from->bound) && (to->fault || !from->fault);
  for (int32_t i = 0; i < from->n_lists && copied; i++) {
    to->list[i].name = arena_string(a, from->list[i].name);
    to->list[i].values = ARENA_COPY(a, from->list[i].values, int64_t, from->list[i].n);
    copied = to->list[i].name && to->list[i].values;
  }
  to->memory = from->n_placed > 0 ? ARENA_COPY(a, from->memory, int32_t, from->n_placed) : NULL;
  copied = copied && (to->memory || from->n_placed == 0);
  if (!copied) to->kind = NULL;
  return copied;
}

void certificate_pack(text_buffer *to, const certificate *c) {
  pack_text(to, c->kind);
  if (!c->kind) return;
  pack_text(to, c->bound);
  pack_int(to, c->lower_ns);
  pack_int(to, c->n_lists);
  for (int32_t i = 0; i < c->n_lists; i++) {
    pack_text(to, c->list[i].name);
    pack_int(to, c->list[i].of_operators);
    pack_array(to, c->list[i].values, c->list[i].n, sizeof *c->list[i].values);
  }
  pack_array(to, c->memory, c->n_placed, sizeof *c->memory);
}

void certificate_unpack(certificate *c, unpack *from, arena *a) {
  *c = (certificate){.kind = unpack_text(from, a)};
  if (!c->kind) return;
  c->bound = unpack_text(from, a);
  c->lower_ns = unpack_int(from);
  int64_t n = unpack_from_to(from, 0, CERTIFICATE_LISTS);
  for (int64_t i = 0; i < n && !from->failed; i++) {
    certificate_list *list = &c->list[c->n_lists++];
    list->name = unpack_text(from, a);
    list->of_operators = unpack_int(from) != 0;
    list->values = unpack_array(from, &list->n, sizeof *list->values, a);
    from->failed |= !list->name;
  }
  c->memory = unpack_array(from, &c->n_placed, sizeof *c->memory, a);
}
