/** The jobs of this installation and their schedules; features that are not configured have none. */
import {
  purgeExpired,
  purgeUnconfirmedAccounts,
  purgeAuditLog,
  purgeUnusedSessions,
  purgeAnalysisRuns,
  purgeLinks,
  purgeWebhookPayloads,
  purgeVersions,
} from './purges.ts';
import { deleteAbandonedAnonymousUsers, deleteDueAccounts } from '../auth/own-account/delete-account.ts';
import { accountGuessKey } from '../auth/sessions/device-cookie.ts';
import type { Clock } from '../clock.ts';
import type { Coach } from '../coach/coach.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { sendDigests } from '../habit/send-digests.ts';
import { sendReminders as sendEveningReminders, type ReminderWriter } from '../habit/send-reminders.ts';
import type { Logger } from '../log.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Push } from '../push/push.ts';
import type { Payments } from '../payments/payments.ts';
import { sendReceipts } from '../payments/send-receipts.ts';
import { expirePlans } from '../plans/change-plan.ts';
import { sendReminders } from '../plans/send-reminders.ts';
import type { Job } from './job.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Deps = {
  config: Config;
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Mailer;
  payments: Payments | null;
  /** `AuthDeps.secrets.devices`. Names the counters of password guesses, which a job deletes together with the account. */
  knownDevicesKey: Buffer;
  reminders: ReminderWriter;
  /** Null where push messages are off. */
  push: Push | null;
  /** Writes the reviews of digests; null when no coach is configured. */
  coach: Coach | null;
};

export function listJobs(deps: Deps): Job[] {
  const { config, database, clock, payments, knownDevicesKey } = deps;
  const findRateLimitKeys = (addressOrPhone: string) => [accountGuessKey(knownDevicesKey, addressOrPhone)];
  const deletion = { ...deps, findRateLimitKeys };
  const jobs: Job[] = [
    {
      name: 'expire-plans',
      everySeconds: HOUR,
      retryDelaySeconds: 60,
      run: async (signal) => ({ expired: await expirePlans(database, clock, signal) }),
    },
    {
      name: 'purge-sign-in-data',
      everySeconds: HOUR,
      retryDelaySeconds: 300,
      run: async (signal) => {
        const service = database.asService('purge sign-in data');
        return {
          deleted: await purgeExpired(service, clock.now(), signal),
          unconfirmedAccounts: await purgeUnconfirmedAccounts(service, clock.now(), signal),
          anonymousUsers: await deleteAbandonedAnonymousUsers(deletion, signal),
        };
      },
    },
    {
      name: 'delete-accounts',
      everySeconds: MINUTE,
      retryDelaySeconds: 60,
      run: async (signal) => ({ deleted: await deleteDueAccounts(deletion, signal) }),
    },
    {
      // A build of an index may outlast the time limit of a job. The next run then finds the advisory lock taken, and
      // ends.
      name: 'finish-migrations',
      everySeconds: MINUTE,
      retryDelaySeconds: 60,
      run: async (signal) => ({ applied: (await database.finishMigrations({ signal })).applied }),
    },
    {
      name: 'purge-webhook-payloads',
      everySeconds: DAY,
      retryDelaySeconds: 300,
      run: async (signal) => ({ emptied: await purgeWebhookPayloads(database, clock, signal) }),
    },
    {
      name: 'purge-old-records',
      everySeconds: DAY,
      retryDelaySeconds: 300,
      run: async (signal) => {
        const service = database.asService('purge old records');
        return {
          auditRows: await purgeAuditLog(service, signal),
          sessions: await purgeUnusedSessions(service, clock.now(), signal),
          analysisRuns: await purgeAnalysisRuns(service, clock.now(), signal),
          links: await purgeLinks(service, clock.now(), signal),
        };
      },
    },
    {
      name: 'purge-versions',
      everySeconds: HOUR,
      retryDelaySeconds: 300,
      run: async (signal) => ({ deleted: await purgeVersions(database, clock, signal) }),
    },
  ];
  if (payments !== null) {
    jobs.push({
      name: 'reconcile-payments',
      everySeconds: MINUTE,
      retryDelaySeconds: 5,
      run: (signal) => payments.reconcile(signal),
    });
  }
  if (config.mail.smtpUrl !== null) {
    jobs.push({
      name: 'send-receipts',
      // Payment operations of this server also request it.
      everySeconds: 5 * MINUTE,
      retryDelaySeconds: 30,
      run: (signal) => sendReceipts(deps, signal),
    });
  }
  const habit = { ...deps, ...deps.reminders };
  if (config.mail.smtpUrl !== null || deps.push !== null) {
    jobs.push({
      name: 'send-evening-reminders',
      everySeconds: MINUTE,
      retryDelaySeconds: 60,
      run: (signal) => sendEveningReminders(habit, signal),
    });
  }
  if (config.mail.smtpUrl !== null) {
    jobs.push({
      name: 'send-digests',
      everySeconds: MINUTE,
      retryDelaySeconds: 60,
      run: (signal) => sendDigests(habit, signal),
    });
  }
  if (config.mail.smtpUrl !== null && payments !== null) {
    jobs.push({
      name: 'send-reminders',
      everySeconds: DAY,
      retryDelaySeconds: 300,
      run: (signal) => sendReminders(deps, signal),
    });
  }
  return jobs;
}
