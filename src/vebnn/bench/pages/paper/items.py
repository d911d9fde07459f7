"""Every table and figure of the paper, in its order: the claim, the command, and what rows say."""

from collections.abc import Callable
from typing import NamedTuple

from vebnn.bench.pages.paper import images, uci
from vebnn.bench.pages.paper import known_truth as known
from vebnn.bench.pages.paper.commands import IMAGES, LOSS, PLASTICITY, SWEEP, UCI
from vebnn.bench.pages.paper.evidence import ENGINES, HOLDS, Finding, Rows

OURS, JOINT = known.OURS, "MVE (pSGLD)"
MEAN_AND_NOISE = ("rmse_percent", "wasserstein")
JOINT_OF_FIGURE = (JOINT, "MVE (Ensembles)", "MVE (β-NLL)")


class Item(NamedTuple):
    """A table, a figure or a statement of the paper."""

    name: str  # with its label in the paper's source
    claim: str
    command: str  # that runs it as published; empty: nothing to run
    hours: float  # an estimate for that command, of one core
    find: Callable[[Rows], Finding | None]
    # Why it cannot be run here, if so; a drawing has nothing to run.
    missing: str = ""


def stated(ours: str, paper: str = "") -> Callable[[Rows], Finding]:
    """Return what a test of the repository holds up."""
    return lambda folder: Finding(ours, paper, HOLDS)


def nothing(folder: Rows) -> None:
    """Return that there are no rows."""


def _pairs(*others: str) -> list[tuple[str, str]]:
    return [(OURS, other) for other in others]


ITEMS: tuple[Item, ...] = (
    Item(
        "Figure illustration",
        "Step 3 improves the mean of Step 1 away from the data, and keeps both uncertainties apart",
        "vebnn demo --preset paper",
        0.1,
        known.illustration,
    ),
    Item(
        "Table tll_uci",
        "VeBNN has the higher log-likelihood than MVE with the same engine",
        UCI,
        6,
        uci.better("tab:tll_uci", "tll"),
    ),
    Item(
        "Table tll_imgreg",
        "VeBNN has the higher log-likelihood on images",
        IMAGES,
        500,
        images.better("tab:tll_imgreg", "tll"),
    ),
    Item(
        "Figure sve_1_case_statistics",
        "VeBNN (pSGLD) has lower RMSE and WA than jointly trained methods at every number of paths",
        PLASTICITY,
        60,
        known.plasticity_wins(_pairs(*JOINT_OF_FIGURE), MEAN_AND_NOISE, "everywhere"),
    ),
    Item(
        "Figure plasticity_prediction",
        "The epistemic uncertainty of VeBNN falls with more paths",
        PLASTICITY,
        60,
        known.epistemic_shrinks,
    ),
    Item(
        "Table appa_real_results",
        "VeBNN is best by RMSE, WA and epistemic log-likelihood on APPA-REAL",
        "vebnn bench images --datasets appa-real --preset paper --seeds 5",
        100,
        nothing,
        "the photographs of APPA-REAL cannot be had here",
    ),
    Item(
        "Figure ablation_on_gamma_loss",
        "The Gamma loss of Step 2 is better than the Gaussian one, and K = 1 nearly as good as K = 2",
        LOSS,
        20,
        known.gamma_wins(("Gaussian",), MEAN_AND_NOISE, None),
    ),
    Item(
        "Table gamma_results",
        "The Gamma loss has lower RMSE and WA than β-NLL and the natural parameters",
        LOSS,
        20,
        known.gamma_wins(("β-NLL", "Natural"), MEAN_AND_NOISE, "tab:gamma_results"),
    ),
    Item(
        "Computational cost (text)",
        "K = 2 takes four times as long as MVE (pSGLD), and less than β-NLL with five β",
        "vebnn bench plasticity --preset paper --sizes 800 --repeats 1",
        4,
        known.cost,
    ),
    Item(
        "Table epistemic_ece",
        "The epistemic calibration error of VeBNN (pSGLD) is below that of MVE (pSGLD)",
        PLASTICITY,
        60,
        known.calibration_errors,
    ),
    Item(
        "Figure reliability_diagram",
        "Epistemic calibration improves with more paths",
        PLASTICITY,
        60,
        known.calibration_improves,
    ),
    Item(
        "Figure beta_vs_cuq",
        "A mean network, then a variance network, are better than one network with β-NLL",
        "vebnn bench toy --preset paper --seeds 1 --methods 'VeBNN (pSGLD),MVE (β-NLL=0.5)'",
        0.1,
        known.toy_wins(_pairs("MVE (β-NLL=0.5)"), ("mean_rmse", "noise_error")),
    ),
    Item(
        "Convexity, and no critical point (lemma)",
        "Losses of Steps 1 and 2 are convex in the outputs; the joint one is not, and has no minimum",
        "",
        0,
        stated("tests/likelihoods/test_convexity.py", "proof"),
    ),
    Item(
        "Finite-sample bias (theorem)",
        "The learned noise is the true variance plus the squared error of the mean",
        "",
        0,
        stated("tests/strategies/cooperative/test_finite_sample_bias.py", "proof"),
    ),
    Item(
        "Squared residuals are Gamma (lemma)",
        "Squared Gaussian residuals are Gamma(1/2, 1/(2σ²))",
        "",
        0,
        stated("tests/likelihoods/test_gamma.py", "proof"),
    ),
    Item("Figure mcmc_schematic", "a drawing", "", 0, nothing, "a drawing: nothing to compute"),
    Item("Figure vi", "a drawing", "", 0, nothing, "a drawing: nothing to compute"),
    Item(
        "Figure illustrative_example",
        "Cooperative training has the better mean and noise with every engine",
        "vebnn bench toy --preset paper --seeds 1 --methods paper",
        0.5,
        known.toy_wins(
            [(f"VeBNN ({engine})", f"MVE ({engine})") for engine in ENGINES],
            ("mean_rmse", "noise_error", "tll_outside"),
        ),
    ),
    *(
        item
        for noise, short, others in (
            ("heteroscedastic", "heter", ("MVE (β-NLL=0.5)", JOINT)),
            ("homoscedastic", "homo", ("MVE (β-NLL=0.5)", "BNN-Homo (pSGLD)", JOINT)),
        )
        for item in (
            Item(
                f"Figure rmse_tll_{short}_data_points",
                f"VeBNN converges first as points are added, {noise} noise",
                f"{SWEEP} {noise}",
                4,
                known.sweep_wins(noise, others, ("mean_rmse", "noise_rmse")),
            ),
            Item(
                f"Figure {short}_data_points",
                f"With few points VeBNN is the better fit, {noise} noise",
                f"{SWEEP} {noise}",
                4,
                known.sweep_wins(noise, others, ("mean_rmse",)),
            ),
        )
    ),
    Item(
        "Figure multi_modal_extension",
        "A mixture learns means and noise of two modes",
        "vebnn bench modes --seeds 3",
        0.1,
        known.two_modes,
    ),
    Item(
        "Table rmse_uci",
        "VeBNN has the lower RMSE than MVE with the same engine",
        UCI,
        6,
        uci.better("tab:rmse_uci", "rmse"),
    ),
    Item("Table coverage_uci", "Coverage is within 0.03 of 0.95", UCI, 6, uci.near_095),
    Item(
        "Table til_uci",
        "VeBNN has the shorter intervals",
        UCI,
        6,
        uci.better("tab:til_uci", "interval_length"),
    ),
    Item(
        "Table rmse_imgreg",
        "VeBNN has the lower RMSE on images",
        IMAGES,
        500,
        images.better("tab:rmse_imgreg", "rmse"),
    ),
    Item(
        "Table coverage_imgreg",
        "The coverage of VeBNN is nearer to 0.95 on images",
        IMAGES,
        500,
        images.better("tab:coverage_imgreg", "coverage"),
    ),
    Item(
        "Table til_imgreg",
        "VeBNN has the shorter intervals on images",
        IMAGES,
        500,
        images.better("tab:til_imgreg", "interval_length"),
    ),
    Item(
        "Figure image_regression_uncertainty_decomposition",
        "Epistemic uncertainty rises outside the training range of Cells-Tail",
        IMAGES,
        500,
        images.epistemic_rises,
    ),
    Item(
        "Table beta_vs_nll_imgreg",
        "Ensembles trained with NLL underfit the mean; β-NLL is better",
        f"{IMAGES} --methods loss",
        100,
        images.beta_nll_helps,
    ),
    Item(
        "Figure deep_evidential_plasticity",
        "Evidential regression is far worse than VeBNN by WA",
        f"{PLASTICITY} --methods Evidential,'VeBNN (pSGLD)'",
        10,
        known.plasticity_wins(_pairs("Evidential"), ("wasserstein",), "everywhere"),
    ),
    *(
        Item(
            f"Figure {label}",
            f"VeBNN ({engine}) has lower RMSE and WA than MVE ({engine})",
            f"{PLASTICITY} --methods 'VeBNN ({engine}),MVE ({engine})'",
            20,
            known.plasticity_wins(
                [(f"VeBNN ({engine})", f"MVE ({engine})")], MEAN_AND_NOISE, "everywhere"
            ),
        )
        for label, engine in (
            ("comparision_ensemble_plasticity", "Ensembles"),
            ("comparision_mc_dropout_plasticity", "MC-Dropout"),
        )
    ),
    Item(
        "Figure plasticity_additional_results",
        "VeBNN is better than ensembles and MC dropout with natural parameters",
        f"{PLASTICITY} --methods 'MVE (Natural / Ensembles),MVE (Natural / MC-Dropout),VeBNN (pSGLD)'",
        20,
        known.plasticity_wins(
            _pairs("MVE (Natural / Ensembles)", "MVE (Natural / MC-Dropout)"),
            MEAN_AND_NOISE,
            "everywhere",
        ),
    ),
    Item(
        "Figure additional_plot_for_plasiticity",
        "VeBNN (MC-Dropout) has the better noise than MVE (β-NLL) and MVE (MC-Dropout)",
        f"{PLASTICITY} --sizes 50,800 --repeats 1 --methods 'VeBNN (MC-Dropout),MVE (MC-Dropout)'",
        8,
        known.plasticity_wins(
            [("VeBNN (MC-Dropout)", other) for other in ("MVE (β-NLL)", "MVE (MC-Dropout)")],
            ("wasserstein",),
            "at 50 and 800 paths",
        ),
    ),
    Item(
        "Figure trajectory_of_iteration",
        "RMSE and WA hardly change after two rounds",
        "vebnn bench plasticity --preset paper --ablation rounds --sizes 800",
        12,
        known.trajectory,
    ),
    Item(
        "Figure UCI_validation_loss",
        "On Energy two rounds suffice; an untrained Step 1 needs more, and ends alike",
        "vebnn bench rounds --splits 1",
        0.05,
        known.energy_rounds,
    ),
    Item(
        "Figure Ablation_Study_Gamma_K_Additional_Metrics",
        "Coverage and length of epistemic intervals are no worse with the Gamma loss",
        LOSS,
        20,
        known.gamma_wins(("Gaussian",), ("epistemic_coverage",), None, margin=-known.MARGIN),
    ),
    Item(
        "Figure barplot_of_different_var_nets",
        "The size of the variance network matters little",
        "vebnn bench plasticity --preset paper --ablation size --sizes 800 --repeats 1",
        10,
        known.sizes,
    ),
    Item(
        "Table simulation_params_configuration",
        "Two materials that differ in the size of their elements",
        "vebnn simulate plasticity",
        4,
        stated("src/vebnn/bench/simulators/plasticity: the same numbers", "the table"),
    ),
    Item(
        "Figure sve_contour",
        "Elements and their fields",
        "vebnn simulate plasticity",
        4,
        stated("docs/images/plasticity-fields.png", "figure"),
    ),
    Item(
        "Figure plasticity_data_noise",
        "Responses of random elements scatter around their mean",
        "vebnn simulate plasticity",
        4,
        stated("docs/images/plasticity-paths.png", "figure"),
    ),
)
