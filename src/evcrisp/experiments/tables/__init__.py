"""The tables of the paper."""

from evcrisp.experiments.tables.options import Options, TableKind
from evcrisp.experiments.tables.table import Table
from evcrisp.experiments.tables.table1 import Table1
from evcrisp.experiments.tables.table2 import Table2
from evcrisp.experiments.tables.table3 import Table3

__all__ = ["TABLES", "Options", "Table", "TableKind"]

#: Tables by name.
TABLES: dict[str, TableKind] = {kind.name: kind for kind in (Table1(), Table2(), Table3())}
