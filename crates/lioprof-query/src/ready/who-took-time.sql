-- Who took the time of the servers, and for which operations?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 20: rows
-- column nid: client
-- column job: job; null where the version prints none
-- column opcode_name: operation
-- column rpcs: RPCs
-- column failed: RPCs of these that failed or were dropped
-- column server_s: thread-seconds that servers handled them
-- column queued_s: RPC-seconds that they waited for a thread
-- column longest_us: longest time in a server, microseconds
SELECT
    nid,
    job,
    opcode_name,
    count(*) AS rpcs,
    count(*) FILTER (WHERE failed) AS failed,
    round(coalesce(sum(service_us), 0) / 1e6, 3) AS server_s,
    round(coalesce(sum(queue_us), 0) / 1e6, 3) AS queued_s,
    max(total_us) AS longest_us
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY nid, job, opcode_name
ORDER BY coalesce(sum(service_us), 0) DESC, rpcs DESC, nid, job, opcode_name
LIMIT $limit;
