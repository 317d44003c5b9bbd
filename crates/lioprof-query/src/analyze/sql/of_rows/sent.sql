-- RPCs that nodes sent; an answer is no RPC of its own.
SELECT node, opcode, device, nid, count(*) FILTER (WHERE round_trip_us IS NULL) AS rpcs
FROM raw.sent_rpcs
WHERE {servers}
GROUP BY node, opcode, device, nid
