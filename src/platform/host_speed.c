#include "platform/host_speed.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/parallel.h"

enum { REGISTERS = 12, REPEATS = 5000, BURSTS = 80 }; /* more registers than multiply-adds that a core has under way */

/* ---- arithmetic: bursts of independent multiply-adds, as assembly, so that optimisation changes nothing ---- */

/* REPEATS times REGISTERS vectors of so many lanes. */
typedef struct burst {
  void (*run)(void);
  int lanes;
} burst;

#if defined(__x86_64__)

#define CLOBBERED                                                                                                     \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "cc"
#define ON_EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define FMA_512(r) "vfmadd231ps %%zmm12, %%zmm13, %%zmm" #r "\n\t"
#define FMA_256(r) "vfmadd231ps %%ymm12, %%ymm13, %%ymm" #r "\n\t"
#define ZERO_AVX(r) "vxorps %%xmm" #r ", %%xmm" #r ", %%xmm" #r "\n\t"
#define ZERO_SSE(r) "xorps %%xmm" #r ", %%xmm" #r "\n\t"
#define MUL_ADD(r) "mulps %%xmm12, %%xmm" #r "\n\taddps %%xmm13, %%xmm" #r "\n\t"
#define LOOP(BODY) "1:\n\t" ON_EACH(BODY) "dec %0\n\tjnz 1b\n\t"

static void burst_512(void) {
  int64_t n = REPEATS;
  __asm__ volatile(ON_EACH(ZERO_AVX) ZERO_AVX(12) ZERO_AVX(13) LOOP(FMA_512) "vzeroupper" : "+r"(n)::CLOBBERED);
}

static void burst_256(void) {
  int64_t n = REPEATS;
  __asm__ volatile(ON_EACH(ZERO_AVX) ZERO_AVX(12) ZERO_AVX(13) LOOP(FMA_256) "vzeroupper" : "+r"(n)::CLOBBERED);
}

static void burst_128(void) {
  int64_t n = REPEATS;
  __asm__ volatile(ON_EACH(ZERO_SSE) ZERO_SSE(12) ZERO_SSE(13) LOOP(MUL_ADD) : "+r"(n)::CLOBBERED);
}

static burst widest_burst(void) {
  if (__builtin_cpu_supports("avx512f")) return (burst){burst_512, 16};
  if (__builtin_cpu_supports("fma")) return (burst){burst_256, 8};
  return (burst){burst_128, 4};
}

#elif defined(__aarch64__)

#define FMLA(r) "fmla v" #r ".4s, v12.4s, v13.4s\n\t"
#define ZERO(r) "movi v" #r ".4s, #0\n\t"
#define ON_EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

static void burst_neon(void) {
  int64_t n = REPEATS;
  __asm__ volatile(ON_EACH(ZERO) ZERO(12) ZERO(13) "1:\n\t" ON_EACH(FMLA) "subs %0, %0, #1\n\tb.ne 1b"
                   : "+r"(n)::"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                     "cc");
}

static burst widest_burst(void) { return (burst){burst_neon, 4}; }

#else

static burst widest_burst(void) { return (burst){0}; }

#endif

static double thread_time_s(void) { return 1e-9 * (double)os_thread_time_ns(); }

static double two_digits(double x) {
  if (!(x > 0)) return 0;
  double digit = pow(10, floor(log10(x)) - 1);
  return digit * round(x / digit);
}

static double measure_flops(void) {
  burst widest = widest_burst();
  double best_s = 0;
  for (int i = 0; widest.run && i < BURSTS; i++) { /* the first ones raise the clock */
    double start_s = thread_time_s();
    widest.run();
    double taken_s = thread_time_s() - start_s;
    if (taken_s > 0 && (best_s == 0 || taken_s < best_s)) best_s = taken_s;
  }
  if (best_s == 0) return 0;
  return two_digits(2.0 * widest.lanes * REGISTERS * REPEATS / best_s);
}

double host_core_flops(void) {
  static _Atomic double known = -1;
  double none = -1;
  if (known < 0) atomic_compare_exchange_strong(&known, &none, measure_flops()); /* the first thread decides for all */
  return known;
}

/* ---- memory ---- */

enum { READERS = 4, READ_BYTES = 1 << 25, PASSES = 4 }; /* together they read more than most caches hold */
static const double SCALED = 0.75;           /* of the rate of one, by each of several: no limit was reached */
static const double MAX_BYTES_PER_S = 160e9; /* of a node of which only some cores were measured */

/* Bytes per second of one reader, and of each of several at once; 0: could not read. */
typedef struct reading {
  double alone, together[READERS];
  int32_t n; /* readers at work */
} reading;

static void read_memory(void *context, int32_t number, bool here) {
  (void)here;
  reading *r = context;
  double *rate = r->n == 1 ? &r->alone : &r->together[number];
  char *bytes = malloc(READ_BYTES);
  if (!bytes) return;
  memset(bytes, 1, READ_BYTES);
  for (int i = 0; i < PASSES; i++) {
    double start_s = thread_time_s();
    os_read_through(bytes, READ_BYTES);
    double taken_s = thread_time_s() - start_s;
    if (taken_s > 0) *rate = fmax(*rate, READ_BYTES / taken_s);
  }
  free(bytes);
}

static void watch_nothing(void *context) { (void)context; }

static double measure_bytes_per_s(int32_t cores) {
  reading r = {.n = 1};
  double sum = 0;
  read_memory(&r, 0, true);
  r.n = cores < READERS ? cores : READERS;
  if (r.alone == 0 || r.n <= 1) return r.alone;
  parallel_run(r.n, r.n, read_memory, watch_nothing, &r);
  for (int32_t i = 0; i < r.n; i++) sum += r.together[i];
  if (sum < SCALED * r.n * r.alone) return sum;
  return fmax(sum, fmin(sum / r.n * cores, MAX_BYTES_PER_S));
}

double host_bytes_per_s(int32_t cores) {
  static _Atomic double known = -1;
  double none = -1;
  if (known < 0) atomic_compare_exchange_strong(&known, &none, two_digits(measure_bytes_per_s(cores)));
  return known;
}
