"""The names of other libraries over our own estimators."""
