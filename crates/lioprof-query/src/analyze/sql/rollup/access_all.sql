-- How all objects together are.
SELECT {read}, {write}
FROM rollup.access_objects
