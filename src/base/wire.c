#include "base/wire.h"

#include <stdbool.h>

static bool next_varint(wire_span *s, uint64_t *value) {
  *value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (s->at >= s->end) return false;
    unsigned char byte = *s->at++;
    if (shift < 64) *value |= (uint64_t)(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

const char *wire_next(wire_span *s, wire_field *f) {
  uint64_t tag, length = 0;
  f->start = s->at;
  if (!next_varint(s, &tag) || tag >> 32 || tag >> 3 == 0) return "a field has no valid tag";
  f->number = (uint32_t)(tag >> 3);
  f->wire = 1 << (tag & 7);
  f->value.at = s->at;
  switch (f->wire) {
    case WIRE_VARINT:
      if (!next_varint(s, &f->varint)) return "a number does not end";
      f->value.end = s->at;
      return NULL;
    case WIRE_WORD32: length = 4; break;
    case WIRE_WORD64: length = 8; break;
    case WIRE_BYTES:
      if (!next_varint(s, &length)) return "a length does not end";
      break;
    default: return "a field has a wire type that is not in use";
  }
  f->value.at = s->at;
  if (length > (uint64_t)(s->end - s->at))
    return "a field is longer than the message that holds it; the file may be truncated";
  f->value.end = s->at + length;
  s->at += length;
  return NULL;
}

void wire_add_varint(text_buffer *out, uint64_t value) {
  char bytes[10];
  size_t n = 0;
  do {
    bytes[n] = (char)(value & 0x7f);
    value >>= 7;
    if (value) bytes[n] = (char)(bytes[n] | 0x80);
    n++;
  } while (value);
  text_add_bytes(out, bytes, n);
}

void wire_add_number(text_buffer *out, uint32_t number, uint64_t value) {
  wire_add_varint(out, (uint64_t)number << 3);
  wire_add_varint(out, value);
}

void wire_add_bytes(text_buffer *out, uint32_t number, const void *bytes, size_t n) {
  wire_add_varint(out, (uint64_t)number << 3 | 2);
  wire_add_varint(out, n);
  if (n) text_add_bytes(out, bytes, n);
}
