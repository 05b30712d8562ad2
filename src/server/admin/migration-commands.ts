/** The command `migrations:finish`. */
import { CommandError, withDatabase, type Command } from './command.ts';

export const MIGRATION_COMMANDS: readonly Command[] = [
  {
    usage: 'migrations:finish [--anyway]',
    help: [
      'apply the migrations that run while servers serve, or say what they wait for;',
      '--anyway: do not wait for servers of an older version, which then stop being ready',
    ],
    run: (invocation) =>
      withDatabase(invocation, async (database) => {
        const { applied, waitsFor } = await database.finishMigrations({ force: invocation.options.anyway });
        if (waitsFor !== null) throw new CommandError(`Applied ${applied}. The next one waits: ${waitsFor}.`);
        return applied === 0 ? 'No migration is left to apply.' : `Applied ${applied}. No migration is left to apply.`;
      }),
  },
];
