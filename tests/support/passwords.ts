/**
 * Passwords at the lowest cost of argon2id, in the test's own thread: with the cost and the thread of production,
 * passwords would take a quarter of the time of the tests of /auth/v1.
 */
import { hashSync, verifySync } from '@node-rs/argon2';
import type { Passwords } from '#server/auth/http/auth-deps.ts';

const COST = { memoryCost: 8, timeCost: 1, parallelism: 1 } as const;

export const fastPasswords: Passwords = {
  hash: async (password) => hashSync(password, COST),
  matches: async (password, hash) => hash !== null && verifySync(hash, password),
  async isGuessable(password, ownTexts) {
    const { isGuessablePassword } = await import('#server/auth/password/guessable-password.ts');
    return isGuessablePassword(password, ownTexts);
  },
  close: async () => undefined,
};

export const PASSWORD = 'correct horse';
/** argon2id of `PASSWORD` at the cost of `password-worker.ts`. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$045zMjeT0TAPRK6JLcpFTw$MccWm916Q5Vu1nXjocHaMlFOQLqCRHfUqypE0wRfvrs';
