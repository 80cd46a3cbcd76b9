"""Runs the tests of a module: each function test_*, by name. Returns an exit code."""


def run(module, call=lambda test: test()):
    """`call` runs a test that takes arguments."""
    failed = 0
    for name, test in sorted((n, t) for n, t in module.items() if n.startswith("test_")):
        try:
            call(test)
        except AssertionError as error:
            failed += 1
            print(f"{name}: {error}")
    print(f"{failed} failed")
    return 1 if failed else 0
