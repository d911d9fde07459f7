import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vebnn.bench.simulators.plasticity import NotConverged, Solver, simulate
from vebnn.bench.simulators.plasticity.generate import generate, noise_to_signal
from vebnn.bench.simulators.plasticity.plan import Plan, draw_inputs, draw_weights
from vebnn.datasets.plasticity import SAMPLE_FOLDER, load_plasticity
from vebnn.serialization.arrays import write_part

SMALL = Plan(material=2, train=4, test=2, sves=3, grid=8, steps=6, seed=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set made in one go, by this process."""
    return generate(SMALL, tmp_path_factory.mktemp("whole"), num_workers=1)


def contents(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), path.with_suffix(".json").read_bytes()


def test_file_has_the_documented_arrays(whole: Path) -> None:
    with np.load(whole) as file:
        shapes = {name: array.shape for name, array in file.items()}
        residuals = np.concatenate([file["residual"].ravel(), file["test_residual"].ravel()])
        assert all(array.dtype in (np.float32, np.int64) for array in file.values())
        assert set(file["sve_id"]) <= {0, 1, 2}
    assert shapes == {
        "strain": (4, 6, 3),
        "stress": (4, 6, 3),
        "sve_id": (4,),
        "test_strain": (2, 6, 3),
        "test_stress": (2, 3, 6, 3),
        "centres": (3, 10, 2),
        "residual": (4, 6),
        "test_residual": (2, 3, 6),
    }
    assert ((residuals > 0) & (residuals <= 1e-3)).all()
    assert sorted(path.name for path in whole.parent.iterdir()) == ["material_2.json", "material_2.npz"]


def test_every_stress_can_be_computed_from_the_file_again(whole: Path) -> None:
    with np.load(whole) as file:
        arrays = dict(file)
    weights = draw_weights(SMALL, arrays["centres"])
    again = simulate(weights[arrays["sve_id"][3]], arrays["strain"][3]).stress
    np.testing.assert_array_equal(arrays["stress"][3], again.astype(np.float32))
    again = simulate(weights[2], arrays["test_strain"][1]).stress
    np.testing.assert_array_equal(arrays["test_stress"][1, 2], again.astype(np.float32))


def test_reader_understands_it(whole: Path) -> None:
    data = load_plasticity(2, whole.parent)
    assert data.stress.shape == (4, 6, 3)
    assert (data.test_std > 0).all()


def test_description(whole: Path) -> None:
    document = json.loads(whole.with_suffix(".json").read_bytes())
    plan, found = document["plan"], document["found"]
    assert plan["sizes"] == {"train": 4, "test": 2, "sves": 3, "grid": 8, "steps": 6}
    assert plan["seed"] == 1
    assert plan["units"]["stress"] == "MPa"
    assert plan["microstructure"]["particles"] == 10
    assert plan["constituents"]["matrix"] == {"young": 100.0, "poisson": 0.3}
    assert plan["solver"]["tolerance"] == 1e-3
    assert set(document["versions"]) == {"vebnn", "jax", "numpy"}
    with np.load(whole) as file:
        stress = file["test_stress"].astype(float)
        assert found["largest_residual"] == max(file["residual"].max(), file["test_residual"].max())
    spread = np.sqrt(np.mean(np.var(stress, 1, ddof=1)))
    assert found["noise_to_signal"] == pytest.approx(spread / np.sqrt(np.mean(stress.mean(1) ** 2)))
    assert found["noise_to_signal"] == noise_to_signal(stress)


def test_finished_data_are_left_alone(whole: Path) -> None:
    before = contents(whole), whole.stat().st_mtime_ns
    reports: list[tuple[int, int]] = []
    more_patient = replace(SMALL, solver=Solver(max_newton=200))
    generate(more_patient, whole.parent, report=lambda *numbers: reports.append(numbers))
    assert (contents(whole), whole.stat().st_mtime_ns) == before
    assert reports == []


def test_parts_of_a_run_killed_at_its_end_are_deleted(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("vebnn.bench.simulators.resumable.shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            generate(SMALL, tmp_path, num_workers=1)
    assert (tmp_path / "material_2.parts").exists()
    assert contents(generate(SMALL, tmp_path, num_workers=1)) == contents(whole)
    assert not (tmp_path / "material_2.parts").exists()


def test_other_data_are_not_overwritten(whole: Path) -> None:
    before = contents(whole)
    with pytest.raises(ValueError, match=r"material_2.json describes .* other settings"):
        generate(replace(SMALL, seed=2), whole.parent)
    assert contents(whole) == before


def test_strangers_are_not_overwritten(tmp_path: Path) -> None:
    stranger = tmp_path / "material_2.npz"
    stranger.write_text("mine")
    with pytest.raises(ValueError, match="made by something else"):
        generate(SMALL, tmp_path)
    stranger.with_suffix(".json").write_text("[]")
    with pytest.raises(ValueError, match="other settings"):
        generate(SMALL, tmp_path)
    assert stranger.read_text() == "mine"


def test_failure_names_path_element_and_step_and_keeps_what_is_done(
    tmp_path: Path, whole: Path
) -> None:
    impatient = replace(SMALL, solver=Solver(max_newton=2))
    with pytest.raises(NotConverged, match=r"Step \d of (training|test) path \d on SVE \d did not"):
        generate(impatient, tmp_path, num_workers=1)
    assert not (tmp_path / "material_2.npz").exists()
    # With more patience the same call succeeds: what is kept does not depend on it.
    assert contents(generate(SMALL, tmp_path, num_workers=1)) == contents(whole)


def test_parts_of_other_settings_are_refused(tmp_path: Path) -> None:
    stale = tmp_path / "material_2.parts" / "000000.part.safetensors"
    write_part(stale, {"stress": np.zeros(1)}, "other")
    with pytest.raises(
        ValueError, match=r"other data, settings.* Delete the folder .*material_2.parts"
    ):
        generate(SMALL, tmp_path, num_workers=1)


@pytest.mark.slow
@pytest.mark.parametrize("material", [1, 2])
def test_sample_in_the_package_is_what_the_simulator_makes(material: int) -> None:
    plan = Plan(material, train=100, test=10, sves=30)
    path = SAMPLE_FOLDER / f"{plan.name}.npz"
    assert json.loads(path.with_suffix(".json").read_bytes())["plan"] == plan.description()
    with np.load(path) as file:
        arrays = dict(file)
    inputs = draw_inputs(plan)
    for name, drawn in inputs._asdict().items():
        np.testing.assert_array_equal(arrays[name], drawn)
    weights = draw_weights(plan, inputs.centres)
    again = simulate(weights[inputs.sve_id[7]], inputs.strain[7]).stress
    # Another processor may round otherwise, and take one iteration more or less.
    np.testing.assert_allclose(arrays["stress"][7], again, atol=1e-4)


def test_larger_plans_begin_with_smaller_ones() -> None:
    small, large = draw_inputs(SMALL), draw_inputs(replace(SMALL, train=9, test=5, sves=3))
    for name in ("strain", "sve_id", "test_strain", "centres"):
        few, many = getattr(small, name), getattr(large, name)
        np.testing.assert_array_equal(few, many[: len(few)])


def test_seeds_and_materials() -> None:
    one, other = draw_inputs(SMALL), draw_inputs(replace(SMALL, seed=2))
    assert not np.allclose(one.strain, other.strain)
    assert not np.allclose(one.centres, other.centres)
    # The same paths for both materials: what differs is the material.
    np.testing.assert_array_equal(one.strain, draw_inputs(replace(SMALL, material=1)).strain)
    assert not np.allclose(one.strain[:2], one.test_strain)
