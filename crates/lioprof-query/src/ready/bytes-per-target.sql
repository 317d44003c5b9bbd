-- How much was read from and written to each target?
--
-- param from time: from this moment on
-- param to time: before this moment
-- column target: target; null if the log does not name it
-- column on_mdt: an MDT's; its reads and writes are Data-on-MDT
-- column rpcs: RPCs of any kind
-- column reads: OST_READ
-- column read_bytes: bytes read, as far as known; null if unknown of all
-- column writes: OST_WRITE
-- column write_bytes: bytes written, as far as known; null if unknown of all
-- column clients: clients that used it
-- column unsized_rpcs: reads and writes of unknown size, which the bytes lack
SELECT
    target,
    on_mdt,
    count(*) AS rpcs,
    count(*) FILTER (WHERE opcode_name = 'OST_READ') AS reads,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_READ') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) END AS read_bytes,
    count(*) FILTER (WHERE opcode_name = 'OST_WRITE') AS writes,
    CASE WHEN count(*) FILTER (WHERE opcode_name = 'OST_WRITE') = 0 THEN 0
        ELSE CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) END AS write_bytes,
    count(DISTINCT nid) AS clients,
    count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
GROUP BY target, on_mdt
ORDER BY target, on_mdt;
