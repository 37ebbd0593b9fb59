"""ExactTable -> ReleasedTable: where noise is added. Nothing else turns exact numbers into released ones."""
