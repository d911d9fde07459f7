"""The words of the page of ``vebnn bench images``."""

TEXT = """# Images

Regression on images: cells to be counted and digits whose rotation is to be found. The methods are
those of the paper's image tables. The sets Cells-Gap and Cells-Tail are tested on counts that are not
among the training images; rotated digits are tested on larger rotations and on digits that were not
among the training images, and their mean and noise are known.

```sh
ROWS=docs/results/images.jsonl
vebnn bench images --preset small --datasets cells,cells-gap,cells-tail,rotated-digits --out $ROWS
vebnn bench images --preset small --datasets cells,cells-gap,cells-tail --methods loss --out $ROWS
vebnn bench page $ROWS --out docs/results/images.md
```

The rows are in [images.jsonl](images.jsonl); the last command writes this page from them. `small` is a
narrow residual network on a few thousand small images, which two cores can train. `paper` is ResNet-34
with the paper's lengths, and needs an accelerator. The cells are generated
(`vebnn simulate cells`), so that the paper's numbers, which are shown below ours, are of other images
and of a network that is far larger.

**These rows.** Step size of the chains and shifts of the images were chosen on other images; the number
of folds and the burn-in were changed after a first run on these, and digits that are about as wide as
high were then left out, because their angle cannot be read. There is one seed. The machine did other
work, and the fits of VeBNN (Ensembles) and MVE (pSGLD) on cells-gap were paused for about 15 minutes,
so that seconds are upper bounds.

**What did not hold.** On Cells-Tail all members of an ensemble are wrong in the same way, so that their
spread hardly rises; all methods are far off there. On Cells, ensembles trained with the plain NLL are
better than VeBNN (Ensembles), and MVE (pSGLD) errs less than VeBNN (pSGLD).
Its chains start from networks that were trained on all images; two of VeBNN's three start from
networks of folds, which saw two thirds, and six epochs of burn-in may not make up for that. The noise
of digits is learned better than by any joint method, but the smallest is learned too large; with 60
epochs of Step 2 instead of 10 ([rows](images-step2.jsonl)), its errors are 0.27, and its raw epistemic
coverages 0.70 (Ensembles) and 0.83 (pSGLD).

**Methods.** VeBNN has the engine in brackets. The paper's image tables call *MVE (Ensembles)* what is
called MVE (β-NLL=0.5 / Ensembles) here.

**Columns.** Validation images stop the training early and give a factor on the total variance, so that
95 % intervals hold 95 % of them, as in the paper. Columns called *raw* are without this factor.

- *TLL*, *RMSE*, *TC*, *TIL*, *CRPS*: log-likelihood, error, coverage and length of 95 % intervals and
  continuous ranked probability score of all test images, also those outside the training range.
- *inside TC*: coverage of test images inside the training range.
- *epistemic ratio*, *aleatoric ratio*: mean std of test images outside the training range, over that of
  images inside. Only the first should be above 1.
- *noise error*: mean of |σ̂ − σ| / σ over test images inside the training range, with σ̂ the predicted
  and σ the true noise std. *WA*: mean distance of predicted mean and noise std from the true ones.
- *epistemic TC*: share of true means inside the predicted mean ± 1.96 epistemic stds, inside the
  training range; *outside TC* is that of all other test images.
- *seconds*: of one fit and its predictions on one core, other programs beside it.

The limits of noise error and epistemic coverage are for the raw columns: a factor on the total
variance changes both parts alike.
"""

FIGURES = {
    "uncertainties": """![Both stds against the label](images/uncertainties.png)

Means over test images of similar label, not calibrated. White: labels of training images; pink: labels
outside. The figure is that of the paper for Cells-Tail.""",
    "noise": """![Learned against true noise std of rotated digits](images/noise.png)

Every point is a class of digits: classes have different noise. Test images inside the training range,
not calibrated.""",
}

_ONLY = "Its files were not on the machine, and must be downloaded by hand: "
WITHOUT_ROWS = {
    "cells": "Not asked for.",
    "cells-gap": "Not asked for.",
    "cells-tail": "Not asked for.",
    "rotated-digits": "Not asked for.",
    "chair-angle": f"{_ONLY}RC-49.",
    "chair-angle-gap": f"{_ONLY}RC-49.",
    "chair-angle-tail": f"{_ONLY}RC-49.",
    "skin": f"{_ONLY}HAM10000.",
    "aerial": f"{_ONLY}the Inria aerial image labelling set.",
    "appa-real": f"{_ONLY}APPA-REAL.",
}
