"""Tables of scores: read from any format, put on one scale, checked, written.

In the order of the data:

* :func:`read_scores` reads a file or folder of any format that a reader recognises, and
  :func:`load_scores` a data set by its name; :func:`available_readers` and
  :func:`available_datasets` list both. A format of your own is a :class:`Reader`, which reads a
  :class:`Source` as a :class:`ReadRequest` describes.
* A :class:`ScoreTable` has one row per algorithm, task and run. Statistics, ranking and
  distillation use nothing else; ``ScoreTable(frame)`` makes one from a data frame or arrays.
* A table of items (``units="items"``) holds an evaluation: an item is a task, an epoch of it a run.
  Its ``means()`` are those over epochs.
* A table with steps holds learning curves: :func:`at_common_step` takes one score of each run,
  :func:`on_grid` puts runs that were measured at different steps on common ones.
* :func:`normalize` puts scores of several tasks on one scale, by a name or two anchors each.
* :func:`write_scores` writes a tidy file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
