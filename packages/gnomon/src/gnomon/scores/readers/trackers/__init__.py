"""Exports of trackers: Weights & Biases, MLflow, TensorBoard, openrlbenchmark."""
