-- How did the latency of each target develop, minute by minute?
--
-- param target text: target, or the end of its name such as OST0007
-- param from time: from this moment on
-- param to time: before this moment
-- param opcode opcode: operation, such as OST_WRITE
-- column minute: minute in which the RPCs ended, UTC
-- column target: target
-- column rpcs: RPCs whose time is known
-- column p50_us: half of them took no longer from arrival to end, microseconds
-- column p99_us: 99 of 100 took no longer
-- column max_us: the longest
SELECT
    minute,
    target,
    max(upto) AS rpcs,
    least(min(high_us) FILTER (WHERE upto >= 0.5 * rpcs), max(longest_us)) AS p50_us,
    least(min(high_us) FILTER (WHERE upto >= 0.99 * rpcs), max(longest_us)) AS p99_us,
    max(longest_us) AS max_us
FROM (
    SELECT
        minute,
        target,
        longest_us,
        -- The longest time of a bucket; see docs/parquet.md.
        ((bucket - 128 * octave + 1) << octave) - 1 AS high_us,
        sum(n) OVER (PARTITION BY minute, target ORDER BY bucket) AS upto,
        sum(n) OVER (PARTITION BY minute, target) AS rpcs
    FROM (
        SELECT *, greatest((bucket >> 7) - 1, 0) AS octave
        FROM (
            SELECT
                date_trunc('minute', end_time) AS minute,
                target,
                CAST(total_bucket AS BIGINT) AS bucket,
                count(*) AS n,
                max(total_us) AS longest_us
            FROM rpcs
            WHERE
                total_bucket IS NOT NULL
                AND target IS NOT NULL
                AND ($from IS NULL OR end_us >= $from)
                AND ($to IS NULL OR end_us < $to)
                AND ($target IS NULL OR target = $target OR target LIKE '%-' || $target)
                AND ($opcode IS NULL OR opcode_name = $opcode)
            GROUP BY date_trunc('minute', end_time), target, total_bucket
        ) AS histogram
    ) AS buckets
) AS ranked
GROUP BY minute, target
ORDER BY minute, target;
