/** The number of partitions into which `TEST_PARTITIONS=16` divides the tables of users (CONTRIBUTING.md). 0: none. */
export const PARTITIONS = Number(process.env['TEST_PARTITIONS'] ?? 0);

/**
 * Skips tests of the plain layout: the names of indexes, the schema file, and a concurrent index build, which PostgreSQL
 * does not support on a partitioned table. `npm run bench -- plans` checks the plans on partitions.
 */
export const isPartitioned = PARTITIONS > 0;
