"""The report's numbers, words and figures; a real browser looks at it in tests/e2e."""

import copy
import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from alloys import TARGETS, alloys
from tests.support.evil import EVIL, make_evil
from vebnn.estimators import Spread
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.report import figures
from vebnn.tabular.report.effects import effect_figures, effects_of
from vebnn.tabular.report.explanation import least_known
from vebnn.tabular.report.findings import Findings, find_out, unusual_values
from vebnn.tabular.report.page import as_script, write_report
from vebnn.tabular.report.relevance import relevance_figure
from vebnn.tabular.report.summary import number, reading, summarise
from vebnn.tabular.report.training import training_figures


@pytest.fixture(scope="module")
def model(alloys_model: Path) -> TableModel:
    return TableModel.load(alloys_model)


@pytest.fixture(scope="module")
def findings(model: TableModel) -> Findings:
    return find_out(model, alloys(), "alloys.csv")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-4.3184, "−4.318"),
        (123.456, "123.5"),
        (1234567.8, "1,234,568"),
        (0.012345, "0.01235"),
        (3.0, "3"),
        (1.5e-7, "1.500e-7"),
        (2.5e9, "2.500e9"),
        (float("nan"), "–"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_scores_are_of_rows_not_trained_on(findings: Findings, model: TableModel) -> None:
    assert findings.evaluation.fresh
    assert findings.evaluation.scored.sum() == 16
    assert [one.score.rmse for one in findings.targets] == pytest.approx(
        [score.rmse for score in model.facts.scores], rel=1e-5
    )


def test_report_on_training_rows_says_so(findings: Findings, model: TableModel) -> None:
    flattering = find_out(model, alloys()[findings.evaluation.trained], "alloys.csv")
    assert not flattering.evaluation.fresh
    assert "it was trained on, which flatters it" in summarise(flattering, flattering.targets[0])[0]


def test_opening_is_three_sentences(findings: Findings) -> None:
    sentences = summarise(findings, findings.targets[0])
    assert len(sentences) == 3
    assert all(sentence.endswith(".") for sentence in sentences)
    assert sentences[0].startswith("On 16 rows it had not seen")
    least = int(np.argmax(findings.targets[0].epistemic_std)) + 1
    assert f"row {least} (sample S-{least - 1:04d})" in sentences[2]


def test_the_first_paragraph_says_that_chains_disagree(model: TableModel, tmp_path: Path) -> None:
    estimator = copy.copy(model.estimator)
    found = estimator.diagnostics_
    estimator.diagnostics_ = found._replace(r_hat=0 * found.r_hat + 1.3)
    opening = []
    for one in (model, dataclasses.replace(model, estimator=estimator)):
        write_report(one, alloys(), tmp_path / "r.html", data_name="a", model_name="b")
        page = (tmp_path / "r.html").read_text()
        opening.append(re.findall(r'<p class="lead.*?</p>', page)[0])
    assert model.estimator.diagnostics_.mixed
    assert "On 16 rows it had not seen" in opening[0]
    assert "The chains of the model disagree" in opening[1]
    assert "may be too small" in opening[1]


def test_least_known_rows_are_explained(findings: Findings, model: TableModel) -> None:
    frame = findings.frame.copy()
    frame.loc[5, "temperature"] = 900.0  # training ends at 400
    unlike = find_out(model, frame, "alloys.csv")
    found = least_known(unlike, unlike.targets[0])
    assert found.rows[0] == 5
    expected = model.explain(frame.iloc[[5]])
    base, values, predicted = expected.output("epistemic_std", TARGETS[0])
    first = found.reasons[0]
    assert first.row == 6
    ratio = f"{predicted[0] / base:.2g}"
    assert first.sentence.startswith(f"ignorance {ratio} × typical, mostly from temperature; noise")
    drawn = found.figure()
    go.Figure(resolved(drawn))  # Plotly knows every property
    order = np.argsort(-np.abs(values[0]))
    assert drawn["layout"]["yaxis"]["ticktext"] == [expected.features[number] for number in order]
    np.testing.assert_allclose(drawn["data"][0]["x"], values[0][order], rtol=1e-4, atol=1e-4 * base)
    noise = expected.output("aleatoric_std", TARGETS[0]).values[0]
    np.testing.assert_allclose(drawn["data"][1]["x"], noise[order], rtol=1e-3, atol=1e-3 * base)


def test_reading() -> None:
    assert reading(1.0, 2.0) == "more data near here would help"
    assert reading(3.0, 2.0) == "more data would help a little"  # 4 of 13 parts of the variance
    assert reading(3.0, 1.0) == "more data will not help"


def test_unusual_rows_are_explained(model: TableModel) -> None:
    frame = alloys(10)
    frame.loc[2, "alloy"] = "2024"
    frame.loc[2, "temperature"] = 900.0
    strange = find_out(model, frame, "new.csv")
    assert unusual_values(strange, 2) == [
        "alloy '2024' was never seen in training",
        "temperature is above the training range",
    ]


def test_reliability_of_perfect_and_of_hopeless_predictions(findings: Findings) -> None:
    target = findings.targets[0]
    np.testing.assert_allclose(target.error, (target.observed - target.mean) / target.std)
    perfect = dataclasses.replace(target, error=0 * target.error)
    hopeless = dataclasses.replace(target, error=np.full_like(target.error, 100))
    for one, found in ((perfect, 1.0), (hopeless, 0.0)):
        *_, trace = figures.reliability(findings, one)["data"]
        assert trace["y"] == [found] * 19
    # One standard deviation off: outside the 65 % interval, inside the 70 % one.
    shifted = dataclasses.replace(target, error=np.ones_like(target.error))
    *_, trace = figures.reliability(findings, shifted)["data"]
    assert dict(zip(np.round(trace["x"], 2), trace["y"], strict=True))[0.65] == 0
    assert dict(zip(np.round(trace["x"], 2), trace["y"], strict=True))[0.7] == 1


def test_effects_are_averages_over_real_rows(model: TableModel) -> None:
    effects = effects_of(model)
    assert {one.column.name for one in effects} == {"alloy", "temperature", "ageing", "annealed"}
    assert {effects[0].column.name, effects[1].column.name} == {"alloy", "temperature"}
    by_name = {one.column.name: one for one in effects}
    assert len(model.sample) <= 100  # so that all of them are averaged
    real = alloys()[model.was_trained_on(alloys())]
    for name, at in (("temperature", 7), ("alloy", 1)):
        effect = by_name[name]
        expected = model.predict(real.assign(**{name: effect.places[at]})).prediction
        np.testing.assert_allclose(effect.mean[at], expected.mean.mean(0), rtol=1e-4)
        for part in ("aleatoric_std", "epistemic_std"):
            averages = getattr(expected, part).mean(0)
            np.testing.assert_allclose(getattr(effect, part)[at], averages, rtol=1e-3)


def test_each_panel_of_an_effect_has_its_own_axis(model: TableModel) -> None:
    effects = effects_of(model)
    for one, drawn in zip(effects, effect_figures(model, effects, 0), strict=True):
        curves = [trace for trace in drawn["data"] if trace.get("hovertemplate")]
        assert [trace["yaxis"] for trace in curves] == ["y", "y2", "y3"]
        for name, trace in zip(("mean", "aleatoric_std", "epistemic_std"), curves, strict=True):
            values = getattr(one, name)[:, 0]
            np.testing.assert_allclose(trace["y"], values)
            low, high = drawn["layout"][trace["yaxis"].replace("y", "yaxis")]["range"]
            assert low < values.min() < values.max() < high
            # As much room as the curve needs, but a tenth of what is usual at least.
            usual = model.facts.targets[0].std if name == "mean" else values.mean()
            assert high - low == pytest.approx(max(1.2 * np.ptp(values), 0.1 * usual))


def test_relevance_of_a_category_is_that_of_its_columns_together(model: TableModel) -> None:
    relevance, of_inputs = model.relevance, model.estimator.relevance_
    assert relevance.names == ("alloy", "temperature", "ageing", "annealed")
    assert len(of_inputs.names) == len(model.encoder.encoded_names) > 4
    scales = dict(zip(of_inputs.names, of_inputs.scale.mean, strict=True))
    largest = max(scales[name] for name in scales if name.startswith("alloy = "))
    assert relevance.scale.mean[0] == largest
    assert set(relevance.order[:2]) == {0, 1}  # as the effects say


@pytest.mark.parametrize(("low", "high", "labels"), [(0.4, 4, 24), (0.01, 100, 8)])
def test_a_short_axis_of_scales_has_more_labels(low: float, high: float, labels: int) -> None:
    one = np.ones(1)
    scale, effect = Spread(one, low * one, high * one), Spread(one, one, one)
    relevance = SimpleNamespace(names=("a",), scale=scale, effect=effect, order=np.zeros(1, int))
    axis = relevance_figure(relevance)["layout"]["xaxis2"]
    assert sum(label != "" for label in axis["ticktext"]) == labels


def test_relevance_is_drawn_from_the_largest_effect_down(model: TableModel) -> None:
    relevance = model.relevance
    drawn = relevance_figure(relevance)
    names = drawn["layout"]["yaxis"]["ticktext"]
    assert names == [relevance.names[number] for number in relevance.order]
    bars, dots = drawn["data"][:2]
    assert dots["x"] == sorted(relevance.effect.mean.tolist(), reverse=True)
    first = relevance.order[0]
    assert bars["x"][0] + bars["error_x"]["array"][0] == pytest.approx(relevance.effect.upper[first])
    assert bars["x"][0] - bars["error_x"]["arrayminus"][0] == pytest.approx(
        relevance.effect.lower[first]
    )


def test_report_shows_relevance_only_where_it_is_learned(model: TableModel, tmp_path: Path) -> None:
    estimator = copy.copy(model.estimator)
    estimator.relevance_ = None
    pages = []
    for one in (model, dataclasses.replace(model, estimator=estimator)):
        write_report(one, alloys(), tmp_path / "r.html", data_name="a", model_name="b")
        pages.append((tmp_path / "r.html").read_text())
    mean, lower, upper = (part[1] for part in model.relevance.effect)
    assert f"{mean:.2f} ({lower:.2f} to {upper:.2f})</td>" in pages[0]
    assert ["Which columns matter?" in page for page in pages] == [True, False]
    assert ["effect (95 % range)" in page for page in pages] == [True, False]


def resolved(value):
    """Return a specification with colours for names, as the page makes them."""
    if isinstance(value, dict):
        return {name: resolved(item) for name, item in value.items()}
    if isinstance(value, list):
        return [resolved(item) for item in value]
    return "#123456" if isinstance(value, str) and value.startswith("$") else value


def test_every_figure_is_one_plotly_understands(findings: Findings, model: TableModel) -> None:
    target = findings.targets[1]
    drawn = [
        figures.predicted_and_observed(findings, target),
        figures.map_of_uncertainties(findings, target),
        figures.reliability(findings, target),
        figures.residuals(findings, target),
        *effect_figures(model, effects_of(model), 1),
        *training_figures(model.estimator).values(),
        relevance_figure(model.relevance),
    ]
    for figure in drawn:
        assert go.Figure(resolved(figure)).data


def test_script_cannot_be_ended_by_data() -> None:
    assert "</script>" not in as_script({"name": "</script><script>alert(1)</script>"})


@pytest.fixture(scope="module")
def evil_report(model: TableModel, tmp_path_factory: pytest.TempPathFactory) -> str:
    evil, names = make_evil(model)
    path = tmp_path_factory.mktemp("evil") / "report.html"
    frame = alloys().rename(columns=names)
    frame.loc[0, "alloy"] = EVIL
    write_report(evil, frame, path, data_name=EVIL, model_name=EVIL)
    return path.read_text()


class Elements(HTMLParser):
    """Counts elements, and keeps the attributes of images."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)


def test_nothing_of_the_users_file_becomes_markup(evil_report: str) -> None:
    elements = Elements()
    elements.feed(evil_report)
    assert elements.tags.count("script") == 3
    assert "img" not in elements.tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in evil_report


def test_report_needs_no_network(evil_report: str) -> None:
    # Plotly's own code names addresses; the page itself must not load any.
    page = re.sub(r"<script>.*?</script>", "", evil_report, flags=re.DOTALL)
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    assert "@import" not in page


def test_table_without_targets(model: TableModel, tmp_path: Path) -> None:
    frame = alloys().drop(columns=TARGETS[0])
    with pytest.raises(TableError, match="no target column"):
        write_report(model, frame, tmp_path / "r.html", data_name="a", model_name="b")
    assert not any(tmp_path.iterdir())
