-- How the busiest objects are read and written; of several as busy ones the first by name.
SELECT * FROM rollup.access_objects
WHERE object IS NOT NULL
ORDER BY rpcs DESC, target, object
LIMIT {objects}
