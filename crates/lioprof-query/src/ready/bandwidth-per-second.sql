-- How fast was each target, second by second?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- column second: second in which the RPCs ended, UTC
-- column target: target; RPCs whose target the log does not name are left out
-- column read_mib_per_s: MiB read
-- column write_mib_per_s: MiB written
-- column rpcs: RPCs of any kind
-- column unsized_rpcs: reads and writes of unknown size, which the MiB lack
SELECT
    date_trunc('second', end_time) AS second,
    target,
    round(coalesce(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ'), 0) / 1048576.0, 1) AS read_mib_per_s,
    round(coalesce(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE'), 0) / 1048576.0, 1) AS write_mib_per_s,
    count(*) AS rpcs,
    count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs
FROM rpcs
WHERE
    ($from IS NULL OR end_us >= $from)
    AND ($to IS NULL OR end_us < $to)
    AND target IS NOT NULL
    AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
GROUP BY date_trunc('second', end_time), target
ORDER BY second, target;
