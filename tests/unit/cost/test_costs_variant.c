/* Costs on a machine of which something is faster, against estimates on a platform that has it so, and by hand. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "read/reader.h"

/* The platform with a device (-1: none) that is faster, and links of a kind (-1: none) twice as fast. */
static situ_platform *with(const situ_platform *p, const situ_costs *c, int32_t device, double factor, int32_t kind) {
  situ_device devices[8];
  situ_link links[64];
  situ_platform *out;
  for (int32_t d = 0; d < p->n_devices; d++) {
    devices[d] = p->devices[d];
    if (d != device) continue;
    devices[d].class_name = "faster ";
    for (int k = 0; k < SITU_DTYPE_MAX; k++) devices[d].peak_flops[k] *= factor;
    devices[d].memory_bytes_per_s *= factor;
    devices[d].launch_ns = (int64_t)((double)devices[d].launch_ns / factor);
  }
  for (int32_t l = 0; l < p->n_links; l++) {
    links[l] = p->links[l];
    if (c->link_kind[l] != kind) continue;
    links[l].latency_ns /= 2;
    links[l].bytes_per_s *= 2;
  }
  assert_int_equal(platform_new(&out, p->name, devices, p->n_devices, links, p->n_links, NULL), SITU_STATUS_OK);
  return out;
}

/* Differences are those of rounding: 1 ns for each hop, and one for an operator's launch and work each. */
static void check_equal(const situ_costs *c, const situ_costs *other, const situ_platform *p, int64_t most) {
  for (int32_t v = 0; v < c->n_operators; v++)
    for (int32_t d = 0; d < p->n_devices; d++)
      assert_in_range(situ_costs_time_ns(c, p, v, d) - situ_costs_time_ns(other, p, v, d) + most, 0, 2 * most);
  for (int32_t t = 0; t < c->n_tensors; t++)
    for (int32_t a = 0; a < p->n_devices; a++)
      for (int32_t b = 0; b < p->n_devices; b++)
        assert_in_range(situ_costs_transfer_ns(c, p, t, a, b) - situ_costs_transfer_ns(other, p, t, a, b) + most, 0,
                        2 * most);
}

TEST(estimates_are_those_of_the_faster_machine) {
  OWN(situ_model) *model = NULL;
  OWN(situ_platform) *p = NULL;
  OWN(situ_costs) *c = NULL;
  assert_int_equal(situ_model_read(&model, "builtin:vgg16", NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_platform_read(&p, "cpu+3*t4-16g", NULL), SITU_STATUS_OK);
  assert_int_equal(situ_costs_estimate(&c, model->graph, p, NULL, NULL), SITU_STATUS_OK);
  for (int k = 0; k < 2; k++) {
    OWN(situ_platform) *fast = k == 0 ? with(p, c, 2, 4, -1) : with(p, c, -1, 1, c->link_kind[0]);
    cost_change change = {fast, k == 0 ? 2 : -1, k == 0 ? -1 : c->link_kind[0], k == 0 ? 4 : 2};
    OWN(situ_costs) *estimated = NULL, *changed = costs_changed(c, p, &change);
    assert_non_null(changed);
    assert_int_equal(situ_costs_estimate(&estimated, model->graph, fast, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(costs_check(changed, model->graph, fast, NULL), SITU_STATUS_OK);
    check_equal(changed, estimated, fast, 2);
    assert_true(situ_costs_time_ns(changed, fast, 5, 1) == situ_costs_time_ns(c, p, 5, 1));
  }
}

/* Times that nothing but a table could know: 40 ns on the first GPU become 10, never stays never, the twin keeps its
 * 40 ns, and a transfer of 8 bytes over both links of a way takes 4 + 8 instead of 8 + 8 ns. */
TEST(times_of_a_table_are_divided) {
  OWN(lab) s = lab_new();
  for (int32_t d = 0; d < 3; d++) lab_device(&s, 100, -1, d == 0);
  for (int32_t d = 1; d < 3; d++) {
    lab_link(&s, d, 0, 0, -1);
    lab_link(&s, 0, d, 0, -1);
  }
  for (int l = 0; l < 2; l++) s.links[2 * l + 1].latency_ns = 1; /* to the GPUs: another kind */
  s.alike = true;
  lab_operator(&s, "a", 40, 0, 0);
  int32_t b = lab_operator(&s, "b", 40, 0, 0);
  for (int32_t d = 1; d < 3; d++) s.time_ns[b][d] = SITU_NEVER_NS;
  lab_tensor(&s, 0, 8, b, -1);
  lab_pose(&s, NULL);
  OWN(situ_platform) *fast = with(s.platform, s.costs, 1, 4, -1);
  cost_change device = {fast, 1, -1, 4}, links = {s.platform, -1, s.costs->link_kind[0], 2};
  OWN(situ_costs) *c = costs_changed(s.costs, s.platform, &device), *x = costs_changed(s.costs, s.platform, &links);
  assert_int_equal(situ_costs_time_ns(c, fast, 0, 1), 10);
  assert_int_equal(situ_costs_time_ns(c, fast, 0, 2), 40);
  assert_int_equal(situ_costs_time_ns(c, fast, 0, 0), 40);
  assert_true(situ_costs_time_ns(c, fast, 1, 1) == SITU_NEVER_NS);
  assert_int_equal(situ_costs_transfer_ns(s.costs, s.platform, 0, 1, 2), 8 + 9);
  assert_int_equal(situ_costs_transfer_ns(x, s.platform, 0, 1, 2), 4 + 9);
  assert_int_equal(situ_costs_transfer_ns(x, s.platform, 0, 1, 0), 4);
  assert_int_equal(situ_costs_transfer_ns(x, s.platform, 0, 0, 1), 9);
}

TEST_MAIN
