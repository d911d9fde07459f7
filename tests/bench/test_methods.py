import pytest

from vebnn import JointRegressor, VeBNNRegressor
from vebnn.bench.methods import ENGINE_NAMES, METHODS, Method, find_method, split_kind
from vebnn.inference import ENGINES

# Every row of the paper's tables and curve of its figures, as they are written there.
PAPERS = [
    "ME (MSE)",
    "MVE (β-NLL)",
    "MVE (β-NLL=0.5)",
    "MVE (β-NLL=1.0)",
    "MVE (Natural)",
    "Evidential",
    "BNN-Homo (pSGLD)",
    "MVE (β-NLL=0.5 / Ensembles)",
    "MVE (Natural / Ensembles)",
    "MVE (Natural / MC-Dropout)",
    *(
        f"{strategy} ({engine})"
        for strategy in ("MVE", "VeBNN")
        for engine in ("Ensembles", "MC-Dropout", "BBB", "pSGLD")
    ),
]


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_names_are_known(name: str) -> None:
    assert find_method(name).name == name


@pytest.mark.parametrize("name", METHODS)
def test_a_name_is_one_specification(name: str) -> None:
    method = METHODS[name]
    assert method.name == name
    model = method.make()
    assert type(model) is {"joint": JointRegressor, "cooperative": VeBNNRegressor}[method.strategy]
    # All arguments are right, and the engine is the one that the name says.
    engine = model._strategy(num_rows=50).engine
    expected = "ensemble" if method.engine is None else ENGINE_NAMES[method.engine]
    assert isinstance(engine, ENGINES[expected])
    assert method.engine is None or method.engine in name
    same = [other for other in METHODS.values() if repr(other.make()) == repr(model)]
    assert same == [method]


def test_every_engine_has_both_strategies() -> None:
    assert set(ENGINE_NAMES.values()) == ENGINES.keys()
    for engine in ENGINE_NAMES:
        assert find_method(f"MVE ({engine})").strategy == "joint"
        assert find_method(f"VeBNN ({engine})").strategy == "cooperative"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ME (MSE)", {"loss": "mse"}),
        ("MVE (NLL)", {"loss": "nll"}),
        ("MVE (β-NLL)", {"loss": "beta_nll", "beta": None}),
        ("MVE (β-NLL=0.25)", {"loss": "beta_nll", "beta": 0.25}),
        ("MVE (Natural)", {"loss": "natural"}),
        ("Evidential", {"loss": "evidential"}),
        ("BNN-Homo (pSGLD)", {"variance_head": "constant", "inference": "psgld"}),
        ("MVE (SGHMC)", {"inference": "sghmc"}),
        ("MVE (Natural / MC-Dropout)", {"loss": "natural", "inference": "mc_dropout"}),
        ("VeBNN (Ensembles)", {"inference": "ensemble"}),
    ],
)
def test_names_mean_what_they_say(name: str, arguments: dict) -> None:
    assert dict(find_method(name).arguments) == arguments
    plain = (JointRegressor if name[0] != "V" else VeBNNRegressor)().get_params()
    assert find_method(name).make().get_params() == plain | arguments


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("vebnn(psgld)", "VeBNN (pSGLD)"),
        ("  MVE  ( natural/ensembles ) ", "MVE (Natural / Ensembles)"),
        ("mve (beta-nll=0.5)", "MVE (β-NLL=0.5)"),
        ("MVE (Beta-NLL)", "MVE (β-NLL)"),
        ("EVIDENTIAL", "Evidential"),
    ],
)
def test_capitals_spaces_and_greek_do_not_matter(said: str, meant: str) -> None:
    assert find_method(said) is METHODS[meant]


def test_an_unknown_name_gets_all_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"There is no method 'VeBNN \(HMC\)'") as caught:
        find_method("VeBNN (HMC)")
    assert all(name in str(caught.value) for name in METHODS)


def test_arguments_have_the_last_word() -> None:
    model = find_method("MVE (Ensembles)").make(inference="map", random_state=3)
    assert (model.inference, model.random_state) == ("map", 3)
    # And leave the specification as it was.
    assert find_method("MVE (Ensembles)").make().inference == "ensemble"
    with pytest.raises(TypeError):
        METHODS["mine"] = Method("mine", "joint", None)
    with pytest.raises(TypeError):
        METHODS["Evidential"].arguments["loss"] = "nll"


def test_a_kind_of_target_may_follow_the_name() -> None:
    assert split_kind("CatBoost / Positive") == ("CatBoost", "positive")
    assert split_kind("VeBNN (pSGHMC)/count") == ("VeBNN (pSGHMC)", "count")
    assert split_kind("MVE (Natural / Ensembles)") == ("MVE (Natural / Ensembles)", None)
    assert split_kind("folder/mine.py:ridge") == ("folder/mine.py:ridge", None)
