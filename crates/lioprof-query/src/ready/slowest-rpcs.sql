-- Which RPCs took the longest?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param opcode opcode: operation, such as OST_WRITE
-- param limit number 10: rows
-- column end_time: end, UTC
-- column target: target; null if the log does not name it
-- column opcode_name: operation
-- column nid: client
-- column job: job
-- column fid: object
-- column bytes: bytes moved
-- column queue_us: time until a service thread took it, microseconds
-- column service_us: time in the handler, microseconds
-- column total_us: both
SELECT end_time, target, opcode_name, nid, job, fid, bytes, queue_us, service_us, total_us
FROM rpcs
WHERE
    total_us IS NOT NULL
    AND ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
    AND ($opcode IS NULL OR opcode_name = $opcode)
ORDER BY total_us DESC, end_us, xid, nid
LIMIT $limit;
