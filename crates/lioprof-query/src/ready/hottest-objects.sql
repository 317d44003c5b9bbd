-- Which objects do the most clients use?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 10: rows
-- column target: target
-- column fid: object
-- column clients: clients that read or wrote it
-- column jobs: jobs that did
-- column reads: OST_READ
-- column read_bytes: bytes read, as far as known; null if unknown of all
-- column writes: OST_WRITE
-- column write_bytes: bytes written, as far as known; null if unknown of all
-- column unsized_rpcs: reads and writes of unknown size, which the bytes lack
SELECT
    target,
    fid,
    count(DISTINCT nid) AS clients,
    count(DISTINCT job) AS jobs,
    count(*) FILTER (WHERE opcode_name = 'OST_READ') AS reads,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_READ') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) END AS read_bytes,
    count(*) FILTER (WHERE opcode_name = 'OST_WRITE') AS writes,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_WRITE') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) END AS write_bytes,
    count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
    AND fid IS NOT NULL
GROUP BY target, fid
ORDER BY clients DESC, coalesce(sum(bytes), 0) DESC, target, fid
LIMIT $limit;
