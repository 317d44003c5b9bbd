-- One row per line of the lock manager.
CREATE VIEW lock_events AS
SELECT
    CAST(time_us AS TIMESTAMP(6)) AS time,
    fs,
    node,
    target,
    event,
    nid,
    cookie,
    lower(
        '[0x' || to_hex(resource_0) || ':0x' || to_hex(resource_1) || ':0x' || to_hex(resource_2) || '].0x'
        || to_hex(resource_3)
    ) AS resource,
    -- On OSTs the resource is the object.
    CASE WHEN target LIKE '%-OST%' THEN lower('[0x' || to_hex(resource_0) || ':0x' || to_hex(resource_1) || ':0x0]') END AS fid,
    lock_type,
    granted_mode,
    requested_mode,
    granted_start,
    granted_end,
    requested_start,
    requested_end,
    window_nid,
    window_client_uuid,
    window_xid,
    window_job,
    window_opcode_name,
    opcode_name,
    contention_added,
    contention_window,
    pid,
    window_opcode,
    opcode,
    resource_0,
    resource_1,
    resource_2,
    resource_3,
    time_us,
    seq,
    date
FROM raw.lock_events;
