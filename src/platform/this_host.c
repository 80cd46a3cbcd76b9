/* "this-host": the machine that runs situ. Values that the system reports (cores, memories, PCI devices) are used as
 * they are; others are estimated as described in docs/formats/platform.md. The only file that includes hwloc. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/os.h"
#include "platform/catalogue.h"
#include "platform/host_gpus.h"
#include "platform/host_limits.h"
#include "platform/host_machine.h"
#include "platform/host_speed.h"
#include "platform/platform_sources.h"

#ifdef SITU_HWLOC
#include <hwloc.h>
#endif

enum { MAX_NODES = 256 };

/* One NUMA node with cores, and one accelerator that the catalogue knows. */
typedef struct host_node {
  int cores;
  int64_t memory_bytes;
} host_node;
typedef struct host_gpu {
  machine_gpu is;
  int node, number;        /* number: of nvidia-smi, -1 for one that it does not list */
  double link_bytes_per_s; /* 0 when unknown */
} host_gpu;
typedef struct host_facts {
  int n_nodes, n_gpus;
  bool limited; /* by control groups */
  host_node nodes[MAX_NODES];
  host_gpu gpus[MACHINE_GPUS];
  machine_gpus driver; /* as the driver lists them */
} host_facts;

/* ---- looking around ---- */

#ifdef SITU_HWLOC

static const char *gpu_model(hwloc_obj_t pci) {
  for (hwloc_obj_t child = pci->io_first_child; child; child = child->next_sibling) {
    const char *model = hwloc_obj_get_info_by_name(child, "GPUModel");
    if (model) return model;
  }
  return hwloc_obj_get_info_by_name(pci, "PCIDevice");
}

static int node_of(const host_facts *facts, const int *os_index, hwloc_obj_t pci) {
  hwloc_obj_t place = pci;
  while (place && !place->nodeset) place = place->parent;
  for (int n = 0; place && n < facts->n_nodes; n++)
    if (hwloc_bitmap_isset(place->nodeset, (unsigned)os_index[n])) return n;
  return 0;
}

static void add_gpu(host_facts *facts, const int *os_index, hwloc_obj_t pci) {
  unsigned class_id = pci->attr->pcidev.class_id >> 8;
  if ((class_id != 0x03 && class_id != 0x12) || facts->n_gpus == MACHINE_GPUS) return;
  const char *model = gpu_model(pci);
  const situ_device_kind_info *row = model ? catalogue_match(model) : NULL;
  if (!row) return;
  facts->gpus[facts->n_gpus++] = (host_gpu){
      .is = {.row = row, .named_by = "the list of PCI devices"},
      .number = -1,
      .node = node_of(facts, os_index, pci),
      .link_bytes_per_s = 0.8e9 * (double)pci->attr->pcidev.linkspeed,
  };
}

/* Cores of a set of which this process may use a part (taskset, mpirun). */
static int cores_within(hwloc_topology_t topology, hwloc_const_cpuset_t of_node, hwloc_const_cpuset_t allowed) {
  hwloc_bitmap_t both = hwloc_bitmap_alloc();
  if (!both) return 0;
  hwloc_bitmap_and(both, of_node, allowed);
  hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  int n = 0;
  for (hwloc_obj_t c = NULL; (c = hwloc_get_next_obj_covering_cpuset_by_type(topology, both, type, c));) n++;
  hwloc_bitmap_free(both);
  return n;
}

static bool look_around(host_facts *facts) {
  hwloc_topology_t topology;
  hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
  if (!allowed || hwloc_topology_init(&topology) != 0) {
    hwloc_bitmap_free(allowed);
    return false;
  }
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(topology) != 0) {
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(allowed);
    return false;
  }
  if (hwloc_get_cpubind(topology, allowed, HWLOC_CPUBIND_THREAD) != 0) hwloc_bitmap_fill(allowed);
  int os_index[MAX_NODES];
  int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < n && facts->n_nodes < MAX_NODES; i++) {
    hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)i);
    int cores = cores_within(topology, node->cpuset, allowed);
    if (cores <= 0) continue; /* memory without cores of its own */
    os_index[facts->n_nodes] = (int)node->os_index;
    facts->nodes[facts->n_nodes++] = (host_node){cores, (int64_t)node->attr->numanode.local_memory};
  }
  for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci));) add_gpu(facts, os_index, pci);
  hwloc_topology_destroy(topology);
  hwloc_bitmap_free(allowed);
  return facts->n_nodes > 0;
}

#else

static bool look_around(host_facts *facts) {
  int cores = os_cores();
  facts->n_nodes = 1;
  facts->nodes[0] = (host_node){cores > 0 ? cores : 1, 0};
  return true;
}

#endif

/* Leaves of cores and memory what the control group grants, to each node in proportion. */
static void limit(host_facts *facts, const host_limits *granted) {
  double cores = 0, bytes = 0;
  for (int n = 0; n < facts->n_nodes; n++) {
    cores += facts->nodes[n].cores;
    bytes += (double)facts->nodes[n].memory_bytes;
  }
  for (int n = 0; n < facts->n_nodes; n++) {
    host_node *node = &facts->nodes[n];
    facts->limited = granted->cores < cores || (double)granted->memory_bytes < bytes;
    if (granted->cores < cores) node->cores = (int)fmax(1, floor(node->cores * granted->cores / cores));
    if ((double)granted->memory_bytes < bytes)
      node->memory_bytes = sat_round((double)node->memory_bytes * ((double)granted->memory_bytes / bytes));
  }
}

/* ---- estimates ---- */

/* 2.5 GHz where the system tells no clock. */
static double clock_hz(void) {
  double hz = os_clock_hz();
  return hz >= 1e8 && hz <= 1e10 ? hz : 2.5e9;
}

/* FP32 operations in one clock of one core, where they cannot be measured: a multiplication and an addition. */
enum { FLOPS_PER_CLOCK = 4 };
/* More than any core with units of 256 bits, or one unit of 512, does: 2 x 8 lanes x 2. */
enum { FLOPS_OF_256_BITS = 48 };

static bool has_vnni(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni") != 0;
#else
  return false;
#endif
}

/* One node: all its cores run one operator together. */
static situ_device node_device(const host_node *node, const char *name, const char *class_name, double core_peak) {
  double peak = node->cores * core_peak;
  double bandwidth = host_bytes_per_s(node->cores);
  if (bandwidth == 0) bandwidth = fmin(8e9 * node->cores, 160e9); /* shares of channels, up to those of a socket */
  situ_device d = {.name = name,
                   .class_name = class_name,
                   .peak_flops = {[SITU_DTYPE_F32] = peak, [SITU_DTYPE_F64] = peak / 2.0},
                   .memory_bytes_per_s = bandwidth,
                   .memory_bytes = node->memory_bytes > 0 ? node->memory_bytes : SITU_UNLIMITED_BYTES,
                   .launch_ns = 1000,
                   .shares_memory_with = -1,
                   .is_host = true};
  if (core_peak > FLOPS_OF_256_BITS * clock_hz()) d.family = SITU_FAMILY_CPU_AVX512;
  if (has_vnni()) d.peak_flops[SITU_DTYPE_I8] = d.peak_flops[SITU_DTYPE_U8] = 4.0 * peak;
  return d;
}

/* GPUs of NVIDIA, or where it has none of AMD, are as their driver lists them: where the list of PCI devices has as
 * many, these are in the same order. */
static void take_driver(host_facts *facts) {
  const machine_gpus *driver = &facts->driver;
  int n_listed = 0, n_others = 0, n = 0;
  bool amd = driver->n > 0 && driver->gpu[0].row && strncmp(driver->gpu[0].row->title, "AMD", strlen("AMD")) == 0;
  const char *maker = amd ? "AMD" : "NVIDIA";
  host_gpu other[MACHINE_GPUS];
  int node[MACHINE_GPUS] = {0};
  for (int g = 0; g < facts->n_gpus; g++) {
    const situ_device_kind_info *row = facts->gpus[g].is.row;
    if (strncmp(row->title, maker, strlen(maker)) == 0 && !row->integrated)
      node[n_listed++] = facts->gpus[g].node;
    else
      other[n_others++] = facts->gpus[g];
  }
  if (driver->n == 0) return;
  for (int k = 0; k < driver->n; k++)
    if (driver->gpu[k].row)
      facts->gpus[n++] = (host_gpu){.is = driver->gpu[k], .number = k, .node = n_listed == driver->n ? node[k] : 0};
  for (int k = 0; k < n_others && n < MACHINE_GPUS; k++) facts->gpus[n++] = other[k];
  facts->n_gpus = n;
}

/* What is built, and where its figures come from. */
typedef struct host_build {
  arena *arena;
  situ_device *devices;
  situ_link *links;
  const char **device_source, **link_source;
  int n_devices, n_links;
  bool failed;
} host_build;

static const char *keep(host_build *b, const char *text) {
  const char *kept = arena_string(b->arena, text);
  b->failed |= !kept;
  return kept;
}

static void add_link(host_build *b, situ_link link, const char *source) {
  b->links[b->n_links] = link;
  b->link_source[b->n_links++] = source;
}

static void build_nodes(host_build *b, const host_facts *facts) {
  double measured = host_core_flops(), core_peak = measured > 0 ? measured : clock_hz() * FLOPS_PER_CLOCK;
  const situ_link_kind_info *sockets = link_kind_find("upi");
  char name[32], class_name[32], source[200];
  snprintf(source, sizeof source, "cores and memory: the system%s; peaks: %s; bandwidth: %s; launch: assumed",
           facts->limited ? ", as far as control groups grant them" : "",
           measured > 0 ? "measured just now" : "clock times operations",
           host_bytes_per_s(facts->nodes[0].cores) > 0 ? "measured just now" : "assumed");
  const char *kept = keep(b, source);
  for (int i = 0; i < facts->n_nodes; i++) {
    snprintf(name, sizeof name, facts->n_nodes > 1 ? "cpu%d" : "cpu", i);
    snprintf(class_name, sizeof class_name, "cpu-%d-cores", facts->nodes[i].cores);
    b->devices[i] = node_device(&facts->nodes[i], keep(b, name), keep(b, class_name), core_peak);
    b->device_source[i] = kept;
    for (int j = 0; j < facts->n_nodes; j++)
      if (j != i) add_link(b, (situ_link){i, j, sockets->latency_ns, sockets->bytes_per_s, -1}, "two sockets: upi");
  }
}

static void build_gpu(host_build *b, const host_facts *facts, int g) {
  const host_gpu *gpu = &facts->gpus[g];
  char name[32], bus_name[32], source[PLATFORM_SOURCE_BYTES];
  int d = facts->n_nodes + g;
  snprintf(name, sizeof name, "%s%d", gpu->is.row->kind, g);
  b->devices[d] = catalogue_device(gpu->is.row);
  b->devices[d].name = keep(b, name);
  if (gpu->is.free_bytes > 0) b->devices[d].memory_bytes = gpu->is.free_bytes;
  if (gpu->is.row->integrated) {
    b->devices[d].shares_memory_with = gpu->node;
    b->devices[d].separate_address_space = true;
  }
  b->device_source[d] = keep(b, machine_gpu_source(source, sizeof source, &gpu->is));
  const situ_link_kind_info *bus = link_kind_find(machine_gpu_bus(bus_name, &gpu->is));
  double rate = gpu->link_bytes_per_s > 0.0 ? gpu->link_bytes_per_s : bus->bytes_per_s;
  const char *from = gpu->link_bytes_per_s > 0.0 ? "rate: the list of PCI devices"
                                                 : keep(b, machine_lanes_source(source, sizeof source, &gpu->is));
  add_link(b, (situ_link){gpu->node, d, bus->latency_ns, rate, -1}, from);
  add_link(b, (situ_link){d, gpu->node, bus->to_host_ns, rate, -1}, from);
  for (int other = 0; other < g; other++) {
    int one = gpu->number, two = facts->gpus[other].number;
    if (one < 0 || two < 0 || (!facts->driver.nvlink[one][two] && !facts->driver.nvlink[two][one])) continue;
    const situ_link_kind_info *fabric = link_kind_find(machine_gpu_fabric(&gpu->is));
    add_link(b, (situ_link){d, facts->n_nodes + other, fabric->latency_ns, fabric->bytes_per_s, -1},
             "nvidia-smi topo -m");
    add_link(b, (situ_link){facts->n_nodes + other, d, fabric->latency_ns, fabric->bytes_per_s, -1},
             "nvidia-smi topo -m");
  }
}

static situ_status build(situ_platform **out, arena *a, const host_facts *facts, situ_error *error) {
  int64_t n = facts->n_nodes + facts->n_gpus;
  host_build b = {.arena = a};
  char left_out[240];
  if (!ARENA_ARRAYS(a, ARRAY(b.devices, n), ARRAY(b.links, n * n + 2 * n), ZEROS(b.device_source, n),
                    ZEROS(b.link_source, n * n + 2 * n)))
    return fail_no_memory(error);
  build_nodes(&b, facts);
  for (int g = 0; g < facts->n_gpus; g++) build_gpu(&b, facts, g);
  if (b.failed) return fail_no_memory(error);
  TRY(platform_new(out, THIS_HOST, b.devices, (int32_t)n, b.links, b.n_links, error));
  snprintf(left_out, sizeof left_out, "left out, as the catalogue lacks it: %s", facts->driver.unknown);
  char machine[HOST_MACHINE_BYTES];
  if (platform_keep_sources(*out, b.device_source, b.link_source, *facts->driver.unknown ? left_out : NULL) &&
      platform_keep_machine(*out, host_machine_find(machine, "") ? machine : NULL))
    return SITU_STATUS_OK;
  situ_platform_free(*out);
  *out = NULL;
  return fail_no_memory(error);
}

bool this_host_is_cpu(const situ_platform *p, int32_t class_index) {
  const char *name = p->class_name[class_index], *end = strstr(name, "-cores");
  return strcmp(p->name, THIS_HOST) == 0 && strncmp(name, "cpu-", 4) == 0 && end && (!end[6] || end[6] == ':');
}

int32_t this_host_threads(const situ_platform *p) {
  int cores = 0, n = 0;
  if (strcmp(p->name, THIS_HOST) != 0 || sscanf(p->devices[0].class_name, "cpu-%d-cores%n", &cores, &n) != 1) return 0;
  return p->devices[0].class_name[n] ? 0 : cores;
}

situ_status platform_from_this_host(situ_platform **out, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  host_facts *facts = ARENA_ZERO(a, host_facts, 1);
  situ_status status;
  if (!facts) {
    status = fail_no_memory(error);
  } else if (!look_around(facts)) {
    status = fail_with(error, SITU_STATUS_UNSUPPORTED, THIS_HOST, "the topology of this machine cannot be read");
  } else {
    /* The system's own sum is nearer the truth than that of the one node, which leaves out memory that was plugged in
     * while a virtual machine ran. */
    if (facts->n_nodes == 1) facts->nodes[0].memory_bytes = max64(facts->nodes[0].memory_bytes, os_memory_bytes());
    host_limits granted = host_limits_read("");
    limit(facts, &granted);
    host_gpus_find(&facts->driver, "");
    take_driver(facts);
    status = build(out, a, facts, error);
  }
  arena_free(a);
  return status;
}
