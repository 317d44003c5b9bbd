-- Which clients were evicted, because they did not give a lock back or had fallen silent?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- column time: when, UTC
-- column node: server
-- column target: target
-- column nid: client
-- column fid: object, on OSTs; null if the client had fallen silent
-- column resource: what was locked
-- column granted_mode: mode of its lock
SELECT time, node, target, nid, fid, resource, granted_mode
FROM lock_events
WHERE
    event IN ('evicted', 'silent_evicted')
    AND ($from IS NULL OR time_us >= $from)
    AND ($to IS NULL OR time_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
ORDER BY time_us, seq;
