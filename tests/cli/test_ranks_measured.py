#!/usr/bin/env python3
"""Times of plans that run on several machines, as in test_ranks.py. They need the real machine for themselves.

    test_ranks_measured.py SITU [NAME...]
"""
import os
import pathlib
import signal
import sys
import time

from test_cli import main, situ
from test_ranks import Machines, begun, needed, placed, result, run_json, with_workers


def test_links_carry_what_they_are_shaped_to():
    """But for heads of packets, a burst, and what else the machine does."""
    path = needed()
    for n, rate, bytes_per_s in ((2, "400mbit", 50e6), (3, "200mbit", 25e6)):
        placed(path, n, "--execution", "pipeline", "--free")
        with Machines(n, rate) as machines:
            ran = run_json(machines.start, "--level", "none", "--items", "5", "--warm-up", "1")
        assert ran["links"]
        for link in ran["links"]:
            assert 0.6 * bytes_per_s < link["bytes_per_s"] < 1.25 * bytes_per_s, (rate, link)


def test_a_machine_that_is_slowed_down_shows_as_slow():
    """The worker of rank 1 is stopped for three quarters of the time: equal halves take unequal times."""
    path = needed()
    situ("profile", path, "--items", "5", "-o", "costs.json")
    situ("place", path, "--platform", "2*(cpu)@ethernet-1g", "--cost-table", "costs.json", "--execution", "pipeline",
         "--objective", "throughput", "--steps", "500", "-o", "plan.json")
    with Machines(2, "1gbit") as machines, begun(machines.start, "--items", "100", "--json") as process:
        worker = with_workers(process, 2)[1][-1]
        while process.poll() is None and pathlib.Path(f"/proc/{worker}").exists():
            try:
                os.kill(worker, signal.SIGSTOP)
                time.sleep(0.009)
                os.kill(worker, signal.SIGCONT)
                time.sleep(0.003)
            except ProcessLookupError:
                break
        ran = result(process)
    load = {ran["rank_of"][stage["device"]]: stage["measured_ns"] for stage in ran["stages"]}
    assert set(load) == {0, 1} and load[1] > 1.5 * load[0] and ran["outputs_equal"], load


if __name__ == "__main__":
    sys.exit(main(globals()))
