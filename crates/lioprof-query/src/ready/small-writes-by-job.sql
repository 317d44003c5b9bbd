-- Which jobs write in small pieces?
--
-- param from time: from this moment on
-- param to time: before this moment
-- param below number 1048576: a write of fewer bytes is small
-- param limit number 10: rows
-- column job: job; null where the version prints none
-- column writes: writes of known size to OSTs
-- column small_writes: small ones
-- column small_percent: share of small ones
-- column mean_bytes: bytes per write
-- column clients: clients that made small writes
SELECT
    job,
    count(*) AS writes,
    count(*) FILTER (WHERE bytes < $below) AS small_writes,
    round(100.0 * count(*) FILTER (WHERE bytes < $below) / count(*), 1) AS small_percent,
    CAST(round(avg(bytes)) AS BIGINT) AS mean_bytes,
    count(DISTINCT nid) FILTER (WHERE bytes < $below) AS clients
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND opcode_name = 'OST_WRITE'
    AND NOT on_mdt
    AND bytes IS NOT NULL
    AND NOT failed
GROUP BY job
ORDER BY small_writes DESC, writes DESC, job
LIMIT $limit;
