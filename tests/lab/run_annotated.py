"""run_annotated.py MODEL [SESSION.json]: which provider of ONNX Runtime ran each node, as JSON on stdout.

Run by a Python that has onnxruntime with a second provider. The session has no optimisation, so nodes stay what they are,
all providers of the library, the CPU last, and the settings of the file. Inputs are ones.
"""
import json
import os
import sys

import numpy
import onnxruntime

DTYPES = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32, "tensor(bool)": bool}

options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.enable_profiling = True
options.profile_file_prefix = os.path.join(os.getcwd(), "trace")
for key, text in (json.load(open(sys.argv[2])) if len(sys.argv) > 2 else {}).items():
    options.add_session_config_entry(key, text)
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=onnxruntime.get_available_providers(),
                                       enable_fallback=False)
session.disable_fallback()
shapes = {i.name: ([d if isinstance(d, int) and d > 0 else 1 for d in i.shape], DTYPES[i.type]) for i in session.get_inputs()}
session.run(None, {name: numpy.ones(shape, dtype) for name, (shape, dtype) in shapes.items()})
events = json.load(open(session.end_profiling()))
print(json.dumps({e["name"].removesuffix("_kernel_time"): e["args"]["provider"] for e in events
                  if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")}))
