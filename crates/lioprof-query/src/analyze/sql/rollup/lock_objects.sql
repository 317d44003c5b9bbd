-- Contended objects.
SELECT * FROM rollup.lock_objects
