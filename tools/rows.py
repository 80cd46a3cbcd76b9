#!/usr/bin/env python3
"""Makes C of a table: each row of a CSV file becomes a line ROW(first, second, ...) of values.

    tools/rows.py TABLE.csv ROWS.h

A column of numbers stays numbers, with 0 for an empty cell. The name of a column in capitals says that its cells are
names of C. Any other is text, with NULL for an empty cell.
"""
import csv
import json
import sys


def is_number(cell):
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True


def values(name, cells):
    """The cells of a column as C writes them."""
    if name.isupper():
        return cells
    if all(is_number(cell) for cell in cells):
        return [cell or "0" for cell in cells]
    return [json.dumps(cell, ensure_ascii=False) if cell else "NULL" for cell in cells]


def main(table, out):
    with open(table, encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    uneven = [number for number, row in enumerate(rows, 2) if len(row) != len(names)]
    if uneven:
        sys.exit(f"{table}:{uneven[0]}: each row has {len(names)} cells")
    columns = [values(name, cells) for name, cells in zip(names, zip(*rows))]
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(f"ROW({', '.join(row)})\n" for row in zip(*columns))


if __name__ == "__main__":
    main(*sys.argv[1:])
