-- Their round trips.
SELECT node, opcode, device, nid,
    named_struct('bucket', round_trip_bucket, 'count', count(*), 'sum_us', sum(round_trip_us), 'max_us', max(round_trip_us)) AS times
FROM raw.sent_rpcs
WHERE round_trip_bucket IS NOT NULL AND {servers}
GROUP BY node, opcode, device, nid, round_trip_bucket
