"""Links, commands and code blocks of the pages work."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas
import pytest
import typer

import vebnn
from alloys import alloys
from tests.support.commands import run
from tests.support.linear import flatten
from trust.release import versions
from vebnn.cli.main import commands
from vebnn.training import SILENT

ROOT = Path(vebnn.__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_EXAMPLES = [
    "README.md",
    "docs/index.md",
    "docs/metrics.md",
    "docs/acquisition.md",
    "docs/baselines.md",
    "docs/benchmark.md",
    "docs/benchmark-tables.md",
    "docs/calibration.md",
    "docs/cells-data.md",
    "docs/correlated-noise.md",
    "docs/dependent-noise.md",
    "docs/engines.md",
    "docs/explanations.md",
    "docs/faq.md",
    "docs/heavy-tails.md",
    "docs/image-data.md",
    "docs/mixture.md",
    "docs/pipelines.md",
    "docs/plasticity-data.md",
    "docs/plots.md",
    "docs/relevance.md",
    "docs/targets.md",
    "docs/which-method.md",
    "docs/tutorials/tabular.md",
    "docs/tutorials/sequences.md",
    "docs/tutorials/custom-network.md",
    "docs/tutorials/images.md",
]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run_as_they_are(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(ROOT / name)
    assert blocks
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, name, "exec"), namespace)


@pytest.mark.parametrize("name", [*WITH_EXAMPLES, "docs/command-line.md"])
def test_examples_are_python(name: str) -> None:
    for block in python_blocks(ROOT / name):
        compile(block, name, "exec")


def commands_of(page: Path) -> list[list[str]]:
    """Return the vebnn commands in the code blocks of a page."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("vebnn ")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_have_these_options(page: Path) -> None:
    group = typer.main.get_command(commands)
    for name, *arguments in commands_of(page):
        context = group.commands[name].make_context(name, arguments)  # fails for unknown options
        assert context.command.name == name


@pytest.mark.slow
def test_commands_of_the_readme_work_one_after_another(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    typed = [words for words in commands_of(ROOT / "README.md") if words[0] != "serve"]
    assert [words[0] for words in typed] == ["fit", "predict", "evaluate", "suggest", "report"]
    for words in typed:
        finished = run(*words, cwd=tmp_path)
        assert finished.returncode == 0, finished.stderr
    (block,) = python_blocks(ROOT / "docs" / "command-line.md")
    code = [sys.executable, "-c", block]
    subprocess.run(code, cwd=tmp_path, check=True, capture_output=True)


def test_example_table_is_what_its_script_makes() -> None:
    there = pandas.read_csv(ROOT / "examples" / "alloys.csv", dtype={"alloy": str})
    pandas.testing.assert_frame_equal(there, alloys(240), check_dtype=False)


@pytest.fixture(scope="module")
def sgld(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Save the engine of CONTRIBUTING.md to a file and import it."""
    (code,) = python_blocks(ROOT / "CONTRIBUTING.md")
    path = tmp_path_factory.mktemp("engine") / "sgld_of_contributing.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_engine_of_the_contributors_guide_finds_the_posterior(sgld: ModuleType, linear, key) -> None:
    engine = sgld.SGLD(num_samples=400, burn_in=500, thinning=20, num_chains=2, step_size=5e-4)
    posterior = engine.run(key, linear.problem, SILENT)
    draws = flatten(posterior.draws).reshape(-1, 3)
    std = np.sqrt(np.diag(linear.covariance))
    assert posterior.markov
    # 800 draws, nearly independent: four standard errors are about 0.15 standard deviations.
    np.testing.assert_array_less(np.abs(draws.mean(0) - linear.mean) / std, 0.2)
    np.testing.assert_allclose(draws.std(0) / std, 1, atol=0.2)


def test_engine_of_the_contributors_guide_has_settings_by_name(sgld: ModuleType) -> None:
    small, large = sgld.SGLD.for_rows(100), sgld.SGLD.for_rows(100_000)
    assert small.burn_in == 2_000
    assert large.burn_in < small.burn_in


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_readme_begins_with_title_and_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme.startswith("# vebnn\n")
    assert re.findall(r"make \w+", readme.split("```")[1]) == ["make demo", "make test"]
    assert len(readme.splitlines()) <= 110


def test_versions_agree() -> None:
    assert set(versions().values()) == {vebnn.__version__}
