-- Bins of clients' reads and writes of targets.
SELECT
    node, nid, mdt, target, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin,
    {flow_sums}
FROM rollup.flow_series
GROUP BY node, nid, mdt, target, bin * bin_us / {bin_us}
