"""Parallel execution of independent pieces of work: in process, on processes, on Dask."""
