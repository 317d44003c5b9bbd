-- Bins of targets' locks.
SELECT
    node, target, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin,
    {lock_sums}
FROM rollup.lock_series
GROUP BY node, target, bin * bin_us / {bin_us}
