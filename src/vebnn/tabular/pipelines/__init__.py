"""Saved scikit-learn pipelines: models of tables whose columns go to the pipeline as they are."""
