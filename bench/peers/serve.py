"""The line protocol between the benchmark runner and a peer: one JSON request a line, one JSON answer a line.

{"op": "load", "bench", "threads", "settings", "inputs": {name: {"shape", "data"}}} -> {"ok": true}
{"op": "time", "repeat": k} -> {"ms": best of k runs}
{"op": "values"}            -> {"values": {name: flat list}}

A benchmark is a function (inputs, settings) -> (run, values): run() is timed, values() is not.
"""

import json
import sys
import time


def best_of(repeat, run):
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def serve(benchmarks, array, set_threads, about):
    """Answers requests until stdin closes. `array(data, shape)` makes one of the peer's own arrays."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # a stray print must not break the protocol
    print(json.dumps({"about": about}), file=answers, flush=True)
    run = values = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["op"] == "load":
                set_threads(request["threads"])
                inputs = {name: array(a["data"], a["shape"]) for name, a in request["inputs"].items()}
                run, values = benchmarks[request["bench"]](inputs, request["settings"])
                answer = {"ok": True}
            elif request["op"] == "time":
                answer = {"ms": best_of(request["repeat"], run)}
            else:
                answer = {"values": values()}
        except Exception as error:  # the runner reports it and goes on
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
