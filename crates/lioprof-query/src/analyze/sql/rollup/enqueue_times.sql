-- Times of lock requests.
SELECT * FROM rollup.enqueue_times
