"""The only room that opens SQLite. Connections, schema, migrations, the single writer, and one file per table family."""
