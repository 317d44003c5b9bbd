-- How sizes and targets of reads and writes are known.
SELECT size_evidence, target_evidence, count(*) AS rpcs
FROM raw.rpcs
WHERE opcode IN (3, 4) AND {servers}
GROUP BY size_evidence, target_evidence
