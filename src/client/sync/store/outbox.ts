/** The drafts of a user in their database. IndexedDB runs changes of one store in the order in which they are requested. */
import type { Outbox } from '../day-drafts.ts';
import type { Tabs } from './tabs.ts';
import type { UserDatabase } from './user-database.ts';

export const createOutbox = (database: UserDatabase, tabs: Pick<Tabs, 'aliveWriters'>): Outbox => ({
  readAll: () => database.use((connection) => connection.getAll('drafts')),
  put: (draft) => database.use((connection) => connection.put('drafts', draft)),
  remove: (date, writer) => database.use((connection) => connection.delete('drafts', [date, writer])),
  close: () => database.close(),
  aliveWriters: () => tabs.aliveWriters(),
});
