"""The C interface of situ for ctypes: written by tools/bind_python.py from the headers, never by hand."""
# mypy: disable-error-code="misc"
from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint64, c_void_p)

SITU_DTYPE_MAX = 32
SITU_LEARN_CURVE = 16
SITU_MAX_DEVICES = 4096
SITU_MAX_LINKS = 1048576
SITU_MAX_OPERATORS = 50000000
SITU_MAX_TENSORS = 100000000
SITU_MAX_USES = 500000000
SITU_PARTITION_MAX_DEVICES = 64
SITU_VERSION_MAJOR = 0
SITU_VERSION_MINOR = 3
SITU_VERSION_PATCH = 0
(SITU_OVERLAP_DEFAULT, SITU_OVERLAP_FULL, SITU_OVERLAP_HOST_BLOCKING, SITU_OVERLAP_NONE) = range(4)
(SITU_LEVEL_ALL, SITU_LEVEL_NONE, SITU_LEVEL_BASIC, SITU_LEVEL_EXTENDED) = range(4)
(SITU_STATUS_OK, SITU_STATUS_NO_MEMORY, SITU_STATUS_BAD_ARGUMENT, SITU_STATUS_BAD_INPUT,
 SITU_STATUS_UNSUPPORTED, SITU_STATUS_IO, SITU_STATUS_INTERNAL, SITU_STATUS_ENGINE, SITU_STATUS_CANCELLED,
 SITU_STATUS_GUESSED) = range(10)
(SITU_LIMIT_CHAIN, SITU_LIMIT_DEVICE, SITU_LIMIT_LINK) = range(3)
(SITU_FIT_CONTEXT, SITU_FIT_BATCH) = range(2)
(SITU_FIT_FITS, SITU_FIT_MISSED, SITU_FIT_IMPOSSIBLE) = range(3)
(SITU_GUESS_KIND, SITU_GUESS_SHAPE, SITU_GUESS_SIZE, SITU_GUESS_CONTROL, SITU_GUESS_TYPE, SITU_GUESS_PACKING,
 SITU_GUESS_ROLE, SITU_GUESS_STRUCTURE, SITU_GUESS_WORK) = range(9)
(SITU_GRANULARITY_FUSED, SITU_GRANULARITY_OPERATOR, SITU_GRANULARITY_LAYER, SITU_GRANULARITY_BLOCK,
 SITU_GRANULARITY_DEFAULT) = range(5)
(SITU_OPTION_READ, SITU_OPTION_COST, SITU_OPTION_PROBLEM, SITU_OPTION_INSTANCE, SITU_OPTION_SOLVE) = range(5)
(SITU_OPTION_ON, SITU_OPTION_OFF, SITU_OPTION_TEXT, SITU_OPTION_PATH, SITU_OPTION_CHOICE, SITU_OPTION_INT64,
 SITU_OPTION_INT32, SITU_OPTION_SEED, SITU_OPTION_MS, SITU_OPTION_PERCENT, SITU_OPTION_REAL, SITU_OPTION_DIMS,
 SITU_OPTION_NAMES, SITU_OPTION_RULES, SITU_OPTION_RULE) = range(15)
SITU_FORM_LAYERS = 1
SITU_FORM_EXPERTS = 2
SITU_FORM_SPILL = 4
SITU_FORM_BLOCKS = 8
SITU_FORM_RUNS = 16
SITU_FORM_ENDS = 32
SITU_FORM_HEAD = 64
SITU_FORM_HOST_FIRST = 128
SITU_FORM_NO_HOST = 256
SITU_FORM_NAMES = 512
SITU_FORM_ONE_SERVER = 1024
SITU_FORM_ONE_GROUP = 2048
SITU_FORM_ALIKE = 4096
(SITU_OUTCOME_OPTIMAL, SITU_OUTCOME_FEASIBLE, SITU_OUTCOME_INFEASIBLE, SITU_OUTCOME_LIMIT,
 SITU_OUTCOME_CANCELLED) = range(5)
(SITU_FAMILY_NONE, SITU_FAMILY_CPU, SITU_FAMILY_CPU_AMX, SITU_FAMILY_GPU, SITU_FAMILY_GPU_LOW_POWER,
 SITU_FAMILY_GPU_AMD, SITU_FAMILY_GPU_INTEL, SITU_FAMILY_GPU_APPLE, SITU_FAMILY_GPU_INTEGRATED,
 SITU_FAMILY_NPU, SITU_FAMILY_CPU_AVX512) = range(11)
(SITU_OBJECTIVE_DEFAULT, SITU_OBJECTIVE_LATENCY, SITU_OBJECTIVE_THROUGHPUT) = range(3)
(SITU_EXECUTION_DEFAULT, SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE) = range(4)
(SITU_CONTENTION_LINK, SITU_CONTENTION_NONE) = range(2)
(SITU_COMMUNICATION_DEFAULT, SITU_COMMUNICATION_HOST_STAGED, SITU_COMMUNICATION_LINK) = range(3)
(SITU_SCHEDULE_1F1B, SITU_SCHEDULE_GPIPE, SITU_SCHEDULE_ZB_H1, SITU_SCHEDULE_INTERLEAVED, SITU_SCHEDULE_ZB_V) = range(5)
(SITU_PRECISION_AS_STORED, SITU_PRECISION_F32, SITU_PRECISION_F16, SITU_PRECISION_BF16, SITU_PRECISION_I8) = range(5)
(SITU_OPTIMIZER_DEFAULT, SITU_OPTIMIZER_NONE, SITU_OPTIMIZER_SGD, SITU_OPTIMIZER_MOMENTUM,
 SITU_OPTIMIZER_ADAM, SITU_OPTIMIZER_ADAM_MIXED, SITU_OPTIMIZER_ADAFACTOR, SITU_OPTIMIZER_ADAM_8BIT) = range(8)
(SITU_REPORT_TABLE, SITU_REPORT_JSON, SITU_REPORT_SVG, SITU_REPORT_PARTS, SITU_REPORT_GANTT, SITU_REPORT_CSV,
 SITU_REPORT_NAMES) = range(7)
(SITU_SIZE_MET, SITU_SIZE_MISSED, SITU_SIZE_IMPOSSIBLE) = range(3)
(SITU_DTYPE_UNKNOWN, SITU_DTYPE_F64, SITU_DTYPE_F32, SITU_DTYPE_F16, SITU_DTYPE_BF16, SITU_DTYPE_F8,
 SITU_DTYPE_I64, SITU_DTYPE_I32, SITU_DTYPE_I16, SITU_DTYPE_I8, SITU_DTYPE_I4, SITU_DTYPE_U64, SITU_DTYPE_U32,
 SITU_DTYPE_U16, SITU_DTYPE_U8, SITU_DTYPE_BOOL, SITU_DTYPE_STRING, SITU_DTYPE_C64, SITU_DTYPE_C128) = range(19)
(SITU_PHASE_FORWARD, SITU_PHASE_BACKWARD, SITU_PHASE_UPDATE, SITU_PHASE_RECOMPUTE) = range(4)
(SITU_LOG_NOTE, SITU_LOG_WARNING) = range(2)

situ_time_callback = CFUNCTYPE(c_int64, c_void_p, c_int32, c_int32)

situ_measure_callback = CFUNCTYPE(c_bool, c_void_p, c_char_p, c_int32, c_int32)

situ_staging_callback = CFUNCTYPE(c_bool, c_void_p)

situ_log_callback = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

class situ_compare_row(Structure):
    _fields_ = [("solver", c_char_p), ("plan", c_void_p), ("failure", c_char_p)]

class situ_cost_options(Structure):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("efficiency", c_double), ("table_path", c_char_p), ("log",
                situ_log_callback), ("log_context", c_void_p), ("fusion", c_char_p), ("engine", c_char_p), ("time_of",
                situ_time_callback), ("time_context", c_void_p)]

class situ_operator_time(Structure):
    _fields_ = [("op", c_int32), ("device", c_int32), ("time_ns", c_int64)]

class situ_costs_summary(Structure):
    _fields_ = [("size", c_size_t), ("source", c_char_p), ("unit_ns", c_int64)]

class situ_cost_model_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("source", c_char_p)]

class situ_disaggregation_row(Structure):
    _fields_ = [("prefill_devices", c_char_p), ("decode_devices", c_char_p), ("streams", c_int64), ("prefill_ns",
                c_int64), ("transfer_ns", c_int64), ("transfer_bytes", c_int64), ("stream_tokens_per_s", c_double),
                ("request_ns", c_int64), ("requests_per_s", c_double), ("max_requests_per_s", c_double), ("on_front",
                c_bool)]

class situ_disaggregation_summary(Structure):
    _fields_ = [("size", c_size_t), ("together_requests_per_s", c_double), ("together_request_ns", c_int64),
                ("max_requests_per_s", c_double)]

class situ_engine_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("version", c_char * 64), ("library",
                c_char * 512), ("providers", c_char * 512), ("missing", c_char * 1024)]

class situ_measure_options(Structure):
    _fields_ = [("size", c_size_t), ("engine", c_char_p), ("library", c_char_p), ("device", c_char_p),
                ("time_limit_s", c_double), ("progress", situ_measure_callback), ("context", c_void_p), ("seed",
                c_uint64), ("level", c_int), ("threads", c_int32), ("items", c_int32), ("warm_up", c_int32)]

class situ_profile_summary(Structure):
    _fields_ = [("size", c_size_t), ("whole_ns", c_int64), ("half_ns", c_int64)]

class situ_run_options(Structure):
    _fields_ = [("size", c_size_t), ("measure", POINTER(situ_measure_options)), ("queue", c_int32), ("in_process",
                c_bool), ("map", c_char_p)]

class situ_run_summary(Structure):
    _fields_ = [("size", c_size_t), ("rank", c_int32), ("served", c_bool), ("predicted_ns", c_int64), ("measured_ns",
                c_int64), ("difference", c_double)]

class situ_race_options(Structure):
    _fields_ = [("size", c_size_t), ("run", POINTER(situ_run_options)), ("log", c_char_p), ("replay", c_char_p)]

class situ_race_summary(Structure):
    _fields_ = [("size", c_size_t), ("n_plans", c_int32), ("winner", c_int32)]

class situ_trials_report(Structure):
    _fields_ = [("size", c_size_t), ("measured", c_int32), ("repeated", c_int32), ("rejected", c_int32),
                ("single_device", c_int32), ("single_ns", c_int64), ("best_ns", c_int64), ("engine", c_char * 128)]

class situ_error(Structure):
    _fields_ = [("status", c_int), ("where", c_char * 256), ("text", c_char * 512)]

class situ_part(Structure):
    _fields_ = [("device", c_int32), ("n_operators", c_int32), ("n_working", c_int32), ("first_operator", c_int32),
                ("last_operator", c_int32), ("work_ns", c_int64)]

class situ_limit(Structure):
    _fields_ = [("kind", c_int), ("index", c_int32), ("share", c_double)]

class situ_path_share(Structure):
    _fields_ = [("device", c_int32), ("link", c_int32), ("time_ns", c_int64)]

class situ_stage(Structure):
    _fields_ = [("device", c_int32), ("n_devices", c_int32), ("n_operators", c_int32), ("first_operator", c_int32),
                ("last_operator", c_int32), ("load_ns", c_int64)]

class situ_path_step(Structure):
    _fields_ = [("op", c_int32), ("transfer", c_int32), ("start_ns", c_int64), ("finish_ns", c_int64)]

class situ_explanation_summary(Structure):
    _fields_ = [("size", c_size_t), ("n_parts", c_int32), ("n_shares", c_int32), ("n_stages", c_int32), ("n_steps",
                c_int32), ("transfer_bytes", c_int64), ("limit", situ_limit)]

class situ_fit_row(Structure):
    _fields_ = [("amount", c_int64), ("finding", c_int), ("plan", c_void_p), ("model", c_void_p), ("reason",
                c_char_p)]

class situ_operator(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("kind", c_char_p), ("layer", c_char_p), ("phase", c_int),
                ("dtype", c_int), ("weight_bytes", c_int64), ("workspace_bytes", c_int64), ("flops", c_int64),
                ("moved_bytes", c_int64), ("source_id", c_int64), ("inferred", c_bool), ("colocation", c_int32),
                ("split_ways", c_int64), ("weight_type", c_char_p)]

class situ_tensor(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("dtype", c_int), ("rank", c_int32), ("dims",
                POINTER(c_int64)), ("size_bytes", c_int64)]

class situ_graph_summary(Structure):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("n_operators", c_int32), ("n_tensors", c_int32), ("n_uses",
                c_int64), ("n_edges", c_int64)]

class situ_guess(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("n_operators", c_int32), ("subject", c_char_p), ("operators",
                POINTER(c_int32))]

class situ_judgement_summary(Structure):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("better", c_char_p), ("notes", c_char_p)]

class situ_learn_progress(Structure):
    _fields_ = [("size", c_size_t), ("step", c_int64), ("trials", c_int64), ("problem", c_int32), ("reward",
                c_double), ("mean_reward", c_double), ("value_ns", c_int64), ("best_ns", c_int64), ("seconds",
                c_double), ("groups", c_int64)]

class situ_learn_report(Structure):
    _fields_ = [("size", c_size_t), ("steps", c_int64), ("trials", c_int64), ("n_numbers", c_int64), ("stopped",
                c_bool), ("seconds", c_double)]

class situ_learner_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("source", c_char_p)]

class situ_option_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("json", c_char_p), ("group", c_char_p), ("part", c_int),
                ("kind", c_int), ("offset", c_size_t), ("min", c_int64), ("max", c_double), ("choices",
                POINTER(c_char_p)), ("value", c_char_p), ("title", c_char_p), ("also", c_char_p), ("old", c_char_p),
                ("family", c_char_p)]

class situ_front_summary(Structure):
    _fields_ = [("size", c_size_t), ("n_points", c_int32), ("infeasible", c_bool), ("min_latency_ns", c_int64),
                ("min_period_ns", c_int64), ("latency_bound", c_char_p), ("period_bound", c_char_p), ("reason",
                c_char_p), ("seconds", c_double)]

class situ_partition_options(Structure):
    _fields_ = [("size", c_size_t), ("min_operators", POINTER(c_int32)), ("costs", POINTER(c_int64)),
                ("crossing_cost", c_int64), ("part_cost", c_int64), ("max_steps", c_int64), ("time_limit_s",
                c_double)]

class situ_partition_summary(Structure):
    _fields_ = [("size", c_size_t), ("outcome", c_int), ("n_parts", c_int32), ("n_devices", c_int32), ("n_crossings",
                c_int64), ("cost", c_int64), ("lower_bound", c_int64)]

class situ_subgraph(Structure):
    _fields_ = [("size", c_size_t), ("device", c_int32), ("n_operators", c_int32), ("n_inputs", c_int32),
                ("n_outputs", c_int32), ("operators", POINTER(c_int32)), ("inputs", POINTER(c_int32)), ("outputs",
                POINTER(c_int32))]

class situ_transfer(Structure):
    _fields_ = [("tensor", c_int32), ("link", c_int32), ("to_memory", c_int32), ("start_ns", c_int64), ("finish_ns",
                c_int64)]

class situ_device_use(Structure):
    _fields_ = [("size", c_size_t), ("n_operators", c_int32), ("replica_of", c_int32), ("load_ns", c_int64),
                ("memory_bytes", c_int64), ("memory_limit_bytes", c_int64)]

class situ_plan_summary(Structure):
    _fields_ = [("size", c_size_t), ("outcome", c_int), ("exists", c_bool), ("claimed", c_bool), ("n_operators",
                c_int32), ("n_devices", c_int32), ("n_transfers", c_int32), ("n_statistics", c_int32), ("value_ns",
                c_int64), ("latency_ns", c_int64), ("period_ns", c_int64), ("secondary_ns", c_int64),
                ("lower_bound_ns", c_int64), ("verified_ns", c_int64), ("gap", c_double), ("best_single_ns", c_int64),
                ("best_single_device", c_int32), ("n_handovers", c_int32), ("best_found_ns", c_int64),
                ("best_found_handovers", c_int32), ("unrestricted_ns", c_int64), ("solver", c_char_p), ("bound",
                c_char_p), ("reason", c_char_p), ("certificate", c_char_p), ("steps", c_int64), ("seed", c_uint64),
                ("seconds", c_double)]

class situ_robustness(Structure):
    _fields_ = [("size", c_size_t), ("uncertainty", c_double), ("draws", c_int32), ("preferred", c_bool),
                ("beats_single", c_double), ("speedup_5", c_double), ("speedup_median", c_double), ("speedup_95",
                c_double), ("regret_ns", c_int64), ("flip_factor", c_double), ("flip_what", c_char * 128)]

class situ_statistic(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]

class situ_violation(Structure):
    _fields_ = [("rule", c_char_p), ("text", c_char_p)]

class situ_verdict_summary(Structure):
    _fields_ = [("size", c_size_t), ("n_violations", c_int32), ("n_found", c_int64), ("verified_ns", c_int64),
                ("certificate", c_char_p), ("unverified", c_char_p), ("recomputed", c_char_p), ("unchecked",
                c_char_p)]

class situ_device(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("class_name", c_char_p), ("peak_flops", c_double * 32),
                ("memory_bytes_per_s", c_double), ("memory_bytes", c_int64), ("launch_ns", c_int64),
                ("shares_memory_with", c_int32), ("is_host", c_bool), ("separate_address_space", c_bool), ("server",
                c_int32), ("family", c_int), ("efficiency", c_double), ("members", c_int32), ("sync_links", c_int32),
                ("sync_latency_ns", c_int64), ("sync_bytes_per_s", c_double)]

class situ_link(Structure):
    _fields_ = [("from_device", c_int32), ("to_device", c_int32), ("latency_ns", c_int64), ("bytes_per_s", c_double),
                ("channel", c_int32)]

class situ_platform_summary(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("n_devices", c_int32), ("n_links", c_int32), ("n_classes",
                c_int32), ("n_memories", c_int32)]

class situ_device_kind_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("kind", c_char_p), ("memory_bytes",
                c_int64), ("memory_bytes_per_s", c_double), ("peak_flops", c_double * 32), ("launch_ns", c_int64),
                ("family", c_int), ("integrated", c_bool), ("bus", c_char_p), ("fabric", c_char_p), ("source",
                c_char_p), ("granted_bytes", c_int64)]

class situ_link_kind_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("latency_ns", c_int64), ("to_host_ns",
                c_int64), ("bytes_per_s", c_double), ("fabric", c_bool), ("switched", c_bool), ("source", c_char_p)]

class situ_link_line(Structure):
    _fields_ = [("size", c_size_t), ("latency_ns", c_int64), ("bytes_per_s", c_double), ("latency_raised", c_bool),
                ("n_sizes", c_int32), ("r_squared", c_double), ("worst_share", c_double), ("worst_bytes", c_double),
                ("n_measured", c_int64)]

class situ_link_sample(Structure):
    _fields_ = [("size_bytes", c_double), ("time_ns", c_double), ("fitted_ns", c_double), ("n_measured", c_int64)]

class situ_problem_options(Structure):
    _fields_ = [("size", c_size_t), ("objective", c_int), ("execution", c_int), ("contention", c_int), ("overlap",
                c_int), ("communication", c_int), ("free", c_bool), ("async_copies", c_bool), ("schedule", c_int),
                ("replicate", c_bool), ("in_flight", c_int32), ("copies", c_int32), ("max_calls", c_int32),
                ("micro_batches", c_int32), ("chunks", c_int32), ("zero", c_int32), ("max_period_ns", c_int64),
                ("max_latency_ns", c_int64), ("pins", POINTER(c_int32)), ("unused", POINTER(c_bool)),
                ("keep_together", POINTER(c_int32)), ("secondary_costs", c_void_p), ("max_secondary_ns", c_int64),
                ("secondary_name", c_char_p), ("keep_name", c_char_p), ("names", c_char_p), ("max_unknown_percent",
                c_double)]

class situ_problem_summary(Structure):
    _fields_ = [("size", c_size_t), ("objective", c_int), ("execution", c_int), ("communication", c_int), ("overlap",
                c_int), ("contention", c_int), ("schedule", c_int), ("copies", c_int32), ("max_calls", c_int32),
                ("free", c_bool), ("replicate", c_bool), ("guessed", c_bool), ("conflict", c_char_p), ("scope",
                c_char_p), ("n_unknown", c_int32), ("n_unknown_operators", c_int32), ("unknown_share", c_double)]

class situ_unknown(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("subject", c_char_p), ("n_operators", c_int32), ("share",
                c_double)]

class situ_ranks_summary(Structure):
    _fields_ = [("size", c_size_t), ("own", c_int32), ("count", c_int32), ("lost", c_int64)]

class situ_dim(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]

class situ_read_options(Structure):
    _fields_ = [("size", c_size_t), ("reader", c_char_p), ("dims", POINTER(situ_dim)), ("default_dim", c_int64),
                ("max_file_bytes", c_int64), ("training", c_bool), ("offload_optimizer", c_bool), ("n_dims", c_int32),
                ("log", situ_log_callback), ("log_context", c_void_p), ("precision", c_int), ("optimizer", c_int),
                ("micro_batches", c_int32), ("prompt", c_int64), ("context", c_int64), ("batch", c_int64),
                ("generate", c_int64), ("draft", c_int64), ("acceptance", c_double), ("kv_type", c_char_p),
                ("assumed", POINTER(c_char_p)), ("recompute", c_char_p), ("ubatch", c_int64)]

class situ_model_summary(Structure):
    _fields_ = [("size", c_size_t), ("reader", c_char_p), ("notes", c_char_p), ("hash", c_uint64), ("n_assumed_dims",
                c_int32), ("n_nested_operators", c_int64)]

class situ_reader_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("suffixes", c_char_p)]

class situ_builtin_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("source", c_char_p), ("parameters",
                c_char * 256)]

class situ_builtin_parameter(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("about", c_char_p), ("default_value", c_int64), ("min",
                c_int64), ("max", c_int64)]

class situ_report_options(Structure):
    _fields_ = [("size", c_size_t), ("colour", c_bool), ("unicode", c_bool), ("width", c_int32)]

class situ_page_options(Structure):
    _fields_ = [("size", c_size_t), ("what_ifs", c_void_p), ("comparison", c_void_p), ("run_json", c_char_p),
                ("other", c_void_p)]

class situ_learn_row(Structure):
    _fields_ = [("problem", c_void_p), ("curve", c_double * 16), ("best_ns", c_int64)]

class situ_serving_row(Structure):
    _fields_ = [("streams", c_int64), ("group", c_int32), ("n_copies", c_int32), ("stream_tokens_per_s", c_double),
                ("tokens_per_s", c_double), ("on_front", c_bool)]

class situ_size_row(Structure):
    _fields_ = [("platform", c_char_p), ("reason", c_char_p), ("finding", c_int), ("value_ns", c_int64),
                ("lower_bound_ns", c_int64), ("tokens_per_second", c_double), ("price", c_double),
                ("price_of_a_million", c_double)]

class situ_progress(Structure):
    _fields_ = [("size", c_size_t), ("solver", c_char_p), ("seconds", c_double), ("steps", c_int64), ("value_ns",
                c_int64), ("lower_bound_ns", c_int64)]

class situ_solver_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("source", c_char_p), ("stream", c_bool),
                ("calls", c_bool), ("pipeline", c_bool), ("exact", c_bool), ("missing", c_char_p)]

class situ_bound_info(Structure):
    _fields_ = [("size", c_size_t), ("stream", c_bool), ("calls", c_bool), ("pipeline", c_bool), ("name", c_char_p),
                ("title", c_char_p), ("source", c_char_p)]

class situ_staging_options(Structure):
    _fields_ = [("size", c_size_t), ("n_devices", c_int64), ("memory_bytes", c_int64), ("bytes_per_s", c_int64),
                ("micro_batches", c_int64), ("no_splits", c_bool), ("no_replicas", c_bool), ("no_recompute", c_bool),
                ("time_limit_s", c_double), ("progress", situ_staging_callback), ("context", c_void_p)]

class situ_staging_info(Structure):
    _fields_ = [("size", c_size_t), ("period_ns", c_int64), ("lower_bound_ns", c_int64), ("bound_checked", c_bool),
                ("n_stages", c_int32), ("n_layers", c_int32), ("n_devices", c_int64), ("n_devices_used", c_int64),
                ("memory_bytes", c_int64), ("bytes_per_s", c_int64), ("micro_batches", c_int64), ("seconds",
                c_double)]

class situ_staging_stage(Structure):
    _fields_ = [("split", c_int32), ("replicas", c_int32), ("layers", c_int32), ("recomputed", c_int32), ("time_ns",
                c_int64), ("size_bytes", c_int64), ("kept", c_int64), ("first", c_char_p), ("last", c_char_p)]

class situ_staging_layer(Structure):
    _fields_ = [("name", c_char_p), ("variant", c_char_p), ("stage", c_int32)]

class situ_what_if(Structure):
    _fields_ = [("change", c_char_p), ("outcome", c_int), ("value_ns", c_int64), ("lower_bound_ns", c_int64),
                ("inputs", c_int32)]

class situ_writer_info(Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("title", c_char_p), ("suffix", c_char_p), ("folder",
                c_int32), ("form", c_int32), ("marks", c_char_p)]

situ_learn_callback = CFUNCTYPE(c_bool, c_void_p, POINTER(situ_learn_progress))

situ_progress_callback = CFUNCTYPE(c_bool, c_void_p, POINTER(situ_progress))

class situ_profile_options(Structure):
    _fields_ = [("size", c_size_t), ("measure", POINTER(situ_measure_options)), ("read", POINTER(situ_read_options)),
                ("memory", c_char_p)]

class situ_instance_options(Structure):
    _fields_ = [("size", c_size_t), ("model", c_char_p), ("platform", c_char_p), ("read", POINTER(situ_read_options)),
                ("cost", POINTER(situ_cost_options)), ("problem", POINTER(situ_problem_options)), ("fix", c_char_p),
                ("unused", POINTER(c_char_p)), ("n_unused", c_int32), ("log", situ_log_callback), ("log_context",
                c_void_p), ("start", c_char_p), ("granularity", c_int), ("n_rules", c_int32), ("rules",
                POINTER(c_char_p)), ("max_ttft_ns", c_int64), ("min_speed", c_double), ("n_writers", c_int32),
                ("strict", c_bool), ("writers", POINTER(c_char_p)), ("tensor_parallel", c_char_p)]

class situ_learn_options(Structure):
    _fields_ = [("size", c_size_t), ("out", c_char_p), ("from", c_char_p), ("resume", c_bool), ("steps", c_int64),
                ("save_every", c_int64), ("time_limit_s", c_double), ("seed", c_uint64), ("teacher", c_char_p),
                ("paper", c_bool), ("variant", c_char_p), ("progress", situ_learn_callback), ("context", c_void_p)]

class situ_solve_options(Structure):
    _fields_ = [("size", c_size_t), ("solvers", c_char_p), ("time_limit_s", c_double), ("max_steps", c_int64),
                ("starts", POINTER(c_void_p)), ("n_starts", c_int32), ("no_bounds", c_bool), ("seed", c_uint64),
                ("threads", c_int32), ("progress", situ_progress_callback), ("context", c_void_p), ("policy",
                c_char_p), ("tune_steps", c_int64), ("log", situ_log_callback), ("log_context", c_void_p),
                ("tolerance", c_double), ("min_gain", c_double), ("max_parts", c_int32), ("min_part", c_int32),
                ("uncertainty", c_double), ("robust", c_bool), ("form", c_int32), ("ranks", c_void_p)]

class situ_fit_options(Structure):
    _fields_ = [("size", c_size_t), ("quantity", c_int), ("max", c_int64), ("goal", c_char_p), ("solve",
                POINTER(situ_solve_options))]

class situ_judge_options(Structure):
    _fields_ = [("size", c_size_t), ("command", c_char_p), ("format", c_char_p), ("solve",
                POINTER(situ_solve_options))]

class situ_pareto_options(Structure):
    _fields_ = [("size", c_size_t), ("points", c_int32), ("solve", POINTER(situ_solve_options))]

class situ_serving_options(Structure):
    _fields_ = [("size", c_size_t), ("max_streams", c_int64), ("solve", POINTER(situ_solve_options))]

class situ_size_options(Structure):
    _fields_ = [("size", c_size_t), ("goal", c_char_p), ("platforms", c_char_p), ("prices", c_char_p), ("all",
                c_bool), ("solve", POINTER(situ_solve_options))]


# function: (result, arguments)
FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "situ_bound_at": (c_bool, [c_int32, POINTER(situ_bound_info)]),
    "situ_bound_count": (c_int32, []),
    "situ_builtin_at": (c_bool, [c_int32, POINTER(situ_builtin_info)]),
    "situ_builtin_count": (c_int32, []),
    "situ_builtin_parameter_at": (c_bool, [c_int32, c_int32, POINTER(situ_builtin_parameter)]),
    "situ_check": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_error)]),
    "situ_communication_name": (c_char_p, [c_int]),
    "situ_compare": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_solve_options), POINTER(situ_error)]),
    "situ_comparison_at": (situ_compare_row, [c_void_p, c_int32]),
    "situ_comparison_count": (c_int32, [c_void_p]),
    "situ_comparison_free": (None, [c_void_p]),
    "situ_comparison_is_complete": (c_bool, [c_void_p]),
    "situ_comparison_problem": (c_void_p, [c_void_p]),
    "situ_contention_name": (c_char_p, [c_int]),
    "situ_cost_engine_at": (c_char_p, [c_int32]),
    "situ_cost_model_at": (c_bool, [c_int32, POINTER(situ_cost_model_info)]),
    "situ_cost_model_count": (c_int32, []),
    "situ_costs_change": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_operator_time), c_int32,
        POINTER(situ_error)]),
    "situ_costs_estimate": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_cost_options),
        POINTER(situ_error)]),
    "situ_costs_free": (None, [c_void_p]),
    "situ_costs_get_summary": (c_bool, [c_void_p, POINTER(situ_costs_summary)]),
    "situ_costs_kernel": (c_int32, [c_void_p, c_int32]),
    "situ_costs_time_ns": (c_int64, [c_void_p, c_void_p, c_int32, c_int32]),
    "situ_costs_transfer_ns": (c_int64, [c_void_p, c_void_p, c_int32, c_int32, c_int32]),
    "situ_device_family_name": (c_char_p, [c_int]),
    "situ_device_kind_at": (c_bool, [c_int32, POINTER(situ_device_kind_info)]),
    "situ_device_kind_count": (c_int32, []),
    "situ_disaggregate": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_serving_options),
        POINTER(situ_error)]),
    "situ_disaggregation_at": (situ_disaggregation_row, [c_void_p, c_int32]),
    "situ_disaggregation_count": (c_int32, [c_void_p]),
    "situ_disaggregation_free": (None, [c_void_p]),
    "situ_disaggregation_get_summary": (c_bool, [c_void_p, POINTER(situ_disaggregation_summary)]),
    "situ_disaggregation_plan": (c_void_p, [c_void_p, c_int32, c_bool]),
    "situ_dtype_bits": (c_int32, [c_int]),
    "situ_dtype_name": (c_char_p, [c_int]),
    "situ_engine_at": (c_bool, [c_int32, POINTER(situ_engine_info)]),
    "situ_engine_count": (c_int32, []),
    "situ_execution_name": (c_char_p, [c_int]),
    "situ_explain": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_error)]),
    "situ_explanation_free": (None, [c_void_p]),
    "situ_explanation_get_summary": (c_bool, [c_void_p, POINTER(situ_explanation_summary)]),
    "situ_explanation_part": (situ_part, [c_void_p, c_int32]),
    "situ_explanation_part_name": (c_char_p, [c_void_p, c_int32]),
    "situ_explanation_part_of": (c_int32, [c_void_p, c_int32]),
    "situ_explanation_share": (situ_path_share, [c_void_p, c_int32]),
    "situ_explanation_stage": (situ_stage, [c_void_p, c_int32]),
    "situ_explanation_step": (situ_path_step, [c_void_p, c_int32]),
    "situ_fit": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_fit_options),
        POINTER(situ_error)]),
    "situ_fit_quantity_name": (c_char_p, [c_int]),
    "situ_fitting_answer": (c_int32, [c_void_p]),
    "situ_fitting_at": (situ_fit_row, [c_void_p, c_int32]),
    "situ_fitting_count": (c_int32, [c_void_p]),
    "situ_fitting_finding": (c_int, [c_void_p, c_int64]),
    "situ_fitting_free": (None, [c_void_p]),
    "situ_fitting_largest": (c_int32, [POINTER(c_void_p), c_int32, c_int64]),
    "situ_fitting_weight_bytes": (c_int64, [c_void_p]),
    "situ_front_free": (None, [c_void_p]),
    "situ_front_get_summary": (c_bool, [c_void_p, POINTER(situ_front_summary)]),
    "situ_front_plan": (c_void_p, [c_void_p, c_int32]),
    "situ_front_problem": (c_void_p, [c_void_p]),
    "situ_fusion_profile_at": (c_char_p, [c_int32]),
    "situ_granularity_name": (c_char_p, [c_int]),
    "situ_graph_builder_add_guess": (None, [c_void_p, c_int, c_char_p, c_int32]),
    "situ_graph_builder_add_operator": (c_int32, [c_void_p, POINTER(situ_operator)]),
    "situ_graph_builder_add_tensor": (c_int32, [c_void_p, c_int32, POINTER(situ_tensor)]),
    "situ_graph_builder_add_use": (None, [c_void_p, c_int32, c_int32]),
    "situ_graph_builder_free": (None, [c_void_p]),
    "situ_graph_builder_new": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_error)]),
    "situ_graph_builder_status": (c_int, [c_void_p, POINTER(situ_error)]),
    "situ_graph_find": (c_int32, [c_void_p, c_char_p]),
    "situ_graph_free": (None, [c_void_p]),
    "situ_graph_freeze": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_error)]),
    "situ_graph_get_summary": (c_bool, [c_void_p, POINTER(situ_graph_summary)]),
    "situ_graph_guess_at": (c_bool, [c_void_p, c_int32, POINTER(situ_guess)]),
    "situ_graph_guess_count": (c_int32, [c_void_p]),
    "situ_graph_inputs": (c_int32, [c_void_p, c_int32, POINTER(POINTER(c_int32))]),
    "situ_graph_operator": (c_bool, [c_void_p, c_int32, POINTER(situ_operator)]),
    "situ_graph_operator_name": (c_char_p, [c_void_p, c_int32]),
    "situ_graph_outputs": (c_int32, [c_void_p, c_int32, POINTER(c_int32)]),
    "situ_graph_tensor": (c_bool, [c_void_p, c_int32, POINTER(situ_tensor)]),
    "situ_graph_tensor_producer": (c_int32, [c_void_p, c_int32]),
    "situ_graph_users": (c_int32, [c_void_p, c_int32, POINTER(POINTER(c_int32))]),
    "situ_guess_kind_name": (c_char_p, [c_int]),
    "situ_instance_export": (c_int, [c_void_p, c_void_p, c_char_p, c_char_p, POINTER(situ_error)]),
    "situ_instance_free": (None, [c_void_p]),
    "situ_instance_granularity": (c_int, [c_void_p]),
    "situ_instance_model": (c_void_p, [c_void_p]),
    "situ_instance_open": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_error)]),
    "situ_instance_problem": (c_void_p, [c_void_p]),
    "situ_judge": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_judge_options),
        POINTER(situ_error)]),
    "situ_judgement_best": (c_void_p, [c_void_p]),
    "situ_judgement_free": (None, [c_void_p]),
    "situ_judgement_get_summary": (c_bool, [c_void_p, POINTER(situ_judgement_summary)]),
    "situ_judgement_given": (c_void_p, [c_void_p]),
    "situ_judgement_model": (c_void_p, [c_void_p]),
    "situ_learn": (c_int, [POINTER(situ_learn_report), POINTER(c_int64), c_char_p, POINTER(c_void_p), c_int32,
        POINTER(situ_learn_options), POINTER(situ_error)]),
    "situ_learn_measured": (c_int, [POINTER(situ_learn_report), POINTER(situ_trials_report), POINTER(c_void_p),
        c_char_p, c_void_p, POINTER(situ_learn_options), c_int32, POINTER(situ_race_options), POINTER(situ_error)]),
    "situ_learner_at": (c_bool, [c_int32, POINTER(situ_learner_info)]),
    "situ_learner_count": (c_int32, []),
    "situ_limit_name": (c_char_p, [c_int]),
    "situ_link_fit_free": (None, [c_void_p]),
    "situ_link_fit_line": (c_bool, [c_void_p, POINTER(situ_link_line)]),
    "situ_link_fit_read": (c_int, [POINTER(c_void_p), c_char_p, c_bool, POINTER(situ_error)]),
    "situ_link_fit_sample": (situ_link_sample, [c_void_p, c_int32]),
    "situ_link_kind_at": (c_bool, [c_int32, POINTER(situ_link_kind_info)]),
    "situ_link_kind_count": (c_int32, []),
    "situ_model_assumed_dim": (c_bool, [c_void_p, c_int32, POINTER(situ_dim)]),
    "situ_model_costs": (c_void_p, [c_void_p]),
    "situ_model_free": (None, [c_void_p]),
    "situ_model_get_summary": (c_bool, [c_void_p, POINTER(situ_model_summary)]),
    "situ_model_graph": (c_void_p, [c_void_p]),
    "situ_model_platform": (c_void_p, [c_void_p]),
    "situ_model_read": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_read_options), POINTER(situ_error)]),
    "situ_nearest_name": (c_char_p, [c_char_p, POINTER(c_char_p), c_int32]),
    "situ_objective_name": (c_char_p, [c_int]),
    "situ_optimizer_name": (c_char_p, [c_int]),
    "situ_option_at": (c_bool, [c_int32, POINTER(situ_option_info)]),
    "situ_option_count": (c_int32, []),
    "situ_outcome_name": (c_char_p, [c_int]),
    "situ_overlap_name": (c_char_p, [c_int]),
    "situ_pareto": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_pareto_options), POINTER(situ_error)]),
    "situ_partition_find": (c_int, [POINTER(c_void_p), c_void_p, c_int32, POINTER(c_bool),
        POINTER(situ_partition_options), POINTER(situ_error)]),
    "situ_partition_free": (None, [c_void_p]),
    "situ_partition_get_summary": (c_bool, [c_void_p, POINTER(situ_partition_summary)]),
    "situ_partition_part": (c_bool, [c_void_p, c_int32, POINTER(situ_subgraph)]),
    "situ_partition_part_of": (c_int32, [c_void_p, c_int32]),
    "situ_path_check_writable": (c_int, [c_char_p, POINTER(situ_error)]),
    "situ_phase_name": (c_char_p, [c_int]),
    "situ_place": (c_int, [POINTER(c_void_p), POINTER(c_void_p), POINTER(situ_instance_options),
        POINTER(situ_solve_options), POINTER(situ_error)]),
    "situ_place_measured": (c_int, [POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p),
        POINTER(situ_instance_options), POINTER(situ_solve_options), c_int32, POINTER(situ_race_options),
        POINTER(situ_error)]),
    "situ_plan_by_parts_ns": (c_int64, [c_void_p]),
    "situ_plan_call": (c_int32, [c_void_p, c_int32]),
    "situ_plan_carry": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_error)]),
    "situ_plan_device": (c_int32, [c_void_p, c_int32]),
    "situ_plan_device_use": (c_bool, [c_void_p, c_int32, POINTER(situ_device_use)]),
    "situ_plan_finish_ns": (c_int64, [c_void_p, c_int32]),
    "situ_plan_free": (None, [c_void_p]),
    "situ_plan_get_summary": (c_bool, [c_void_p, POINTER(situ_plan_summary)]),
    "situ_plan_import": (c_int, [POINTER(c_void_p), POINTER(c_void_p), POINTER(situ_instance_options), c_char_p,
        POINTER(situ_error)]),
    "situ_plan_order": (c_int32, [c_void_p, POINTER(POINTER(c_int32))]),
    "situ_plan_problem": (c_void_p, [c_void_p]),
    "situ_plan_read": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_char_p, POINTER(situ_error)]),
    "situ_plan_read_with": (c_int, [POINTER(c_void_p), POINTER(c_void_p), POINTER(situ_instance_options), c_char_p,
        POINTER(situ_error)]),
    "situ_plan_robustness": (c_bool, [c_void_p, POINTER(situ_robustness)]),
    "situ_plan_start_ns": (c_int64, [c_void_p, c_int32]),
    "situ_plan_statistic": (situ_statistic, [c_void_p, c_int32]),
    "situ_plan_text": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_error)]),
    "situ_plan_transfer": (situ_transfer, [c_void_p, c_int32]),
    "situ_plan_write": (c_int, [c_void_p, c_void_p, c_char_p, POINTER(situ_error)]),
    "situ_platform_builder_add_device": (c_int32, [c_void_p, POINTER(situ_device)]),
    "situ_platform_builder_add_link": (c_int32, [c_void_p, POINTER(situ_link)]),
    "situ_platform_builder_free": (None, [c_void_p]),
    "situ_platform_builder_new": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_error)]),
    "situ_platform_builder_status": (c_int, [c_void_p, POINTER(situ_error)]),
    "situ_platform_device": (c_bool, [c_void_p, c_int32, POINTER(situ_device)]),
    "situ_platform_device_name": (c_char_p, [c_void_p, c_int32]),
    "situ_platform_find": (c_int32, [c_void_p, c_char_p]),
    "situ_platform_free": (None, [c_void_p]),
    "situ_platform_freeze": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_error)]),
    "situ_platform_get_summary": (c_bool, [c_void_p, POINTER(situ_platform_summary)]),
    "situ_platform_link": (situ_link, [c_void_p, c_int32]),
    "situ_platform_memory_bytes": (c_int64, [c_void_p, c_int32]),
    "situ_platform_memory_name": (c_char_p, [c_void_p, c_int32]),
    "situ_platform_memory_of": (c_int32, [c_void_p, c_int32]),
    "situ_platform_read": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_error)]),
    "situ_platform_write": (c_int, [c_void_p, c_char_p, POINTER(situ_error)]),
    "situ_precision_name": (c_char_p, [c_int]),
    "situ_problem_change": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_error)]),
    "situ_problem_costs": (c_void_p, [c_void_p]),
    "situ_problem_free": (None, [c_void_p]),
    "situ_problem_get_summary": (c_bool, [c_void_p, POINTER(situ_problem_summary)]),
    "situ_problem_graph": (c_void_p, [c_void_p]),
    "situ_problem_platform": (c_void_p, [c_void_p]),
    "situ_problem_pose": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_void_p, POINTER(situ_problem_options),
        POINTER(situ_error)]),
    "situ_problem_require_known": (c_int, [c_void_p, c_double, POINTER(situ_error)]),
    "situ_problem_unknown_at": (c_bool, [c_void_p, c_int32, POINTER(situ_unknown)]),
    "situ_problem_unknown_count": (c_int32, [c_void_p]),
    "situ_profile_class": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_error)]),
    "situ_profile_free": (None, [c_void_p]),
    "situ_profile_get_summary": (c_bool, [c_void_p, POINTER(situ_profile_summary)]),
    "situ_profile_model": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_profile_options), POINTER(situ_error)]),
    "situ_profile_read": (c_int, [POINTER(c_void_p), c_char_p, c_char_p, POINTER(situ_profile_options),
        POINTER(situ_error)]),
    "situ_profile_time_ns": (c_int64, [c_void_p, c_int32]),
    "situ_profile_write": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(situ_error)]),
    "situ_race_free": (None, [c_void_p]),
    "situ_race_get_summary": (c_bool, [c_void_p, POINTER(situ_race_summary)]),
    "situ_race_measured_ns": (c_int64, [c_void_p, c_int32]),
    "situ_ranks_free": (None, [c_void_p]),
    "situ_ranks_get_summary": (c_bool, [c_void_p, POINTER(situ_ranks_summary)]),
    "situ_ranks_open": (c_int, [POINTER(c_void_p), POINTER(situ_error)]),
    "situ_reader_at": (c_bool, [c_int32, POINTER(situ_reader_info)]),
    "situ_reader_count": (c_int32, []),
    "situ_replay": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_error)]),
    "situ_report_compare": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_costs": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_disaggregation": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_explain": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_family": (c_char_p, [c_int32]),
    "situ_report_family_about": (c_char_p, [c_int32]),
    "situ_report_fit": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_fit_files": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_int32, c_int64, c_int,
        POINTER(situ_report_options), POINTER(situ_error)]),
    "situ_report_inspect": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_judgement": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_learn": (c_int, [POINTER(c_void_p), POINTER(situ_learn_report), POINTER(situ_learn_row), c_int32,
        c_char_p, c_int, POINTER(situ_report_options), POINTER(situ_error)]),
    "situ_report_learn_step_json": (c_int, [POINTER(c_void_p), POINTER(situ_learn_progress), c_void_p,
        POINTER(situ_error)]),
    "situ_report_link_fit": (c_int, [POINTER(c_void_p), c_void_p, c_char_p, c_char_p, c_int,
        POINTER(situ_report_options), POINTER(situ_error)]),
    "situ_report_list": (c_int, [POINTER(c_void_p), c_char_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_page": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_page_options),
        POINTER(situ_error)]),
    "situ_report_pareto": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_plan": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_platform": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_profile": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_race": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_run": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_serving": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_size": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_stages": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_report_trials": (c_int, [POINTER(c_void_p), POINTER(situ_trials_report), c_void_p, c_int,
        POINTER(situ_report_options), POINTER(situ_error)]),
    "situ_report_verdict": (c_int, [POINTER(c_void_p), c_void_p, c_int, POINTER(situ_report_options),
        POINTER(situ_error)]),
    "situ_run_free": (None, [c_void_p]),
    "situ_run_get_summary": (c_bool, [c_void_p, POINTER(situ_run_summary)]),
    "situ_run_plan": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_run_options), POINTER(situ_error)]),
    "situ_schedule_name": (c_char_p, [c_int]),
    "situ_serve": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_serving_options),
        POINTER(situ_error)]),
    "situ_serving_at": (situ_serving_row, [c_void_p, c_int32]),
    "situ_serving_count": (c_int32, [c_void_p]),
    "situ_serving_free": (None, [c_void_p]),
    "situ_serving_impossible": (c_bool, [c_void_p]),
    "situ_serving_plan": (c_void_p, [c_void_p, c_int32, c_int32]),
    "situ_serving_streams": (c_int64, [c_void_p, c_int32, c_int32]),
    "situ_simulate": (c_int, [POINTER(c_void_p), c_void_p, POINTER(c_int32), POINTER(c_int32), POINTER(situ_error)]),
    "situ_size": (c_int, [POINTER(c_void_p), POINTER(situ_instance_options), POINTER(situ_size_options),
        POINTER(situ_error)]),
    "situ_sizing_answer": (c_int32, [c_void_p]),
    "situ_sizing_at": (situ_size_row, [c_void_p, c_int32]),
    "situ_sizing_count": (c_int32, [c_void_p]),
    "situ_sizing_free": (None, [c_void_p]),
    "situ_solve": (c_int, [POINTER(c_void_p), c_void_p, POINTER(situ_solve_options), POINTER(situ_error)]),
    "situ_solver_at": (c_bool, [c_int32, POINTER(situ_solver_info)]),
    "situ_solver_count": (c_int32, []),
    "situ_solver_serves": (c_bool, [c_char_p, c_void_p]),
    "situ_staging_find": (c_int, [POINTER(c_void_p), c_char_p, POINTER(situ_staging_options), POINTER(situ_error)]),
    "situ_staging_free": (None, [c_void_p]),
    "situ_staging_get_info": (c_bool, [c_void_p, POINTER(situ_staging_info)]),
    "situ_staging_layer_at": (situ_staging_layer, [c_void_p, c_int32]),
    "situ_staging_stage_at": (situ_staging_stage, [c_void_p, c_int32]),
    "situ_status_name": (c_char_p, [c_int]),
    "situ_text_free": (None, [c_void_p]),
    "situ_text_write": (c_int, [c_char_p, c_char_p, POINTER(situ_error)]),
    "situ_verdict_ask_engine": (c_int, [c_void_p, c_void_p, c_char_p, POINTER(situ_error)]),
    "situ_verdict_engine_bytes": (c_int64, [c_void_p, c_int32]),
    "situ_verdict_free": (None, [c_void_p]),
    "situ_verdict_get_summary": (c_bool, [c_void_p, POINTER(situ_verdict_summary)]),
    "situ_verdict_recompute": (c_int, [c_void_p, POINTER(situ_error)]),
    "situ_verdict_require_proof": (None, [c_void_p]),
    "situ_verdict_violation": (situ_violation, [c_void_p, c_int32]),
    "situ_version": (c_char_p, []),
    "situ_version_number": (c_int32, []),
    "situ_what_if_at": (situ_what_if, [c_void_p, c_int32]),
    "situ_what_if_count": (c_int32, [c_void_p]),
    "situ_what_if_find": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, POINTER(situ_solve_options),
        POINTER(situ_error)]),
    "situ_what_if_free": (None, [c_void_p]),
    "situ_write": (c_int, [POINTER(c_void_p), c_char_p, c_void_p, POINTER(situ_error)]),
    "situ_writer_at": (c_bool, [c_int32, POINTER(situ_writer_info)]),
    "situ_writer_count": (c_int32, []),
}
