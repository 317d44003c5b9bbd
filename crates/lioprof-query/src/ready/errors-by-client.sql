-- Which clients got errors, and which?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 20: rows
-- column nid: client
-- column opcode_name: operation
-- column rc: status, a negative errno
-- column dropped: RPCs of these that were dropped before they were handled
-- column rpcs: RPCs
-- column first_time: end of the first, UTC
-- column last_time: end of the last, UTC
SELECT
    nid,
    opcode_name,
    rc,
    count(*) FILTER (WHERE dropped) AS dropped,
    count(*) AS rpcs,
    min(end_time) AS first_time,
    max(end_time) AS last_time
FROM rpcs
WHERE
    failed
    AND ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY nid, opcode_name, rc
ORDER BY rpcs DESC, nid, opcode_name, rc
LIMIT $limit;
