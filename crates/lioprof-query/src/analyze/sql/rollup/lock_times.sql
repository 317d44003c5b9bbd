-- Times of targets' locks.
SELECT * FROM rollup.lock_times
