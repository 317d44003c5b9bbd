-- What there is once per node.
SELECT * FROM rollup.nodes
