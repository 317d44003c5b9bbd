-- RPCs of which two nodes' logs tell.
SELECT known.*
FROM rollup.exchanges AS known
JOIN (
    SELECT xid AS shared_xid, opcode AS shared_opcode, uuid AS shared_uuid
    FROM rollup.exchanges
    GROUP BY xid, opcode, uuid
    HAVING bool_or(sent) AND bool_or(NOT sent)
) AS shared ON known.xid = shared_xid AND known.opcode = shared_opcode AND known.uuid = shared_uuid
