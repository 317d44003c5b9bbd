-- All objects together.
SELECT objects, read, write
FROM (
    SELECT count(*) AS objects FROM (SELECT DISTINCT {object} FROM raw.rpcs WHERE {of_objects} AND {servers}) AS names
) AS counted
CROSS JOIN (
    SELECT {read} AS read, {write} AS write FROM raw.rpcs WHERE {of_objects} AND {servers}
) AS sums
