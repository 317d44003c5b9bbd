-- Which clients take locks from each other, on which target?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 10: rows
-- column target: target
-- column holder_nid: client whose lock was called back
-- column waiter_nid: client that asked for it
-- column conflicts: how often
-- column objects: objects that they fought over
-- column first_time: first conflict, UTC
-- column last_time: last conflict, UTC
SELECT
    target,
    holder_nid,
    waiter_nid,
    count(*) AS conflicts,
    count(DISTINCT resource) AS objects,
    min(time) AS first_time,
    max(time) AS last_time
FROM lock_conflicts
WHERE
    kind = 'client'
    AND ($from IS NULL OR time_us >= $from)
    AND ($to IS NULL OR time_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY target, holder_nid, waiter_nid
ORDER BY conflicts DESC, target, holder_nid, waiter_nid
LIMIT $limit;
