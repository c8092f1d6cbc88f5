"""The only room that opens SQLite: connections, schema, migrations, the single writer, one file per table family."""
