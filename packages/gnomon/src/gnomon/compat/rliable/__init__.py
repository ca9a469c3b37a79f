"""rliable's public names, so that an import line is all that a user changes.

``from gnomon.compat.rliable import library as rly, metrics, plot_utils``. Definitions are rliable's
(Agarwal et al. 2021). What differs: ``random_state`` is honoured, and global state is never read;
learning curves are resampled as whole runs; the acceleration of BCa is that of stratified data and
of each statistic by itself.
"""
