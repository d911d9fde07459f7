"""Names that must never be executed by a page that shows them."""

import copy
import dataclasses

import numpy as np

from alloys import TARGETS
from vebnn.tabular.model import TableModel

EVIL = "<script>alert(1)</script>"


def make_evil(model: TableModel) -> tuple[TableModel, dict[str, str]]:
    """Rename a feature, a category, an identifier and a target to what must not be executed."""
    names = {"temperature": EVIL, TARGETS[0]: f"<b>{EVIL}", "sample": '"><img src=x onerror=alert(1)>'}
    columns = tuple(
        dataclasses.replace(column, name=names.get(column.name, column.name))
        for column in model.encoder.columns
    )
    targets = tuple(names.get(name, name) for name in model.targets)
    encoder = dataclasses.replace(
        model.encoder, columns=columns, targets=targets, identifiers=(names["sample"],)
    )
    estimator = copy.copy(model.estimator)
    estimator.feature_names_in_ = np.array(encoder.encoded_names, object)
    evil_targets = tuple(
        one._replace(name=name) for one, name in zip(model.facts.targets, targets, strict=True)
    )
    facts = dataclasses.replace(model.facts, targets=evil_targets, notices=(EVIL,), source=EVIL)
    return dataclasses.replace(model, encoder=encoder, estimator=estimator, facts=facts), names
