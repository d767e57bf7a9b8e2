"""Runs recipes of one library, each in the directory of its files, and says what they read.

Arguments: the library, then pairs of a directory and a recipe. Writes a JSON object a recipe: for each table its rows, the
types of its columns, how many values are missing, and a number for each column: the sum, how many are true, the characters of all texts together, or
the sum of all times in microseconds since 1970.
"""

import json
import os
import runpy
import sys


def pandas(table):
    def number(column):
        kind = str(column.dtype)
        if kind.startswith("datetime64"):
            return int(column.astype("int64").sum())
        return column.str.len().sum() if kind in ("str", "string", "object") else column.sum()

    types = {name: str(table[name].dtype) for name in table}
    return len(table), types, table.isna().sum().sum(), {name: number(table[name]) for name in table}


def polars(table):
    import polars as pl

    def number(column):
        if column.dtype == pl.String:
            return column.str.len_chars().sum()
        if column.dtype == pl.Datetime:
            return column.dt.epoch("us").sum()
        # A sum of small integers is small too, and wraps.
        return column.cast(pl.Int64).sum() if column.dtype.is_integer() else column.sum()

    columns = table.get_columns()
    types = {one.name: str(one.dtype) for one in columns}
    return table.height, types, sum(one.null_count() for one in columns), {one.name: number(one) for one in columns}


def pyarrow(table):
    import pyarrow as pa
    import pyarrow.compute as pc

    def number(column):
        if pa.types.is_string(column.type):
            return pc.sum(pc.utf8_length(column)).as_py() or 0
        return pc.sum(column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).as_py()

    types = {field.name: str(field.type) for field in table.schema}
    missing = sum(table[name].null_count for name in types)
    return table.num_rows, types, missing, {name: number(table[name]) for name in types}


def duckdb(table):
    types = dict(zip(table.columns, map(str, table.types)))

    def ask(what):
        return table.aggregate(what).fetchall()[0][0]

    def number(name):
        read = {"VARCHAR": "length({})", "TIMESTAMP WITH TIME ZONE": "epoch_us({})", "BOOLEAN": "{}::int"}
        return ask(f"sum({read.get(types[name], '{}')})".format(f'"{name}"'))

    missing = sum(ask(f'count(*) - count("{name}")') for name in types)
    return ask("count(*)"), types, missing, {name: number(name) for name in types}


def main():
    library, *pairs = sys.argv[1:]
    for folder, recipe in zip(pairs[::2], pairs[1::2]):
        os.chdir(folder)
        # What a recipe prints is for people.
        sys.stdout = sys.stderr
        left = runpy.run_path(recipe)
        told = {}
        for name in ("games", "plies"):
            rows, types, missing, numbers = globals()[library](left[name])
            numbers = {key: float(value) if "." in str(value) else int(value) for key, value in numbers.items()}
            told[name] = {"rows": rows, "types": types, "missing": int(missing), "numbers": numbers}
        sys.stdout = sys.__stdout__
        print(json.dumps(told))


main()
