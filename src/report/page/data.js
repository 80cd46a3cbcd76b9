// The data of the page as arrays that can be asked quickly.

function sums(counts) {
  const start = new Int32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) start[i + 1] = start[i] + counts[i];
  return start;
}

function readNames(raw) {
  const names = new Array(raw.n);
  let before = '';
  for (let v = 0; v < raw.n; v++) {
    before = before.slice(0, raw.cut[v]) + raw.name[v];
    names[v] = before;
  }
  return names;
}

// Lanes with their boxes; operators and transfers learn their times from them.
function readLanes(plan, raw) {
  const nDevices = raw.devices.length;
  plan.opStart = new Float64Array(raw.n);
  plan.opEnd = new Float64Array(raw.n);
  plan.sent =
      raw.transfer_tensor.map((tensor, i) => ({tensor, memory: raw.transfer_memory[i], lane: -1, start: 0, end: 0}));
  plan.lanes = raw.lanes.map((given, index) => {
    const n = given.item.length, start = new Float64Array(n), end = new Float64Array(n);
    const lane = {index, link: given.lane >= nDevices, start, end, item: given.item, busy: 0};
    lane.device = lane.link ? -1 : given.lane;
    lane.number = lane.link ? given.lane - nDevices : -1;
    lane.name = lane.link ? plan.linkName(lane.number) : raw.devices[given.lane].name;
    for (let i = 0, at = 0; i < n; i++) {
      start[i] = at + given.start[i];
      at = end[i] = start[i] + given.length[i];
      lane.busy += given.length[i];
      const item = given.item[i];
      if (item >= 0 && (plan.device[item] === lane.device)) plan.opStart[item] = start[i], plan.opEnd[item] = end[i];
      if (item <= -2 && !plan.pipeline)
        Object.assign(plan.sent[-2 - item], {lane: index, start: start[i], end: end[i]});
    }
    return lane;
  });
}

function readTensors(plan, raw) {
  plan.outStart = sums(raw.makes);
  plan.inStart = sums(raw.reads);
  plan.inTensor = new Int32Array(raw.read.length);
  plan.producer = new Int32Array(raw.size.length);
  plan.size = raw.size;
  for (let v = 0; v < raw.n; v++) {
    for (let i = plan.inStart[v]; i < plan.inStart[v + 1]; i++) plan.inTensor[i] = plan.outStart[v] - raw.read[i];
    for (let t = plan.outStart[v]; t < plan.outStart[v + 1]; t++) plan.producer[t] = v;
  }
  plan.everywhere = new Set(raw.everywhere);
}

// Users of tensors, made when first asked for.
function usersOf(plan, tensor) {
  if (!plan.useStart) {
    const counts = new Int32Array(plan.size.length);
    for (const t of plan.inTensor) counts[t]++;
    plan.useStart = sums(counts);
    plan.users = new Int32Array(plan.inTensor.length);
    const at = plan.useStart.slice();
    for (let v = 0; v < plan.n; v++)
      for (let i = plan.inStart[v]; i < plan.inStart[v + 1]; i++) plan.users[at[plan.inTensor[i]]++] = v;
  }
  return plan.users.subarray(plan.useStart[tensor], plan.useStart[tensor + 1]);
}

// What goes to another memory, once for each tensor and memory that receives it: {tensor, from, to, op}.
function handovers(plan) {
  if (plan.handed) return plan.handed;
  const found = [];
  for (let t = 0; t < plan.size.length; t++) {
    if (plan.everywhere.has(t)) continue;
    const from = plan.device[plan.producer[t]], seen = new Set([plan.raw.devices[from].memory]);
    for (const user of usersOf(plan, t)) {
      const memory = plan.raw.devices[plan.device[user]].memory;
      if (seen.has(memory)) continue;
      seen.add(memory);
      found.push({tensor: t, from, to: plan.device[user], user});
    }
  }
  plan.handed = found;
  return found;
}

function outputBytes(plan, v) {
  let bytes = 0;
  for (let t = plan.outStart[v]; t < plan.outStart[v + 1]; t++) bytes += plan.size[t];
  return bytes;
}

function readPlan(raw) {
  const facts = raw.facts;
  const plan = {
    raw,
    facts,
    n: raw.n,
    device: raw.device,
    part: raw.part,
    kind: raw.kind,
    layer: raw.layer || null,
    layers: raw.layers || [],
    names: readNames(raw),
    pipeline: facts.execution === 'pipeline',
    calls: facts.execution === 'calls',
    value: facts.value_ns,
    span: raw.span_ns,
    path: raw.path,
  };
  plan.linkName = (l) => raw.devices[raw.links[l].from].name + ' > ' + raw.devices[raw.links[l].to].name;
  plan.deviceColour = raw.devices.map((device) => COLOURS[device.colour]);
  readTensors(plan, raw);
  readLanes(plan, raw);
  plan.laneOf = {};
  for (const lane of plan.lanes)
    if (!lane.link) plan.laneOf[lane.device] = lane;
  plan.kindColour = raw.kind_colour.map((k) => COLOURS[k]);
  plan.kinds = raw.kinds.map((_, k) => k).filter((k) => raw.kind_colour[k] < OTHER);
  plan.parts = raw.parts.map(([device, first, last, operators, working, work,
                               name]) => ({device, first, last, operators, working, work, name}));
  plan.onPath = new Set(raw.path);
  return plan;
}
