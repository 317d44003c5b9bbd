-- Bins of targets and nodes: narrow bins add up to the common width, which they divide.
SELECT
    node, whole_node, mdt, target, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin,
    sum(read_bytes) AS read_bytes,
    sum(write_bytes) AS write_bytes,
    sum(read_bounded_bytes) AS read_bounded_bytes,
    sum(write_bounded_bytes) AS write_bounded_bytes,
    sum(read_rpcs) AS read_rpcs,
    sum(write_rpcs) AS write_rpcs,
    sum(rpcs) AS rpcs,
    sum(arrived) AS arrived,
    sum(queued_us) AS queued_us,
    sum(process_us) AS process_us,
    sum(total_us) AS total_us,
    sum(timed) AS timed
FROM rollup.series
GROUP BY node, whole_node, mdt, target, bin * bin_us / {bin_us}
