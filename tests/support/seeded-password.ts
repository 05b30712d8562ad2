/** The password of accounts that are written to the database, so that no sign-up has to hash it. */
export const PASSWORD = 'correct horse';
/** argon2id of `PASSWORD` at the cost of `password-worker.ts`. */
export const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$045zMjeT0TAPRK6JLcpFTw$MccWm916Q5Vu1nXjocHaMlFOQLqCRHfUqypE0wRfvrs';
