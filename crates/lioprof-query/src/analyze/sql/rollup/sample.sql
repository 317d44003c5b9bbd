-- These reads and writes.
SELECT * FROM rollup.sample WHERE {kept}
