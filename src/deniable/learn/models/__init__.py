"""Estimators in the manner of scikit-learn. One file per family of models."""
