-- Who used a target between two times, and for what?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 20: rows
-- column target: target; RPCs whose target the log does not name are left out
-- column nid: client
-- column job: job; null where the version prints none
-- column rpcs: RPCs of any kind
-- column reads: OST_READ
-- column read_bytes: bytes read, as far as known; null if unknown of all
-- column writes: OST_WRITE
-- column write_bytes: bytes written, as far as known; null if unknown of all
-- column unsized_rpcs: reads and writes of unknown size, which the bytes lack
-- column longest_us: longest time from arrival to end, microseconds
-- column first_time: end of the first RPC, UTC
-- column last_time: end of the last RPC, UTC
SELECT
    target,
    nid,
    job,
    count(*) AS rpcs,
    count(*) FILTER (WHERE opcode_name = 'OST_READ') AS reads,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_READ') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) END AS read_bytes,
    count(*) FILTER (WHERE opcode_name = 'OST_WRITE') AS writes,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_WRITE') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) END AS write_bytes,
    count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs,
    max(total_us) AS longest_us,
    min(end_time) AS first_time,
    max(end_time) AS last_time
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND target IS NOT NULL
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY target, nid, job
ORDER BY coalesce(sum(bytes), 0) DESC, rpcs DESC, target, nid, job
LIMIT $limit;
