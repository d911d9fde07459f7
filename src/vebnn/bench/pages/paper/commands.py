"""The commands that run the paper as published, and what they would add to the rows."""

UCI = (
    "vebnn bench uci --preset paper --methods paper --splits 20 --datasets "
    "yacht,energy,boston,concrete,wine-red"
)
IMAGES = "vebnn bench images --preset paper --seeds 5"
PLASTICITY = "vebnn bench plasticity --preset paper --materials 1,2"
LOSS = "vebnn bench plasticity --preset paper --ablation loss-in-sample"
SWEEP = "vebnn bench sweep --preset paper --noise"

# Runs that add rows to entries which have some already: what, the command, hours on one core.
MORE = (
    ("UCI, preset paper, all methods on 20 splits", UCI, 6),
    (
        "UCI, preset paper, the three large sets",
        "vebnn bench uci --preset paper --splits 3 --datasets power,carbon,superconduct "
        "--methods 'VeBNN (pSGLD),MVE (pSGLD)'",
        6,
    ),
    (
        "UCI, standard preset, Superconduct",
        "vebnn bench uci --methods paper,baselines --datasets superconduct --splits 5",
        5,
    ),
    (
        "UCI, standard preset, 20 splits, so that tests of significance are possible",
        "vebnn bench uci --methods paper,baselines --datasets power,carbon --splits 20",
        12,
    ),
    ("Plasticity, preset paper, 50 to 1000 paths", PLASTICITY, 60),
    (
        "Toy, defaults, all methods: the table of toy.md has no committed rows",
        "vebnn bench toy --methods all --seeds 10 --out docs/results/toy-methods.jsonl",
        0.5,
    ),
    (
        "Toy, defaults, 5 to 500 points: the table of toy.md has no committed rows",
        "vebnn bench sweep --out docs/results/sweep.jsonl",
        0.5,
    ),
    (
        "Two modes: the table of mixture.md has committed rows of one seed of three",
        "vebnn bench modes --out docs/results/two-modes.jsonl",
        0.1,
    ),
    (
        "Active learning: the table of acquisition.md has no committed rows",
        "vebnn bench active --out docs/results/active.jsonl",
        1,
    ),
    (
        "Toy, preset paper, every engine",
        "vebnn bench toy --preset paper --methods paper --seeds 5",
        2,
    ),
)
