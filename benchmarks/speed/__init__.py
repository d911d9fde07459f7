"""How fast vebnn is, against plain PyTorch, other libraries and the limit of the machine.

``make bench`` runs all of it and writes ``docs/results/speed.md``. Every ratio is between programs that
are timed in turn within one run, because machines are noisy; each program has its own process.
"""
