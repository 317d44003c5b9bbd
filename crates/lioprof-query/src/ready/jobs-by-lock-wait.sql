-- Which jobs wait the longest for other clients' locks?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 10: rows
-- column job: job; null where the version prints none
-- column waits: locks that it waited for
-- column wait_s: client-seconds spent waiting
-- column longest_us: longest wait, microseconds
-- column open_waits: waits without an end in the log
-- column clients: clients that waited
-- column objects: objects that it waited for
SELECT
    job,
    count(*) AS waits,
    round(coalesce(sum(wait_us), 0) / 1e6, 3) AS wait_s,
    max(wait_us) AS longest_us,
    count(*) FILTER (WHERE wait_us IS NULL) AS open_waits,
    count(DISTINCT nid) AS clients,
    count(DISTINCT target || ' ' || resource) AS objects
FROM lock_waits
WHERE
    behind = 'client'
    AND ($from IS NULL OR queued_us >= $from)
    AND ($to IS NULL OR queued_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY job
ORDER BY wait_s DESC, waits DESC, job
LIMIT $limit;
