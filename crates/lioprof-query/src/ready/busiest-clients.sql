-- Which clients read and wrote the most?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 10: rows
-- column nid: client
-- column rpcs: RPCs of any kind
-- column reads: OST_READ on OSTs; Data-on-MDT is not counted
-- column read_bytes: bytes read, as far as known; null if unknown of all
-- column writes: OST_WRITE on OSTs
-- column write_bytes: bytes written, as far as known; null if unknown of all
-- column targets: targets that it used
-- column jobs: jobs that it ran
-- column unsized_rpcs: reads and writes of unknown size, which the bytes lack
SELECT
    nid,
    count(*) AS rpcs,
    count(*) FILTER (WHERE opcode_name = 'OST_READ' AND NOT on_mdt) AS reads,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_READ' AND NOT on_mdt) = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ' AND NOT on_mdt) AS BIGINT) END AS read_bytes,
    count(*) FILTER (WHERE opcode_name = 'OST_WRITE' AND NOT on_mdt) AS writes,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_WRITE' AND NOT on_mdt) = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE' AND NOT on_mdt) AS BIGINT) END AS write_bytes,
    count(DISTINCT target) AS targets,
    count(DISTINCT job) AS jobs,
    count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND NOT on_mdt AND bytes IS NULL) AS unsized_rpcs
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY nid
ORDER BY coalesce(sum(bytes) FILTER (WHERE NOT on_mdt), 0) DESC, rpcs DESC, nid
LIMIT $limit;
