"""Reasons to doubt a motion."""

from enum import Enum


class Doubt(Enum):
    """A reason not to use a motion as it is; the value says what is wrong, and what to do.

    >>> Doubt.APERTURE.code
    'aperture'
    """

    CHANCE = (
        "The motion may be chance: too few events stand out from noise, or they do not align better "
        "than noise does. Take longer windows."
    )
    AT_BOUND = (
        "The motion is at a bound of the search: the image moves too far, or grows or shrinks too "
        "much, within this window. Use shorter windows."
    )
    APERTURE = (
        "The motion is known in part: edges of one direction show the motion across them only, and few "
        "edges hardly show turns and growth. Take the part that is known, see `covariance`; or use a "
        "larger part of the view, or longer windows."
    )
    SEVERAL_MOTIONS = (
        "The events show more than the given motion. Use the motion 'auto', or a model with more "
        "parameters."
    )
    ACCELERATION = "The motion changes within this window. Use shorter windows."
    AT_REST = (
        "The motion does not differ significantly from zero: nothing moves, or the displacement "
        "within this window is too small. Use longer windows."
    )
    POORLY_EXPLAINED = (
        "The motions explain this window poorly: a motion changes within it, or is of another kind, "
        "or lights flicker. Use shorter windows; flicker has no motion."
    )
    NOT_ASSESSED = (
        "The uncertainty of this motion was not computed, for lack of numba, and the motion may be "
        "doubtful for other reasons. Install numba."
    )
    REUSED = (
        "The motion is that of an earlier window: live events came too fast for a search. Use "
        "`full_search`, a given motion, or a filter."
    )

    @property
    def code(self) -> str:
        """Name in tables: lower case."""
        return self.name.lower()
