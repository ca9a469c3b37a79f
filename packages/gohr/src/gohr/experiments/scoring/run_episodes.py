"""The episodes of every trial of a run, without reading attempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gohr.experiments.scoring.episodes import Episodes, stored_episodes

if TYPE_CHECKING:
    from gohr.experiments.run_folder import RunFolder
    from gohr.experiments.store import TrialRecord

#: The episodes of each trial that is done, in the order of the experiment.
RunEpisodes = Mapping["TrialRecord", Episodes]


def run_episodes(run_folder: RunFolder, *, count_empty: bool = True) -> RunEpisodes:
    """Return the episodes of every trial that is done: ten bytes an episode.

    Raises RunFolderError if the run cannot be read.
    """
    return {
        record: stored_episodes(record.episodes, count_empty=count_empty)
        for record in run_folder.trials()
        if record.episodes is not None
    }
