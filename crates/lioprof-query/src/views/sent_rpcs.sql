-- One row per RPC that a node sent, and one per answer to it.
CREATE VIEW sent_rpcs AS
SELECT
    CAST(time_us AS TIMESTAMP(6)) AS time,
    fs,
    node,
    opcode_name,
    device,
    nid,
    round_trip_us,
    xid,
    window_nid,
    window_client_uuid,
    window_xid,
    window_job,
    window_opcode_name,
    pid,
    opcode,
    window_opcode,
    round_trip_bucket,
    time_us,
    seq,
    date
FROM raw.sent_rpcs;
