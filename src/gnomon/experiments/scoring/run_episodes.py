"""The episodes of every trial of a run: from the journal, or else from the attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gnomon.errors import RunFolderError
from gnomon.experiments.scoring.episodes import Episodes, stored_episodes
from gnomon.experiments.scoring.trial_scores import episode_errors

if TYPE_CHECKING:
    from gnomon.experiments.folder.journal import TrialRecord
    from gnomon.experiments.folder.run_folder import RunFolder

#: The episodes of each trial that is done, in the order of the experiment.
RunEpisodes = Mapping["TrialRecord", Episodes]


def run_episodes(run_folder: RunFolder, *, count_empty: bool = True) -> RunEpisodes:
    """Return the episodes of every trial that is done.

    From the journal, or where that is older and has them not, from one pass over the attempts. Ten
    bytes an episode, however many attempts were made in it.

    Raises RunFolderError if the journal, or the attempts of a trial, cannot be read or are gone.
    """
    done = [record for record in run_folder.trials() if record.status == "done"]
    run_folder.require_shards(done)
    found = dict(_of_shards(run_folder, done, count_empty))
    for record in done:
        if record.episodes is not None:
            try:
                found[record] = stored_episodes(record.episodes, count_empty=count_empty)
            except ValueError as error:
                where = f"{record.trial} of {record.learner} on {record.rule}"
                raise RunFolderError(
                    f"{run_folder.path}: trial {where}: its episodes in the journal are damaged: "
                    f"{error}; gnomon repair {run_folder.path} takes them from its attempts"
                ) from None
    return {record: found[record] for record in done}


def _of_shards(
    run_folder: RunFolder, done: Iterable[TrialRecord], count_empty: bool
) -> Iterable[tuple[TrialRecord, Episodes]]:
    untold = [record for record in done if record.episodes is None]
    for record, outcomes in run_folder.outcomes(untold):
        errors = episode_errors(outcomes, count_empty=count_empty)
        yield record, Episodes(errors, outcomes.finish.copy())
