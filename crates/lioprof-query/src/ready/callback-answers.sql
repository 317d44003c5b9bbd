-- Which clients are slowest to answer blocking callbacks?
--
-- param from time: from this moment on
-- param to time: before this moment
-- param limit number 10: rows
-- column nid: client
-- column sent: blocking callbacks sent to it
-- column answered: answers from it; the lock itself is given back later
-- column mean_us: mean time until the answer, microseconds
-- column longest_us: longest
SELECT
    nid,
    count(*) FILTER (WHERE round_trip_us IS NULL) AS sent,
    count(round_trip_us) AS answered,
    CAST(round(avg(round_trip_us)) AS BIGINT) AS mean_us,
    max(round_trip_us) AS longest_us
FROM sent_rpcs
WHERE
    opcode_name = 'LDLM_BL_CALLBACK'
    AND ($from IS NULL OR time_us >= $from)
    AND ($to IS NULL OR time_us < $to)
GROUP BY nid
ORDER BY longest_us DESC NULLS FIRST, nid
LIMIT $limit;
