"""An MLflow flavour: fitted estimators as MLflow models, without pickle.

An MLflow model holds the folder that :meth:`vebnn.VeBNNRegressor.save` writes. As a generic Python
model (``mlflow.pyfunc``), it predicts the table of :meth:`vebnn.Prediction.to_frame`: ``mean``,
``std``, ``aleatoric_std``, ``epistemic_std``, ``lower`` and ``upper``. The extra is ``vebnn[mlflow]``.

Example:
  >>> from vebnn.estimators.mlflow import load_model, log_model
  >>> info = log_model(model, name="strength")
  >>> load_model(info.model_uri).predict_distribution(X_new)
  >>> mlflow.pyfunc.load_model(info.model_uri).predict(X_new)
"""

import json
import platform
import sys
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mlflow.artifacts
import mlflow.pyfunc
import pandas
from mlflow.models import Model

import vebnn
from vebnn.estimators.regressor import Regressor

FLAVOR_NAME = "vebnn"
_FOLDER, _REQUIREMENTS, _ENVIRONMENT = "model.vebnn", "requirements.txt", "python_env.yaml"
_KINDS = ("VeBNNRegressor", "JointRegressor", "MixtureRegressor")


def save_model(
    model: Regressor,
    path: str | PathLike[str],
    *,
    mlflow_model: Model | None = None,
    signature: Any = None,
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Save a fitted estimator as an MLflow model, in a new folder.

    Args:
      model: the estimator. One with a network or an engine of your own is refused, because MLflow could
        not load it.
      path: of the folder.
      mlflow_model: its description, which MLflow passes.
      signature: such as that of ``mlflow.models.infer_signature``.
      pip_requirements: by default this version of vebnn.
      metadata: kept in the description.
    """
    if (kind := type(model).__name__) not in _KINDS:
        raise TypeError(f"The `model` must be one of {', '.join(_KINDS)}. Got {kind}.")
    folder = Path(path)
    if folder.exists():
        raise FileExistsError(f"The `path` must be new. Got {folder}, which is there already.")
    description = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        description.signature = signature
    if metadata is not None:
        description.metadata = metadata
    with TemporaryDirectory() as trial:
        model.save(Path(trial) / _FOLDER)
        _read(Path(trial) / _FOLDER, kind)
    folder.mkdir(parents=True)
    model.save(folder / _FOLDER)
    mlflow.pyfunc.add_to_model(
        description, loader_module=__name__, data=_FOLDER, python_env=_ENVIRONMENT, estimator=kind
    )
    description.add_flavor(FLAVOR_NAME, data=_FOLDER, estimator=kind, vebnn_version=vebnn.__version__)
    requirements = pip_requirements or [f"vebnn=={vebnn.__version__}"]
    (folder / _REQUIREMENTS).write_text("\n".join(requirements) + "\n")
    environment = {
        "python": platform.python_version(),
        "build_dependencies": ["pip"],
        "dependencies": [f"-r {_REQUIREMENTS}"],
    }
    (folder / _ENVIRONMENT).write_text(json.dumps(environment, indent=1))  # JSON is YAML
    description.save(str(folder / "MLmodel"))


def log_model(model: Regressor, name: str = "model", **others: Any) -> Any:
    """Log a fitted estimator to the current run; return MLflow's ``ModelInfo``.

    Args:
      model: the estimator.
      name: of the model.
      others: arguments of :func:`save_model`, and of ``mlflow.models.Model.log``, such as
        ``registered_model_name``.
    """
    return Model.log(None, flavor=sys.modules[__name__], name=name, model=model, **others)


def load_model(model_uri: str) -> Regressor:
    """Load a logged or saved estimator.

    Args:
      model_uri: of MLflow, such as ``models:/strength/1``, ``runs:/…`` or the path of a folder.
    """
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=str(model_uri)))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(f"The model at {model_uri} must be one of vebnn. Got {', '.join(flavors)}.")
    facts = flavors[FLAVOR_NAME]
    return _read(folder / facts["data"], facts["estimator"])


class _Frames:
    """An estimator as MLflow asks it: a table in, a table out."""

    def __init__(self, model: Regressor) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pandas.DataFrame:
        """Return the table of predictions; ``params`` may hold the ``level`` of the intervals."""
        level = (params or {}).get("level", 0.95)
        return self.model.predict_distribution(model_input).to_frame(level)


def _load_pyfunc(path: str) -> _Frames:
    """Return what MLflow predicts with; ``path`` is that of the folder beside ``MLmodel``."""
    kind = Model.load(str(Path(path).parent)).flavors[FLAVOR_NAME]["estimator"]
    return _Frames(_read(Path(path), kind))


def _read(folder: Path, kind: str) -> Regressor:
    if kind not in _KINDS:
        raise ValueError(f"The estimator must be one of {', '.join(_KINDS)}. Got {kind!r}.")
    found: Regressor = getattr(vebnn, kind).load(folder)
    return found
