-- Markers.
SELECT * FROM rollup.marks
