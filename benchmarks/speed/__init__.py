"""How fast vebnn is: against what people write and use instead, and against the machine's limit.

``make bench`` runs all of it and writes ``docs/results/speed.md``. Every ratio is between programs that
are timed in turn within one run, because machines are noisy; each program has a process of its own.
"""
