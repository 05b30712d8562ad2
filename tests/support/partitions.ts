/** The number of partitions into which `TEST_PARTITIONS=16` divides the tables of users (CONTRIBUTING.md). 0: none. */
export const PARTITIONS = Number(process.env['TEST_PARTITIONS'] ?? 0);

/**
 * For tests of the plain layout: the names of indexes, the schema file, and an index that is built concurrently, which
 * PostgreSQL has not for a partitioned table. `npm run bench -- plans` checks the plans on partitions.
 */
export const isPartitioned = PARTITIONS > 0;
