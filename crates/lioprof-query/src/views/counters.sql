-- One row per number that a server counts itself, each time it was read.
CREATE VIEW counters AS
SELECT CAST(time_us AS TIMESTAMP(6)) AS time, fs, node, source, target, entity, counter, value, time_us, seq, date
FROM raw.counters;
