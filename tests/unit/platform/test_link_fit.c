/* Links from measured transfers. */
#include <math.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "base/rng.h"
#include "situ/platform.h"

/* Writes a table to a file of its own and fits it. */
static situ_status fit_text(situ_link_fit **out, const char *text, size_t n, bool absolute, situ_error *error) {
  char path[] = "link-fit-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, n), (ssize_t)n);
  close(file);
  situ_status status = situ_link_fit_read(out, path, absolute, error);
  unlink(path);
  return status;
}

static situ_link_fit *fitted(const char *text, bool absolute) {
  situ_link_fit *fit;
  situ_error error = {0};
  if (fit_text(&fit, text, strlen(text), absolute, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return fit;
}

/* The README of Baechi: k = 0.0001754 us a byte, b = 134 us, from tensors of 2^0 to 2^29 floats. */
TEST(an_exact_line_is_found_again) {
  char text[4096] = "step,bytes,time_us\n";
  for (int i = 0; i < 30; i++) {
    double bytes = 4 * pow(2, i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%.0f,%.9f\n", i, bytes, 0.0001754 * bytes + 134);
  }
  for (int absolute = 0; absolute < 2; absolute++) {
    situ_link_fit *fit = fitted(text, absolute);
    situ_link_line line = SITU_LINK_LINE_INIT;
    situ_link_fit_line(fit, &line);
    assert_int_equal(line.latency_ns, 134000);
    assert_true(fabs(line.bytes_per_s - 1e9 / 0.1754) < 1e3);
    assert_true(line.r_squared > 0.999999);
    assert_true(line.worst_share < 1e-4);
    assert_false(line.latency_raised);
    assert_int_equal(line.n_sizes, 30);
    situ_link_fit_free(fit);
  }
}

static situ_link_line line_of(const situ_link_fit *fit) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  assert_true(situ_link_fit_line(fit, &line));
  return line;
}

static double errors(const situ_link_fit *fit, double latency, double slope, bool absolute) {
  double sum = 0;
  for (int32_t i = 0; i < line_of(fit).n_sizes; i++) {
    situ_link_sample s = situ_link_fit_sample(fit, i);
    double off = s.time_ns - latency - slope * s.size_bytes;
    sum += absolute ? off * off : off * off / (s.time_ns * s.time_ns);
  }
  return sum;
}

/* No line near by has less error, on noisy data. */
TEST(no_other_line_is_nearer) {
  for (uint64_t seed = 1; seed <= 50; seed++) {
    char text[4096] = "bytes\ttime_ns\n";
    rng r = rng_new(seed);
    for (int i = 0; i < 20; i++) {
      double bytes = 1000 * pow(2, (double)i / 2), time = (20000 + bytes / 3) * (0.8 + 0.4 * rng_unit(&r));
      snprintf(text + strlen(text), sizeof text - strlen(text), "%.0f\t%.0f\n", bytes, time);
    }
    for (int absolute = 0; absolute < 2; absolute++) {
      situ_link_fit *fit = fitted(text, absolute);
      situ_link_line line = SITU_LINK_LINE_INIT;
      situ_link_fit_line(fit, &line);
      double slope = 1e9 / line.bytes_per_s, latency = (double)line.latency_ns;
      double least = errors(fit, latency, slope, absolute);
      for (int k = 0; k < 9; k++) {
        double other_latency = latency * (1 + 0.02 * (k % 3 - 1)), other_slope = slope * (1 + 0.02 * (k / 3 - 1));
        assert_true(errors(fit, other_latency, other_slope, absolute) >= least * (1 - 1e-6));
      }
      situ_link_fit_free(fit);
    }
  }
}

/* Small transfers settle the latency: with plain errors one per cent on the largest hides it. */
TEST(relative_errors_keep_the_latency) {
  const char *text = "bytes,time_us\n1000,101\n2000,102\n4000,104\n1000000000,1010000\n2000000000,1980000\n";
  situ_link_fit *relative = fitted(text, false), *absolute = fitted(text, true);
  assert_in_range(line_of(relative).latency_ns, 95000, 105000);
  assert_true(line_of(absolute).latency_ns < 95000 || line_of(absolute).latency_ns > 105000);
  situ_link_fit_free(relative);
  situ_link_fit_free(absolute);
}

TEST(the_median_of_a_size_counts) {
  situ_link_fit *fit = fitted(
      "\"bytes\" ; time_ns\r\n# a remark\r\n1000;1100\r\n1000;99999\r\n1000;1090\r\n\r\n2000;2090\r\n2000;2110\r\n",
      false);
  assert_int_equal(line_of(fit).n_measured, 5);
  assert_int_equal(line_of(fit).n_sizes, 2);
  assert_true(situ_link_fit_sample(fit, 0).time_ns == 1100);
  assert_true(situ_link_fit_sample(fit, 1).time_ns == 2100);
  assert_int_equal(line_of(fit).latency_ns, 100);
  assert_true(fabs(line_of(fit).bytes_per_s - 1e9) < 1);
  situ_link_fit_free(fit);
}

TEST(a_latency_below_zero_is_raised_and_told) {
  situ_link_fit *fit = fitted("bytes,time_ns\n1000,500\n2000,2000\n", true);
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  assert_true(line.latency_raised);
  assert_int_equal(line.latency_ns, 0);
  /* through 0: (1000 * 500 + 2000 * 2000) / (1000^2 + 2000^2) = 0.9 ns a byte */
  assert_true(fabs(line.bytes_per_s - 1e9 / 0.9) < 10);
  situ_link_fit_free(fit);
}

static void refused(const char *text, size_t n, const char *part) {
  situ_link_fit *fit;
  situ_error error = {0};
  assert_int_equal(fit_text(&fit, text, n, false, &error), SITU_STATUS_BAD_INPUT);
  assert_null(fit);
  if (!strstr(error.text, part)) fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

TEST(what_is_no_table_is_refused) {
#define REFUSED(text, part) refused(text, sizeof text - 1, part)
  REFUSED("", "names of the columns");
  REFUSED("\n\n# nothing\n", "names of the columns");
  REFUSED("1,2\n3,4\n", "line 1: expected the names");
  REFUSED("bytes,seconds\n1,2\n", "line 1: expected the names");
  REFUSED("bytes,bytes,time_s\n1,1,1\n", "two columns");
  REFUSED("bytes,time_s,time_ms\n1,1,1\n", "two columns");
  REFUSED("bytes,time_us\n", "no transfers");
  REFUSED("bytes,time_us\n8,1\n8,2\n", "one size only");
  REFUSED("bytes,time_us\n8,9\n800,2\n", "do not grow");
  REFUSED("bytes,time_us\n8,9\n9,x\n", "line 3: expected a number");
  REFUSED("bytes,time_us\n8,9\n9\n", "line 3: has too few");
  REFUSED("bytes,time_us\n8,9\n9,-1\n", "line 3: expected a number");
  REFUSED("bytes,time_us\n8,9\n9,0\n", "line 3: the time of a transfer must be above 0");
  REFUSED("bytes,time_us\n8,nan\n", "line 2: expected a number");
  REFUSED("bytes,time_s\n8,1e30\n", "line 2: expected a number");
  REFUSED("bytes,time_s\n1e30,1\n", "line 2: expected a number");
  REFUSED("bytes,time_s\n8,1 2\n", "line 2: expected a number");
  REFUSED("bytes,time_us\n8,\0009\n", "expected text");
  situ_link_fit *fit;
  situ_error error = {0};
  assert_int_equal(situ_link_fit_read(&fit, "no-such-file.csv", false, &error), SITU_STATUS_IO);
}

TEST_MAIN
