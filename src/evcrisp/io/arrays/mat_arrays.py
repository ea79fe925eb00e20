"""Read arrays of MATLAB files that are no recordings, such as the truth of a data set."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from evcrisp.core.errors import FormatError
from evcrisp.io.arrays.mat import Numbers, list_variables, load, load_cells


def read_arrays(path: Path) -> dict[str, list[NDArray[Any]]]:
    """Read all arrays of numbers, and cell arrays of them: name -> arrays, one for an array itself.

    Other variables are left out.
    """
    variables, damage = list_variables(path)
    if damage is not None:
        raise FormatError(damage.reason, offset=damage.offset, path=path)
    found: dict[str, list[NDArray[Any]]] = {}
    for variable in variables:
        parts = load_cells(path, variable) if variable.is_cell else []
        if variable.is_numeric:
            whole = load(path, variable)
            parts = [whole] if isinstance(whole, Numbers) else []
        if variable.is_numeric or variable.is_cell:
            found[variable.name] = [_array(part, path) for part in parts]
    return found


def _array(numbers: Numbers, path: Path) -> NDArray[Any]:
    if numbers.damage is not None:
        raise FormatError(numbers.damage.reason, offset=numbers.damage.offset, path=path)
    return numbers.values.reshape(numbers.shape, order="F")
