-- The map of latencies, of all nodes together.
SELECT
    '' AS node, write, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin, quarter_octave, sum(rpcs) AS rpcs
FROM rollup.latency_series
GROUP BY write, bin * bin_us / {bin_us}, quarter_octave
