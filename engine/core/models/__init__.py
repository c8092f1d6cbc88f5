"""The values that cross borders, by what they are about; frozen, and without SQL, files or Qt.

Field names are the keys of the replies (MCP, `--json`): `wire.to_wire` turns any of them into JSON by dropping nulls.
"""
