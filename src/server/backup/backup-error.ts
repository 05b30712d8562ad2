/** An expected failure of a backup or a restore. The message tells the operator the fault and the fix. */
export class BackupError extends Error {}

/** Wrong arguments. The command exits with 2. */
export class UsageError extends Error {}
