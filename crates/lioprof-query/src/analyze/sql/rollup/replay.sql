-- Requests to replay, as each server saw them.
SELECT * FROM rollup.replay
