-- How many reads and writes a sample of one in 2 to the power of {halvings} has.
SELECT count(*) AS rpcs FROM rollup.sample WHERE {kept}
