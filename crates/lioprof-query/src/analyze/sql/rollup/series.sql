-- Bins of targets and nodes: narrow bins add up to the common width, which they divide.
SELECT
    node, whole_node, mdt, target, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin,
    {series_sums}
FROM rollup.series
GROUP BY node, whole_node, mdt, target, bin * bin_us / {bin_us}
