// Two plans side by side: values, loads, and what moved.

function layerOrPart(plan, v) {
  return plan.layer && plan.layer[v] >= 0 ? plan.layers[plan.layer[v]] :
                                            'part ' + (plan.part[v] + 1) + ': ' + plan.parts[plan.part[v]].name;
}

function differenceSection(a, b) {
  const names = new Map(b.names.map((name, v) => [name, v])),
        placeOf = (plan, v) => plan.raw.devices[plan.device[v]].name;
  const moved = [], groups = new Map();
  let alone = 0;
  for (let v = 0; v < a.n; v++) {
    const w = b.names[v] === a.names[v] ? v : names.get(a.names[v]);
    if (w === undefined)
      alone++;
    else if (placeOf(a, v) !== placeOf(b, w)) {
      moved.push(v);
      const key = layerOrPart(a, v) + '\n' + placeOf(a, v) + '\n' + placeOf(b, w);
      groups.set(key, [...(groups.get(key) || []), v]);
    }
  }
  const change = (x, y) => x === null || y === null || !x ? '' :
      y === x                                             ? 'same' :
                                                            (y > x ? '+' : '-') + percent(Math.abs(y - x) / x);
  const row = (label, key, text) => [label, text(key(a)), text(key(b)), change(key(a), key(b))];
  const values = tableOf([['', ''], ['A', 'n'], ['B', 'n'], ['change', 'n']], [
    row(a.facts.objective === 'throughput' ? 'period' : 'latency', (p) => p.value, exactTime),
    row('best single device', (p) => p.facts.best_single_ns, exactTime),
    row('lower bound', (p) => p.facts.lower_bound_ns, exactTime),
    ['among', a.facts.space, b.facts.space, a.facts.space === b.facts.space ? 'same' : 'other'],
    row('parts', (p) => p.parts.length, grouped),
    row('hand-overs', (p) => p.facts.n_handovers, grouped),
    row('bytes handed over', (p) => p.facts.transfer_bytes, sizeText),
    ...a.raw.devices.map((device, d) => [device, b.raw.devices.find((other) => other.name === device.name)])
        .filter(([x, y]) => y && (x.operators || y.operators))
        .slice(0, 24)
        .map(([x, y]) => ['load of ' + x.name, timeText(x.load_ns), timeText(y.load_ns), change(x.load_ns, y.load_ns)])
  ]);
  const rows = Array.from(groups, ([key, operators]) => [...key.split('\n'), operators])
                   .sort((x, y) => y[3].length - x[3].length)
                   .slice(0, 100);
  return [
    values, element('h3', {}, `Operators that moved: ${grouped(moved.length)} of ${grouped(a.n)}`),
    alone ?
        element(
            'p', {class: 'hint'}, `${plural(alone, 'operator')} of A ${alone === 1 ? 'is' : 'are'} not in B by name`) :
        null,
    rows.length ? tableOf(
                      [['where', 'name'], ['A', 'tight'], ['B', 'tight'], ['operators', 'n'], ['work', 'n']],
                      rows.map(
                          ([where, from, to, operators]) =>
                              [where, from, to, grouped(operators.length),
                               timeText(operators.reduce((sum, v) => sum + a.raw.time[v], 0))]),
                      (k, tr) => unfoldRow(tr, 5, () => operatorList(a, rows[k][3]))) :
                  element('p', {}, 'Every operator is on the same device in both plans.')
  ];
}
