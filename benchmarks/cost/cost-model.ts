/**
 * The cost model: what the measured figures mean for a million and a hundred million users. Prints each number with its
 * origin, and the number of users that one PostgreSQL primary serves.
 */
import { INPUTS, type Input } from './inputs.ts';

const SECONDS_PER_DAY = 86_400;
/** A primary and two replicas, of which one confirms every commit. */
const DATABASE_COPIES = 3;
const YEARS = 3;
/** One process on each of two machines, so that one machine may fail. */
const MIN_PROCESSES = 2;
/** Each day's backup is kept for this time. `estimate` assumes that compression reduces it to a third. */
const BACKUP_DAYS = 30;

type Values = Readonly<Record<keyof typeof INPUTS, number>>;
const values = Object.fromEntries(Object.entries(INPUTS).map(([name, { value }]) => [name, value])) as Values;

export type Estimate = {
  readsPerSecond: number;
  savesPerSecond: number;
  /** Application processes. Each is paid as one core, also where the number of streams decides. */
  processes: number;
  connections: number;
  databaseCores: number;
  openStreams: number;
  streamMemoryGb: number;
  storageGb: number;
  walMbPerSecond: number;
  databases: number;
  /** Dollars a month, like the following costs and the income. */
  machines: number;
  coach: number;
  paymentFees: number;
  income: number;
};

/** Returns what `users` users need at the peak of a day, after `YEARS` of writing. */
export function estimate(users: number, input: Values): Estimate {
  const writers = users * input.activeShare;
  const atPeak = input.peakFactor / SECONDS_PER_DAY;
  const readsPerSecond = writers * input.opensPerDay * input.requestsPerOpen * atPeak;
  const savesPerSecond = writers * input.savesPerDay * atPeak;
  const cores = (read: number, save: number): number =>
    (readsPerSecond * read + savesPerSecond * save) / 1e6 / input.utilisation;
  const databaseCores = Math.max(1, cores(input.databaseReadCpu, input.databaseSaveCpu));
  const openStreams = writers * input.openShare;
  const appCores = cores(input.appReadCpu, input.appSaveCpu);
  const processes = Math.ceil(Math.max(MIN_PROCESSES, appCores, openStreams / input.streamsPerProcess));
  const connections = processes * input.connectionsPerProcess;
  const storageGb = (writers * input.entriesPerYear * YEARS * input.bytesPerEntry) / 1e9;
  const databases = Math.ceil(Math.max(databaseCores / input.coresPerDatabase, storageGb / input.gigabytesPerDatabase));
  const backupGb = (storageGb / 3) * BACKUP_DAYS;
  const trafficGb = (writers * input.opensPerDay * 30 * input.trafficPerOpen) / 1e3;
  const payers = users * input.paidShare;
  return {
    ...{ readsPerSecond, savesPerSecond, processes, connections, databaseCores, openStreams, storageGb, databases },
    streamMemoryGb: (openStreams * input.streamMemory) / 1e6,
    walMbPerSecond: (savesPerSecond * input.walPerSave) / 1e6,
    machines:
      (processes + databaseCores * DATABASE_COPIES) * input.coreMonth +
      storageGb * DATABASE_COPIES * input.gigabyteMonth +
      backupGb * input.backupMonth +
      trafficGb * input.trafficGigabyte,
    coach: payers * input.analysesPerMonth * input.analysis,
    paymentFees: (payers * input.paymentFee) / 12,
    income: (payers * input.price) / 12,
  };
}

/** Returns the largest number of users that one primary serves, and the limit that it reaches first. */
export function endOfOnePostgres(input: Values): { users: number; limit: 'cores' | 'storage' } {
  const many = 1e9;
  const { databaseCores, storageGb } = estimate(many, input);
  const byCores = (many * input.coresPerDatabase) / databaseCores;
  const byStorage = (many * input.gigabytesPerDatabase) / storageGb;
  return byCores < byStorage ? { users: byCores, limit: 'cores' } : { users: byStorage, limit: 'storage' };
}

if (import.meta.main) print();

function print(): void {
  const originOf = (input: Input): string =>
    'measured' in input ? `measured: ${input.measured}` : `assumed: ${input.assumed}`;
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  write('\nInputs');
  for (const input of Object.values<Input>(INPUTS)) write(`  ${input.value} ${input.unit} (${originOf(input)})`);
  for (const users of [1e6, 1e8]) {
    const of = estimate(users, values);
    const round = (value: number): string => Math.ceil(value).toLocaleString('en');
    write(`\n${users.toLocaleString('en')} users, after ${YEARS} years`);
    write(`  ${round(of.readsPerSecond)} reads and ${round(of.savesPerSecond)} saves a second at the peak`);
    write(
      `  ${round(of.processes)} application processes, ${round(of.connections)} database connections without a pooler`,
    );
    write(`  ${round(of.databaseCores)} cores of PostgreSQL, ${of.databases} primary servers with two replicas each`);
    write(`  ${round(of.openStreams)} open event streams, ${round(of.streamMemoryGb)} GB of memory`);
    write(`  ${round(of.storageGb)} GB a copy, ${of.walMbPerSecond.toFixed(1)} MB of WAL a second`);
    write(
      `  a month: $${round(of.machines)} machines, storage and traffic, $${round(of.coach)} coach, $${round(of.paymentFees)} payment fees`,
    );
    write(`  a month: $${round(of.income)} paid by users`);
  }
  const { users, limit } = endOfOnePostgres(values);
  write(`\nOne PostgreSQL ends at about ${Math.round(users / 1e6)} million users, by its ${limit}.`);
  write('After that, users are spread over several databases (docs/operations/scaling.md, "Sharding").');
}
