-- Which jobs write in small pieces?
--
-- param from time: from this moment on
-- param to time: before this moment
-- param below number 1048576: a write of fewer bytes is small
-- param limit number 10: rows
-- column job: job; null where the version prints none
-- column writes: writes to OSTs
-- column small_writes: small ones, as far as their size is known
-- column small_percent: share of small ones among those of known size; null if the size of none is known
-- column mean_bytes: bytes per write of known size
-- column clients: clients that made small writes
-- column failed_rpcs: writes that failed, which are neither small nor large
-- column unsized_rpcs: writes of unknown size, which may be small
SELECT
    job,
    count(*) AS writes,
    count(*) FILTER (WHERE bytes < $below AND NOT failed) AS small_writes,
    round(
        100.0 * count(*) FILTER (WHERE bytes < $below AND NOT failed) / nullif(count(bytes) FILTER (WHERE NOT failed), 0), 1
    ) AS small_percent,
    CAST(round(avg(bytes) FILTER (WHERE NOT failed)) AS BIGINT) AS mean_bytes,
    count(DISTINCT nid) FILTER (WHERE bytes < $below AND NOT failed) AS clients,
    count(*) FILTER (WHERE failed) AS failed_rpcs,
    count(*) FILTER (WHERE bytes IS NULL AND NOT failed) AS unsized_rpcs
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND opcode_name = 'OST_WRITE'
    AND NOT on_mdt
GROUP BY job
ORDER BY small_writes DESC, writes DESC, job
LIMIT $limit;
