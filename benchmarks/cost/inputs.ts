/**
 * The numbers of the cost model. `measured` names the row of docs/performance.md or docs/figures.md, `assumed` says why.
 */
export type Input = { value: number; unit: string } & ({ measured: string } | { assumed: string });

export const INPUTS = {
  activeShare: {
    value: 0.3,
    unit: 'of the users write on a day',
    assumed: 'daily over all registered users; a journal with reminders',
  },
  paidShare: { value: 0.05, unit: 'of the users pay', assumed: 'usual for a consumer subscription' },
  opensPerDay: { value: 4, unit: 'opened pages per writer and day', assumed: 'morning, noon, evening, one look back' },
  requestsPerOpen: {
    value: 6,
    unit: 'requests per opened page',
    assumed: 'the requests of docs/specification/wire.md: session, profile, day, dates, reviews, event stream',
  },
  savesPerDay: { value: 20, unit: 'saves per writer and day', assumed: 'ten minutes of typing with pauses' },
  peakFactor: { value: 4, unit: 'times the mean rate at the peak', assumed: 'one dominant time zone, evenings' },
  openShare: {
    value: 0.02,
    unit: 'of the writers have the journal open at the peak',
    assumed: 'about half an hour a day each',
  },
  entriesPerYear: { value: 220, unit: 'logs per writer and year', assumed: 'workdays' },
  appReadCpu: {
    value: 132,
    unit: 'µs of the application per read',
    measured: 'docs/performance.md, two workers against one process',
  },
  databaseReadCpu: {
    value: 97,
    unit: 'µs of PostgreSQL per read',
    measured: 'docs/performance.md, two workers against one process',
  },
  appSaveCpu: {
    value: 273,
    unit: 'µs of the application per save',
    measured: 'docs/performance.md, two workers against one process',
  },
  databaseSaveCpu: {
    value: 540,
    unit: 'µs of PostgreSQL per save',
    measured: 'docs/performance.md, two workers against one process',
  },
  bytesPerEntry: {
    value: 504,
    unit: 'bytes on disk per thin log with its indexes and words',
    measured: 'docs/performance.md, 36.5 million logs',
  },
  walPerSave: {
    value: 3_000,
    unit: 'bytes of WAL per save',
    assumed: 'the row, its words and their index; not measured',
  },
  streamsPerProcess: {
    value: 4_000,
    unit: 'event streams that a process accepts',
    measured: 'the bound in docs/operations/overload.md',
  },
  connectionsPerProcess: {
    value: 17,
    unit: 'database connections of a process without a pooler',
    measured: 'docs/operations/scaling.md',
  },
  streamMemory: { value: 38, unit: 'KB per open event stream', measured: 'docs/figures.md, memory of an open stream' },
  utilisation: {
    value: 0.5,
    unit: 'of a core is used at the peak',
    assumed: 'room for a failed machine and for spikes',
  },
  coresPerDatabase: { value: 32, unit: 'cores of the largest comfortable database machine', assumed: 'common offers' },
  gigabytesPerDatabase: {
    value: 8_000,
    unit: 'GB per PostgreSQL before backup, restore and vacuum take more than a night',
    assumed: 'restore at 300 MB/s takes 7.5 hours',
  },
  coreMonth: {
    value: 20,
    unit: '$ per core and month, with 4 GB of memory',
    assumed: 'list prices of large providers, reserved for a year',
  },
  gigabyteMonth: {
    value: 0.1,
    unit: '$ per GB of replicated SSD and month',
    assumed: 'list prices of large providers',
  },
  backupMonth: { value: 0.02, unit: '$ per GB of object storage and month', assumed: 'list prices of large providers' },
  trafficPerOpen: {
    value: 0.05,
    unit: 'MB of traffic per opened page',
    assumed: 'scripts come from the browser’s cache',
  },
  trafficGigabyte: { value: 0.05, unit: '$ per GB of traffic', assumed: 'list prices of large providers' },
  analysesPerMonth: { value: 20, unit: 'analyses per paying user and month', assumed: 'one per workday' },
  analysis: {
    value: 0.002,
    unit: '$ per analysis of 800 tokens in and 300 out',
    assumed: 'a small model; sizes from docs/operations.md, "The coach"',
  },
  price: { value: 24, unit: '$ per paying user and year', measured: 'docs/specification/plans-and-money.md' },
  paymentFee: { value: 1.33, unit: '$ of a yearly payment', assumed: 'PayPal: 3.49 % and $0.49' },
} as const satisfies Record<string, Input>;
